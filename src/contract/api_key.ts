import * as z from 'zod'

import { Effect, Id, including, named, ok, Page, RequiredTitle, Timestamp, unique } from './common.ts'
import { EFFECTS } from './effect.ts'
import { MAX_ORIGINS, MAX_SESSION_VARIANTS, MAX_STRING } from './facts.ts'
import { defineOperations } from './operation.ts'
import { Quota, QuotaBytes, QuotaTracks } from './quota.ts'

/** `server` may do everything in its organization. `player` and `uploader` are for browsers and apps, and `signing` signs play sessions (docs/keys.md). */
export const KeyType = z.enum(['server', 'player', 'uploader', 'signing'])
export type KeyType = z.infer<typeof KeyType>

/** A credential of an organization, without its secret. Other keys than `server` keys can be bound to one resource. */
export const ApiKey = named('ApiKey', {
  /** Identifies the key in paths and events. */
  id: z.uuid(),
  /** The organization to which it gives access. */
  organization_id: z.uuid(),
  /** Name by which people recognize the key. */
  title: z.string(),
  type: KeyType,
  /** The rights of a server key: `read`, `write`, `delete`, or several of them (docs/keys.md#keys-that-may-do-less); null for other types. */
  may: z.array(Effect).nullable(),
  /** First characters of the secret. */
  hint: z.string(),
  /** The only collection that the key may play or upload to; null if it is not bound to one. */
  collection_id: z.uuid().nullable(),
  /** The only track that the key may play; null if it is not bound to one. */
  track_id: z.uuid().nullable(),
  /** The only playlist that the key may play; null if it is not bound to one. */
  playlist_id: z.uuid().nullable(),
  /** Indexes of the variants that sessions created with this key may play; null allows all variants. */
  variants: z.array(z.string()).nullable(),
  /** Whether sessions of a player or signing key may be downloadable. */
  is_downloadable: z.boolean(),
  /** Origins of the pages that may use the key; null for all. */
  allowed_origins: z.array(z.string()).nullable(),
  /** Bytes that all sessions of an uploader key may add on one day in UTC; null allows any number. */
  max_bytes: z.int().nullable(),
  /** Number of tracks that all sessions of an uploader key may add on one day in UTC; null allows any. */
  max_tracks: z.int().nullable(),
  /** When the key stops working; null if it never does. */
  expires_at: Timestamp.nullable(),
  /** When it was issued. */
  created_at: Timestamp,
  /** Accurate to about ten minutes; null if the key was never used. */
  last_used_at: Timestamp.nullable(),
})
export type ApiKey = z.infer<typeof ApiKey>

/** A key in the list. The optional part is the one that `include` names. */
const ApiKeyInList = ApiKey.extend({
  /** Only with `include=resource`: the resource to which the key is bound; null for a key that is not bound. */
  resource: z
    .object({
      /** Null if it no longer exists. */
      title: z.string().nullable(),
    })
    .nullable()
    .optional(),
})

/** A web origin in the format of the `Origin` header. */
export const Origin = z
  .string()
  .max(MAX_STRING)
  .regex(
    /^https?:\/\/[a-z0-9.-]+(:\d{1,5})?$/,
    'must be an origin like https://example.com, in lower case and without a path',
  )

/** Omitted fields keep their values, and `null` removes a restriction. */
export const ApiKeyUpdate = z.strictObject({
  /** Name by which people recognize the key. */
  title: RequiredTitle.optional(),
  /** Only for server keys: the rights of the key, by default all three. Only a key with all three can manage keys (docs/keys.md#keys-that-may-do-less). */
  may: unique(z.array(Effect).min(1).max(EFFECTS.length)).optional(),
  /** Indexes of the only variants that sessions of the key may play; null, the default, allows all. */
  variants: unique(z.array(z.string().max(64)).min(1).max(MAX_SESSION_VARIANTS))
    .nullable()
    .optional(),
  /** Whether sessions of a player or signing key may be downloadable; false by default. */
  is_downloadable: z.boolean().optional(),
  /** Origins of the pages that may use the key, such as `https://www.example.com`; null, the default, allows all. */
  allowed_origins: unique(z.array(Origin).min(1).max(MAX_ORIGINS)).nullable().optional(),
  /** Only for uploader keys: bytes that they may add on one day in UTC, by default 20 GB. Null allows any number. */
  max_bytes: QuotaBytes.optional(),
  /** Only for uploader keys: number of tracks that they may add on one day in UTC, by default 500. Null allows any. */
  max_tracks: QuotaTracks.optional(),
  /** When the key stops working; null, the default, for never. */
  expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
})

