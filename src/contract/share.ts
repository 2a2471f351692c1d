import * as z from 'zod'

import { Origin } from './api_key.ts'
import { Id, including, named, ok, Page, RequiredTitle, Timestamp, unique, urlOf } from './common.ts'
import {
  MAX_LINK_TITLE,
  MAX_LINK_URL,
  MAX_ORIGINS,
  MAX_PASSWORD,
  MAX_SESSION_VARIANTS,
  MAX_SHARE_LINKS,
  MAX_SHARE_TEXT,
  MAX_SLUG,
  MIN_PASSWORD,
} from './facts.ts'
import { Feed, FeedSettings } from './feed.ts'
import { CoverImage } from './media.ts'
import { defineOperations } from './operation.ts'
import { PlayScope } from './play.ts'
import { severalLines } from './text.ts'

/** A link on the page of a share. */
export const PageLink = z
  .strictObject({
    /** Text of the link. */
    title: RequiredTitle.max(MAX_LINK_TITLE),
    /** Where the link leads: `https:`, `http:` or `mailto:`. */
    url: urlOf(/^(https?|mailto)$/, 'https:, http: or mailto:', MAX_LINK_URL),
  })
  .meta({ id: 'PageLink' })
export type PageLink = z.infer<typeof PageLink>

/** A link to a page that plays a collection, a track or a playlist until the link is revoked (docs/share.md). */
export const Share = named('Share', {
  /** Identifies the share in paths, events and statistics. */
  id: z.uuid(),
  /** Last part of the address. */
  slug: z.string(),
  /** Address of the page for visitors. */
  url: z.url(),
  /** Address of the same page for frames. */
  embed_url: z.url(),
  /** Kind of the resource that is shared. */
  scope: PlayScope,
  /** Id of the collection, track or playlist that is shared. */
  resource_id: z.uuid(),
  /** Replaces the title of the resource on the page, on the card and in oEmbed. The player's list and the ZIP keep the original title. */
  title: z.string().nullable(),
  /** The text on the page, in paragraphs that empty lines separate: `**strong**`, `*emphasis*` and `[links](https://example.com)`. */
  text: z.string().nullable(),
  /** The links below the text. */
  links: z.array(PageLink),
  /** Indexes of the variants to play; null for the variants that a session has by default. */
  variants: z.array(z.string()).nullable(),
  /** Whether visitors may download files and ZIPs. */
  is_downloadable: z.boolean(),
  /** Origins of pages that may show the share in a frame or play it with an element; null for all. */
  allowed_origins: z.array(z.string()).nullable(),
  /** When the page stops working; null if it never does. */
  expires_at: Timestamp.nullable(),
  /** Whether visitors must enter a password. */
  has_password: z.boolean(),
  /** The podcast feed; null if the share has none. */
  feed: Feed.nullable(),
  /** Address of the podcast feed; null if the share has none. */
  feed_url: z.url().nullable(),
  /** When the link was made. */
  created_at: Timestamp,
})
export type Share = z.infer<typeof Share>

/** A share in the list. The optional parts are those that `include` names. */
const ShareInList = Share.extend({
  /** Only with `include=resource`: the shared collection, track or playlist. */
  resource: z
    .object({
      /** Its own title. An item in the trash still has one. */
      title: z.string().nullable(),
      /** The effective cover. */
      artwork: CoverImage,
    })
    .optional(),
  /**
   * Only with `include=visits`: how often players on its page, in its frames and with its key were used today and on the 29 days before, in UTC
   * (docs/counting.md). Missing while the statistics cannot be read.
   */
  visits: z.int().optional(),
  /**
   * Only with `include=sessions`: the number of play sessions with a row of today and the six days before, in UTC. The sessions of shares are signed and have
   * no rows, so they are not counted: see `visits`.
   */
  sessions: z.int().optional(),
})

/** Slugs that are not allowed because visitors could take them for pages of the service. */
const RESERVED =
  'about account admin api assets billing cover docs download elements embed health help home index login logout new null oembed openapi password private public reserved root settings share shares signin signup static status studio support system terms tonearm undefined www zip'.split(
    ' ',
  )

const Slug = z
  .string()
  .toLowerCase()
  .min(3)
  .max(MAX_SLUG)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be letters from a to z, digits and single hyphens between them')
  .refine((slug) => !RESERVED.includes(slug), 'is reserved')

