import * as z from 'zod'

import { HexColor, ImageColor } from './color.ts'
import { Id, named, ok, Page, RequiredTitle, Title, Version, VersionHeaders } from './common.ts'
import { MAX_PROGRESS_DAYS, MAX_THEME_COLORS } from './facts.ts'
import { defineOperations } from './operation.ts'
import { QuotaBytes } from './quota.ts'

export const Theme = z.array(HexColor).max(MAX_THEME_COLORS)

/**
 * The organization, to which all other resources belong (specification §2, Organization). `theme` has the colors that were set; `image_colors` has
 * the same colors in the form for players.
 */
export const Organization = named('Organization', {
  id: z.uuid(),
  name: z.string(),
  image_colors: z.array(ImageColor),
  theme: z.array(HexColor),
  is_theme_overridable: z.boolean(),
  is_cover_overridable: z.boolean(),
  player_color: HexColor,
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

/** `null` restores the default color or subtitle. */
export const OrganizationUpdate = z.strictObject({
  name: RequiredTitle.optional(),
  theme: Theme.optional(),
  is_theme_overridable: z.boolean().optional(),
  is_cover_overridable: z.boolean().optional(),
  player_color: HexColor.nullable().optional(),
  player_subtitle: Title.nullable().optional(),
  uses_tags: z.boolean().optional(),
  progress_days: z.int().min(1).max(MAX_PROGRESS_DAYS).meta({ 'x-unit': 'days' }).optional(),
  /** Only the operator's root key may change it. */
  max_bytes: QuotaBytes.optional(),
})

const tag = 'Organizations'
const params = z.object({ organization_id: Id })
const organizationResponse = ok({ organization_id: z.uuid(), organization: Organization })

export const organizationOperations = defineOperations({
  listOrganizations: {
    method: 'get',
    path: '/v1/organization',
    summary: "List organizations, newest first (the operator's root key only)",
    tag,
    access: ['root'],
    query: Page,
    response: ok({ count: z.int(), organizations: z.array(Organization) }),
  },
  createOrganization: {
    method: 'post',
    path: '/v1/organization',
    grows: 'content',
    summary: "Create an organization and its first server key (the operator's root key only)",
    tag,
    access: ['root'],
    body: z.strictObject({ name: RequiredTitle, max_bytes: QuotaBytes.optional() }),
    response: ok({
      organization_id: z.uuid(),
      organization: Organization,
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
    params,
    response: organizationResponse,
  },
  updateOrganization: {
    method: 'put',
    path: '/v1/organization/{organization_id}',
    grows: false,
    summary: 'Update an organization; fields left out stay as they are',
    tag,
    access: ['root', 'server'],
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
    params,
    response: ok({ organization_id: z.uuid(), deleted_organization: Organization }),
  },
})
