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
import { CoverImage } from './media.ts'
import { defineOperations } from './operation.ts'
import { PlayScope } from './play.ts'
import { severalLines } from './text.ts'

/** A link on the page of a share. */
export const PageLink = z
  .strictObject({
    title: RequiredTitle.max(MAX_LINK_TITLE),
    url: urlOf(/^(https?|mailto)$/, 'https:, http: or mailto:', MAX_LINK_URL),
  })
  .meta({ id: 'PageLink' })
export type PageLink = z.infer<typeof PageLink>

/** A link to a page that plays a collection, a track or a playlist until the link is revoked (docs/decisions/0052). */
export const Share = named('Share', {
  id: z.uuid(),
  slug: z.string(),
  /** The URL of the page for visitors, and the URL of the same page in a frame. */
  url: z.url(),
  embed_url: z.url(),
  scope: PlayScope,
  /** The id of the collection, track or playlist that is shared. */
  resource_id: z.uuid(),
  /** Replaces the title of the resource on the page, on the card and in oEmbed. The player's list and the ZIP keep the original title. */
  title: z.string().nullable(),
  /** The text on the page, in paragraphs that empty lines separate: `**strong**`, `*emphasis*` and `[links](https://example.com)`. */
  text: z.string().nullable(),
  /** The links below the text. */
  links: z.array(PageLink),
  /** Indexes of the variants to play; null for the variants that a session has by default. */
  variants: z.array(z.string()).nullable(),
  is_downloadable: z.boolean(),
  /** Origins of pages that may show the share in a frame or play it with an element; null for all. */
  allowed_origins: z.array(z.string()).nullable(),
  expires_at: Timestamp.nullable(),
  has_password: z.boolean(),
  created_at: Timestamp,
})
export type Share = z.infer<typeof Share>

/** A share in the list. The optional parts are those that `include` names. */
const ShareInList = Share.extend({
  /** The title is the one in the trash if the resource is in the trash. */
  resource: z.object({ title: z.string().nullable(), artwork: CoverImage }).optional(),
  /** The number of play sessions that the share created today and in the six days before (UTC). Sessions of the last hour may be missing. */
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

/**
 * Fields that can be changed after the share was created. `null` removes a restriction; a null slug is replaced with a random one that cannot be
 * guessed.
 */
export const ShareUpdate = z.strictObject({
  title: RequiredTitle.nullable().optional(),
  text: z.string().overwrite(severalLines).min(1).max(MAX_SHARE_TEXT).nullable().optional(),
  links: z.array(PageLink).max(MAX_SHARE_LINKS).nullable().optional(),
  slug: Slug.nullable().optional(),
  variants: unique(z.array(z.string().max(64)).min(1).max(MAX_SESSION_VARIANTS))
    .nullable()
    .optional(),
  is_downloadable: z.boolean().optional(),
  allowed_origins: unique(z.array(Origin).min(1).max(MAX_ORIGINS)).nullable().optional(),
  expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
  password: z.string().min(MIN_PASSWORD).max(MAX_PASSWORD).nullable().optional(),
})

export const ShareCreate = ShareUpdate.extend({ scope: PlayScope, id: Id })

const tag = 'Shares'
const params = z.object({ share_id: Id })
const shareResponse = ok({ share_id: z.uuid(), share: Share })

export const shareOperations = defineOperations({
  listShares: {
    method: 'get',
    path: '/v1/share',
    summary: 'List shares, newest first',
    tag,
    access: ['server'],
    query: Page.extend({ resource_id: Id.optional(), include: including('resource', 'sessions') }),
    response: ok({ count: z.int(), shares: z.array(ShareInList) }),
  },
  createShare: {
    method: 'post',
    path: '/v1/share',
    grows: 'content',
    summary: 'Share a collection, a track or a playlist by a link that lasts',
    tag,
    access: ['server'],
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
    params,
    body: ShareUpdate,
    response: shareResponse,
    invisibleToListeners: true,
    errors: ['unknown_variant', 'slug_taken'],
  },
  revokeShare: {
    method: 'delete',
    path: '/v1/share/{share_id}',
    summary: 'Revoke a share; what plays ends within 15 minutes',
    tag,
    access: ['server'],
    params,
    response: ok({ share_id: z.uuid(), deleted_share: Share }),
    invisibleToListeners: true,
  },
})