/** Omitted fields keep their values, and `null` removes a restriction. */
export const ShareUpdate = z.strictObject({
  /** Replaces the title of the resource on the page, on the card and in oEmbed. */
  title: RequiredTitle.nullable().optional(),
  /** Text on the page: paragraphs, `**strong**`, `*emphasis*` and `[links](https://example.com)`. */
  text: z.string().overwrite(severalLines).min(1).max(MAX_SHARE_TEXT).nullable().optional(),
  /** Up to four links below the text. */
  links: z.array(PageLink).max(MAX_SHARE_LINKS).nullable().optional(),
  /** Last part of the address: 3 to 64 letters, digits and hyphens. Null, the default, makes a random one that cannot be guessed. */
  slug: Slug.nullable().optional(),
  /** Indexes of the only variants that play; null, the default, plays those of every session. */
  variants: unique(z.array(z.string().max(64)).min(1).max(MAX_SESSION_VARIANTS))
    .nullable()
    .optional(),
  /** Whether visitors may download files and ZIPs; false by default. */
  is_downloadable: z.boolean().optional(),
  /** Origins of the pages that may show the share in a frame or play it with an element; null, the default, allows all. */
  allowed_origins: unique(z.array(Origin).min(1).max(MAX_ORIGINS)).nullable().optional(),
  /** When the page stops working; null, the default, for never. */
  expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
  /** 8 to 128 characters that visitors must enter before they see the title or hear anything; null, the default, for none. */
  password: z.string().min(MIN_PASSWORD).max(MAX_PASSWORD).nullable().optional(),
  /** Makes the share a podcast feed too; null, the default, for none. Only a share that is downloadable, and has neither a password nor sites, can have one. */
  feed: FeedSettings.nullable().optional(),
})

// The handler requires either `scope` and `id` or one of the other ids. The clients have a type for each form (client_operations.ts).
export const ShareCreate = ShareUpdate.extend({
  /** Kind of the resource to share. It cannot change. */
  scope: PlayScope.optional(),
  /** Id of the collection, track or playlist to share. */
  id: Id.optional(),
  /** The collection to share, instead of `scope` and `id`. */
  collection_id: Id.optional(),
  /** The track to share, instead of `scope` and `id`. */
  track_id: Id.optional(),
  /** The playlist to share, instead of `scope` and `id`. */
  playlist_id: Id.optional(),
})
export type ShareCreate = z.infer<typeof ShareCreate>

const tag = 'Shares'
const params = z.object({
  /** As returned when the share was created; not its slug. */
  share_id: Id,
})
const shareResponse = ok({
  /** The same as `share.id`. */
  share_id: z.uuid(),
  share: Share,
})

export const shareOperations = defineOperations({
  listShares: {
    method: 'get',
    path: '/v1/share',
    summary: 'List shares, newest first',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'share',
    query: Page.extend({
      /** Only shares of this collection, track or playlist. */
      resource_id: Id.optional(),
      /** Optional parts of the shares. */
      include: including('resource', 'sessions', 'visits'),
    }),
    response: ok({
      /** Number of shares on all pages together. */
      count: z.int(),
      /** The newest first. */
      shares: z.array(ShareInList),
    }),
  },
  createShare: {
    method: 'post',
    path: '/v1/share',
    grows: 'content',
    summary: 'Share a collection, a track or a playlist by a link that lasts',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'share',
    limits: ['share_slug_length', 'share_password_length', 'share_session_ttl'],
    body: ShareCreate,
    response: shareResponse,
    invisibleToListeners: true,
    errors: ['not_found', 'unknown_variant', 'slug_taken'],
  },
  getShare: {
    method: 'get',
    path: '/v1/share/{share_id}',
    summary: 'Get a share',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'share',
    params,
    response: shareResponse,
  },
  updateShare: {
    method: 'put',
    path: '/v1/share/{share_id}',
    grows: false,
    summary: 'Update a share; fields left out stay as they are',
    tag,
    access: ['server'],
    effect: 'write',
    guide: 'share',
    limits: ['share_slug_length', 'share_password_length', 'share_session_ttl'],
    params,
    body: ShareUpdate,
    response: shareResponse,
    errors: ['unknown_variant', 'slug_taken'],
  },
  revokeShare: {
    method: 'delete',
    path: '/v1/share/{share_id}',
    summary: 'Revoke a share; what plays ends within 15 minutes',
    tag,
    access: ['server'],
    effect: 'delete',
    guide: 'share',
    params,
    response: ok({
      /** The same as `deleted_share.id`. */
      share_id: z.uuid(),
      /** Its state before it was revoked. */
      deleted_share: Share,
    }),
  },
})
