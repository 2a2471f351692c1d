import * as z from 'zod'

import { HexColor, ImageColor } from './color.ts'
import { Id, named, ok, Page, RequiredTitle, Title, Version, VersionHeaders } from './common.ts'
import { MAX_PROGRESS_DAYS, MAX_THEME_COLORS } from './facts.ts'
import { defineOperations } from './operation.ts'
import { QuotaBytes } from './quota.ts'

export const Theme = z.array(HexColor).max(MAX_THEME_COLORS)

/** The owner of all other resources, with the defaults of their appearance. */
export const Organization = named('Organization', {
  /** Identifies the organization in paths, quotas and statistics. */
  id: z.uuid(),
  /** Shown in the studio and on the pages of shares. */
  name: z.string(),
  /** The colors of `theme` in the form that players use. */
  image_colors: z.array(ImageColor),
  /** Up to 12 colors that players show instead of those of covers; `[]` for none. */
  theme: z.array(HexColor),
  /** Whether collections and tracks may have their own color and theme. False makes all look the same. */
  is_theme_overridable: z.boolean(),
  /** Whether tracks may show their own covers instead of those of their collections. */
  is_cover_overridable: z.boolean(),
  /** Color of players, unless a collection or track has its own. */
  player_color: HexColor,
  /** Second line in players for tracks without a subtitle; empty for none. */
  player_subtitle: z.string(),
  /** Whether the tags of files are used for titles, subtitles, order and covers that are not set (docs/tags.md). */
  uses_tags: z.boolean(),
  /** Days after which the progress of a listener with a track ends, counted from its last change (docs/counting.md#progress-of-a-listener). */
  progress_days: z.int(),
  /** The bytes that the organization may store; null allows any number. */
  max_bytes: z.int().nullable(),
  /** Changes with every update. */
  version: Version,
})
export type Organization = z.infer<typeof Organization>

/** Omitted fields keep their values. `null` restores the default color or subtitle. */
export const OrganizationUpdate = z.strictObject({
  /** Shown in the studio and on the pages of shares. */
  name: RequiredTitle.optional(),
  /** Colors that players show instead of those of covers; `[]` removes them. */
  theme: Theme.optional(),
  /** Whether collections and tracks may have their own color and theme. */
  is_theme_overridable: z.boolean().optional(),
  /** Whether tracks may show their own covers instead of those of their collections. */
  is_cover_overridable: z.boolean().optional(),
  /** Color of players, unless a collection or track has its own; null restores the default. */
  player_color: HexColor.nullable().optional(),
  /** Second line in players for tracks without a subtitle; null for none. */
  player_subtitle: Title.nullable().optional(),
  /** Whether the tags of files are used for titles, subtitles, order and covers that are not set (docs/tags.md). */
  uses_tags: z.boolean().optional(),
  /** Days after which the progress of a listener with a track ends, counted from its last change. */
  progress_days: z.int().min(1).max(MAX_PROGRESS_DAYS).meta({ 'x-unit': 'days' }).optional(),
  /** Bytes that the organization may store; null allows any number. Only the root key may change it. */
  max_bytes: QuotaBytes.optional(),
})

const tag = 'Organizations'
const params = z.object({
  /** The organization of your key, or any with the root key. */
  organization_id: Id,
})
const organizationResponse = ok({
  /** The same as `organization.id`. */
  organization_id: z.uuid(),
  organization: Organization,
})

export const organizationOperations = defineOperations({
  listOrganizations: {
    method: 'get',
    path: '/v1/organization',
    summary: "List organizations, newest first (the operator's root key only)",
    tag,
    access: ['root'],
    effect: 'read',
    guide: 'keys',
    query: Page,
    response: ok({
      /** Number of organizations on all pages together. */
      count: z.int(),
      /** The newest first. */
      organizations: z.array(Organization),
    }),
  },
  createOrganization: {
    method: 'post',
    path: '/v1/organization',
    grows: 'content',
    summary: "Create an organization and its first server key (the operator's root key only)",
    tag,
    access: ['root'],
    effect: 'write',
    guide: 'keys',
    body: z.strictObject({
      /** Shown in the studio and on the pages of shares. */
      name: RequiredTitle,
      /** Bytes that the organization may store; null, the default, allows any number. */
      max_bytes: QuotaBytes.optional(),
    }),
    response: ok({
      /** The same as `organization.id`. */
      organization_id: z.uuid(),
      organization: Organization,
      /** The first server key, whose secret is `secret`. */
      api_key_id: z.uuid(),
      /** The secret of the server key. It is returned only once, because the service stores only its hash. */
      secret: z.string(),
    }),
  },
  getOrganization: {
    method: 'get',
    path: '/v1/organization/{organization_id}',
    summary: 'Get an organization',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'concepts',
    params,
    response: organizationResponse,
    etag: ({ organization }: { organization: Organization }) => organization.version,
  },
  updateOrganization: {
    method: 'put',
    path: '/v1/organization/{organization_id}',
    grows: false,
    summary: 'Update an organization; fields left out stay as they are',
    tag,
    access: ['root', 'server'],
    effect: 'write',
    deletes: 'progress',
    guide: 'concepts',
    recordsNoEvent: 'receivers do not mirror settings',
    params,
    headers: VersionHeaders,
    body: OrganizationUpdate,
    response: organizationResponse,
    errors: ['version_mismatch'],
  },
  deleteOrganization: {
    method: 'delete',
    path: '/v1/organization/{organization_id}',
    summary: "Delete an organization with everything in it (the operator's root key only)",
    tag,
    access: ['root'],
    effect: 'delete',
    guide: 'keys',
    recordsNoEvent: 'the events are deleted with their organization',
    params,
    response: ok({
      /** The same as `deleted_organization.id`. */
      organization_id: z.uuid(),
      /** Its state before the deletion. */
      deleted_organization: Organization,
    }),
  },
})