export const ApiKeyCreate = ApiKeyUpdate.extend({
  /** Name by which people recognize the key. */
  title: RequiredTitle,
  /** Determines the permissions of the key, and cannot change. */
  type: KeyType,
  /** Binds a player, signing or uploader key to this collection. */
  collection_id: Id.nullable().optional(),
  /** Binds a player or signing key to this track. */
  track_id: Id.nullable().optional(),
  /** Binds a player or signing key to this playlist. */
  playlist_id: Id.nullable().optional(),
})

/** Seconds for which the previous secret stays valid after a rotation: an hour by default, a week at most. */
const GraceSeconds = z.int().min(0).max(604_800).meta({ 'x-unit': 'seconds' }).default(3600)

const tag = 'API keys'
const params = z.object({
  /** As in the list of keys; not the secret. */
  api_key_id: Id,
})
const apiKeyResponse = ok({
  /** The same as `api_key.id`. */
  api_key_id: z.uuid(),
  api_key: ApiKey,
})
const withSecret = apiKeyResponse.extend({
  /** Send it as `Authorization: Bearer …`; that of a signing key signs tokens instead. It is returned only once, because the service stores only its hash. */
  secret: z.string(),
})

export const apiKeyOperations = defineOperations({
  listApiKeys: {
    method: 'get',
    path: '/v1/api_key',
    summary: 'List API keys, newest first',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'keys',
    query: Page.extend({
      /** `resource` adds the title of the resource to which each key is bound. */
      include: including('resource'),
    }),
    response: ok({
      /** Number of keys on all pages together. */
      count: z.int(),
      /** The newest first. */
      api_keys: z.array(ApiKeyInList),
    }),
  },
  createApiKey: {
    method: 'post',
    path: '/v1/api_key',
    grows: 'content',
    summary: 'Create an API key; its secret is shown this once',
    tag,
    access: ['server'],
    effect: 'all',
    guide: 'keys',
    limits: ['uploader_bytes', 'uploader_tracks'],
    body: ApiKeyCreate,
    response: withSecret,
    errors: ['not_found', 'unknown_variant'],
  },
  // Before `getApiKey`, whose path matches this one too.
  getOwnApiKey: {
    method: 'get',
    path: '/v1/api_key/self',
    summary: 'Get the server key that sends the request',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'keys',
    response: apiKeyResponse,
  },
  getApiKey: {
    method: 'get',
    path: '/v1/api_key/{api_key_id}',
    summary: 'Get an API key without its secret',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'keys',
    params,
    response: apiKeyResponse.extend({
      /** The use of an uploader key today; null for other keys. */
      quota: Quota.nullable(),
    }),
  },
  updateApiKey: {
    method: 'put',
    path: '/v1/api_key/{api_key_id}',
    grows: false,
    summary: 'Update an API key; fields left out stay as they are',
    tag,
    access: ['server'],
    effect: 'all',
    guide: 'keys',
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
    effect: 'all',
    guide: 'keys',
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
    effect: 'all',
    guide: 'keys',
    params,
    response: ok({
      /** The same as `deleted_api_key.id`. */
      api_key_id: z.uuid(),
      /** Its state before it was revoked. */
      deleted_api_key: ApiKey,
    }),
    errors: ['last_server_key'],
  },
})
