import * as z from 'zod'

import { Id, including, named, ok, Page, RequiredTitle, Timestamp, unique } from './common.ts'
import { MAX_ORIGINS, MAX_SESSION_VARIANTS, MAX_STRING } from './facts.ts'
import { defineOperations } from './operation.ts'
import { Quota, QuotaBytes, QuotaTracks } from './quota.ts'

export const KeyType = z.enum(['server', 'player', 'uploader', 'signing'])
export type KeyType = z.infer<typeof KeyType>

/**
 * An API key (specification §5). A `server` key gives full access to its organization. `player` and `uploader` keys are for browsers and apps, and
 * can be restricted to one resource. A `signing` key signs play sessions on your server, within the same restrictions; it may call no operation.
 */
export const ApiKey = named('ApiKey', {
  id: z.uuid(),
  organization_id: z.uuid(),
  title: z.string(),
  type: KeyType,
  /** The first characters of the secret, by which users recognize the key. */
  hint: z.string(),
  collection_id: z.uuid().nullable(),
  track_id: z.uuid().nullable(),
  playlist_id: z.uuid().nullable(),
  /** Indexes of the variants that sessions created with this key may play; null allows all variants. */
  variants: z.array(z.string()).nullable(),
  is_downloadable: z.boolean(),
  /** Accepted values of the `Origin` header; null accepts all. */
  allowed_origins: z.array(z.string()).nullable(),
  /** The bytes and tracks that all sessions of an uploader key may add on one day in UTC; null allows any number. */
  max_bytes: z.int().nullable(),
  max_tracks: z.int().nullable(),
  expires_at: Timestamp.nullable(),
  created_at: Timestamp,
  /** The time of the last use, accurate to a few minutes; null if the key was never used. */
  last_used_at: Timestamp.nullable(),
})
export type ApiKey = z.infer<typeof ApiKey>

/** A key in the list. The optional part is the one that `include` names. */
const ApiKeyInList = ApiKey.extend({
  /** The resource to which the key is bound; null for a key that is not bound. The title is null if the resource no longer exists. */
  resource: z.object({ title: z.string().nullable() }).nullable().optional(),
})

/** A web origin in the format of the `Origin` header. */
export const Origin = z
  .string()
  .max(MAX_STRING)
  .regex(
    /^https?:\/\/[a-z0-9.-]+(:\d{1,5})?$/,
    'must be an origin like https://example.com, in lower case and without a path',
  )

/** Fields that can be changed after the key was created. `null` removes a restriction. */
export const ApiKeyUpdate = z.strictObject({
  title: RequiredTitle.optional(),
  variants: unique(z.array(z.string().max(64)).min(1).max(MAX_SESSION_VARIANTS))
    .nullable()
    .optional(),
  is_downloadable: z.boolean().optional(),
  allowed_origins: unique(z.array(Origin).min(1).max(MAX_ORIGINS)).nullable().optional(),
  /** Only for uploader keys, as in `ApiKey`. By default, a new key has 20 GB and 500 tracks. */
  max_bytes: QuotaBytes.optional(),
  max_tracks: QuotaTracks.optional(),
  expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
})

export const ApiKeyCreate = ApiKeyUpdate.extend({
  title: RequiredTitle,
  type: KeyType,
  collection_id: Id.nullable().optional(),
  track_id: Id.nullable().optional(),
  playlist_id: Id.nullable().optional(),
})

/** Seconds for which the previous secret stays valid after a rotation: an hour by default, a week at most. */
const GraceSeconds = z.int().min(0).max(604_800).meta({ unit: 'seconds' }).default(3600)

const tag = 'API keys'
const params = z.object({ api_key_id: Id })
const apiKeyResponse = ok({ api_key_id: z.uuid(), api_key: ApiKey })
/** The response with the secret, which is returned only once because the service stores only its hash. */
const withSecret = apiKeyResponse.extend({ secret: z.string() })

export const apiKeyOperations = defineOperations({
  listApiKeys: {
    method: 'get',
    path: '/v1/api_key',
    summary: 'List API keys, newest first',
    tag,
    access: ['server'],
    query: Page.extend({ include: including('resource') }),
    response: ok({ count: z.int(), api_keys: z.array(ApiKeyInList) }),
  },
  createApiKey: {
    method: 'post',
    path: '/v1/api_key',
    grows: 'content',
    summary: 'Create an API key; its secret is shown this once',
    tag,
    access: ['server'],
    body: ApiKeyCreate,
    response: withSecret,
    errors: ['not_found', 'unknown_variant'],
  },
  getApiKey: {
    method: 'get',
    path: '/v1/api_key/{api_key_id}',
    summary: 'Get an API key without its secret',
    tag,
    access: ['server'],
    params,
    /** `quota` is null for keys that are not uploader keys. */
    response: apiKeyResponse.extend({ quota: Quota.nullable() }),
  },
  updateApiKey: {
    method: 'put',
    path: '/v1/api_key/{api_key_id}',
    grows: false,
    summary: 'Update an API key; fields left out stay as they are',
    tag,
    access: ['server'],
    params,
    body: ApiKeyUpdate,
    response: apiKeyResponse,
    errors: ['unknown_variant', 'last_server_key'],
  },
  rotateApiKey: {
    method: 'post',
    path: '/v1/api_key/{api_key_id}/rotate',
    grows: false,
    summary: 'Give an API key a new secret; the old one works for `grace_seconds` more',
    tag,
    access: ['server'],
    params,
    body: z.strictObject({ grace_seconds: GraceSeconds }),
    response: withSecret,
  },
  revokeApiKey: {
    method: 'delete',
    path: '/v1/api_key/{api_key_id}',
    summary: 'Revoke an API key at once (within 30 seconds everywhere)',
    tag,
    access: ['server'],
    params,
    response: ok({ api_key_id: z.uuid(), deleted_api_key: ApiKey }),
    errors: ['last_server_key'],
  },
})
