import { and, eq, getTableColumns, ne, sql } from 'drizzle-orm'

import { newSecret, secretHint, sha256 } from '../../adapters/crypto/secret.ts'
import { rowId, secretBase62 } from '../../adapters/crypto/seed.ts'
import { batchesWith, insertOnce } from '../../adapters/db/database.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { retrying } from '../../adapters/db/retry.ts'
import { apiKeys } from '../../adapters/db/schema/api_keys.ts'
import { organizations } from '../../adapters/db/schema/library.ts'
import type { Context, Handlers } from '../../context.ts'
import type { ApiKey, apiKeyOperations, KeyType } from '../../contract/api_key.ts'
import { type Effect, EFFECTS } from '../../contract/effect.ts'
import { UPLOADER_BYTES, UPLOADER_TRACKS } from '../../contract/facts.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { keyOf } from '../../core/principal.ts'
import { timestamp } from '../../core/time.ts'
import { readQuotas } from '../../domain/quota.ts'
import { isIncluded } from '../library/list_items.ts'
import { withListenerKey } from '../library/organization.ts'
import { titlesOf } from '../library/titles.ts'
import { readPage } from '../list/page.ts'
import { checkBinding } from './access.ts'
import { optionalTimestamp, toColumns } from './restrictions.ts'
import { newKid, signingSecret } from './signing_key.ts'

type ApiKeyRow = typeof apiKeys.$inferSelect

const toApiKey = (row: ApiKeyRow): ApiKey => ({
  ...row,
  may: row.type === 'server' ? (row.may ?? [...EFFECTS]) : null,
  expires_at: optionalTimestamp(row.expires_at),
  created_at: timestamp(row.created_at),
  last_used_at: optionalTimestamp(row.last_used_at),
})

const isOwnedByCaller = ({ principal }: Context, id: string) =>
  and(eq(apiKeys.id, id), eq(apiKeys.organization_id, principal.organization_id))

async function findApiKey(context: Context, id: string): Promise<ApiKeyRow> {
  const row = await context.db.select().from(apiKeys).where(isOwnedByCaller(context, id)).get()
  if (!row) throw notFound('api key')
  return row
}

/**
 * Whether the key is not the last server key that may do everything and never expires. Without such a key, the keys of the organization could not be
 * managed.
 */
const keepsServerKey = ({ principal }: Context, { id, type }: ApiKeyRow) =>
  type === 'server'
    ? sql`(${apiKeys.may} is not null or exists (select 1 from api_keys as another
        where another.organization_id = ${principal.organization_id} and another.type = 'server' and another.id <> ${id}
        and another.may is null and another.expires_at is null))`
    : undefined

const lastServerKey = (done: string) =>
  new ApiError(
    'last_server_key',
    `This is the last server key that may do everything and never expires; create another one before you ${done}`,
  )

/** Returns `may` as it is stored: null for everything. Throws 400 for a key that is not a server key, whose type says what it may do. */
function storedMay(type: KeyType, may: Effect[]): Effect[] | null {
  if (type !== 'server') throw invalid('may', 'can be set for server keys only')
  return may.length < EFFECTS.length ? EFFECTS.filter((effect) => may.includes(effect)) : null
}

/** Returns the secret that this request gives to a key. */
async function createSecret(context: Context, type: KeyType, id: string): Promise<string> {
  const random = await secretBase62(context)
  return type === 'signing' ? signingSecret(context.env, newKid(id, random)) : newSecret(type, random)
}

/** Throws 400 for a quota of a key that cannot upload. */
function checkQuota(type: KeyType, body: { max_bytes?: unknown; max_tracks?: unknown }): void {
  for (const field of ['max_bytes', 'max_tracks'] as const) {
    if (type !== 'uploader' && (body[field] ?? null) !== null) throw invalid(field, 'can be set for uploader keys only')
  }
}

/** Returns what each key is bound to; null for a key that is not bound. One query for each kind of resource. */
async function resourcesOf(context: Context, rows: ApiKeyRow[]): Promise<({ title: string | null } | null)[]> {
  const bound = rows.map(({ collection_id, track_id, playlist_id }) => {
    if (collection_id) return { kind: 'collection' as const, id: collection_id }
    if (track_id) return { kind: 'track' as const, id: track_id }
    return playlist_id ? { kind: 'playlist' as const, id: playlist_id } : null
  })
  const found = bound.filter((one) => one !== null)
  const titles = found.length > 0 ? await titlesOf(context, found) : new Map<string, string>()
  return bound.map((one) => one && { title: titles.get(one.id) ?? null })
}

export const apiKeyHandlers: Handlers<typeof apiKeyOperations> = {
  async listApiKeys({ query: { limit, offset, include } }, context) {
    const { db, principal } = context
    const list = {
      name: `api_keys:${principal.organization_id}`,
      table: apiKeys,
      key: apiKeys.seq,
      descending: true,
      of: eq(apiKeys.organization_id, principal.organization_id),
    }
    const { rows, count } = await readPage(batchesWith(db), list, { limit, offset }, getTableColumns(apiKeys))
    const resources = isIncluded(include, 'resource') ? await resourcesOf(context, rows) : null
    return {
      count,
      api_keys: rows.map((row, at) => ({ ...toApiKey(row), ...(resources && { resource: resources[at]! }) })),
    }
  },

  async createApiKey({ body }, context) {
    const { db, principal, now } = context
    await checkBinding(context, body.type, body)
    checkQuota(body.type, body)
    const id = rowId(context)
    const secret = await createSecret(context, body.type, id)
    const values = {
      ...(body.type === 'uploader' && { max_bytes: UPLOADER_BYTES, max_tracks: UPLOADER_TRACKS }),
      ...(await toColumns(context, body)),
      ...(body.may && { may: storedMay(body.type, body.may) }),
      id,
      organization_id: principal.organization_id,
      hash: await sha256(secret),
      hint: secretHint(secret),
      seq: sql`(select coalesce(max(seq), 0) + 1 from api_keys where organization_id = ${principal.organization_id})`,
      created_at: now,
    }
    const insert = db.insert(apiKeys).values(values).returning()
    const event = recordEvents(context, 'api_key.created', sql`api_keys where id = ${id}`)
    // The tokens of a signing key may name a listener. Their requests only read, so the key of the HMAC must exist before.
    const hasListeners = db
      .update(organizations)
      .set(withListenerKey())
      .where(eq(organizations.id, principal.organization_id))
    const others = body.type === 'signing' ? [event, hasListeners] : [event]
    const row = (await insertOnce(db, insert, others, () => findApiKey(context, id)))!
    return { api_key_id: id, api_key: toApiKey(row), secret }
  },

  async getOwnApiKey(_, context) {
    const row = await findApiKey(context, keyOf(context.principal)!.api_key_id)
    return { api_key_id: row.id, api_key: toApiKey(row) }
  },

  async getApiKey({ params }, context) {
    const row = await findApiKey(context, params.api_key_id)
    const isUploader = row.type === 'uploader'
    const quotas = isUploader
      ? await readQuotas(context, { organization_id: row.organization_id, api_key_id: row.id })
      : []
    const quota = quotas.find(({ scope }) => scope === 'api_key') ?? null
    return { api_key_id: row.id, api_key: toApiKey(row), quota }
  },

  async updateApiKey({ params, body }, context) {
    let row = await findApiKey(context, params.api_key_id)
    checkQuota(row.type, body)
    const { may, ...columns } = await toColumns(context, body)
    const values = { ...columns, ...(may && { may: storedMay(row.type, may) }) }
    if (Object.keys(values).length > 0) {
      const setsExpiry = 'expires_at' in values && values.expires_at !== null
      const isNarrowed = (values.may ?? null) !== null
      const isKept = setsExpiry || isNarrowed ? keepsServerKey(context, row) : undefined
      const where = and(isOwnedByCaller(context, row.id), isKept)
      const [, [updated]] = await context.db.batch([
        recordEvents(context, 'api_key.updated', sql`api_keys where ${where}`, { changed: Object.keys(values) }),
        context.db.update(apiKeys).set(values).where(where).returning(),
      ])
      if (!updated) {
        await findApiKey(context, row.id)
        throw lastServerKey(isNarrowed ? 'let this one do less' : 'let it end')
      }
      row = updated
      context.cache.evictKey(row.id)
    }
    return { api_key_id: row.id, api_key: toApiKey(row) }
  },

  async rotateApiKey({ params, body }, context) {
    const { type } = await findApiKey(context, params.api_key_id)
    const secret = await createSecret(context, type, params.api_key_id)
    const hash = await sha256(secret)
    // An earlier attempt may have rotated the key already; another rotation would end the previous secret.
    const isOwned = and(isOwnedByCaller(context, params.api_key_id), ne(apiKeys.hash, hash))
    const batch = [
      recordEvents(context, 'api_key.rotated', sql`api_keys where ${isOwned}`),
      context.db
        .update(apiKeys)
        .set({
          previous_hash: sql`hash`,
          previous_expires_at: context.now + body.grace_seconds * 1000,
          hash,
          hint: secretHint(secret),
        })
        .where(isOwned)
        .returning(),
    ] as const
    const [, [rotated]] = await retrying(() => context.db.batch(batch))
    const row = rotated ?? (await findApiKey(context, params.api_key_id))
    if (row.hash !== hash) throw notFound('api key')
    context.cache.evictKey(row.id)
    return { api_key_id: row.id, api_key: toApiKey(row), secret }
  },

  async revokeApiKey({ params }, context) {
    const { db } = context
    const row = await findApiKey(context, params.api_key_id)
    const where = and(isOwnedByCaller(context, row.id), keepsServerKey(context, row))
    const [, revoked] = await db.batch([
      recordEvents(context, 'api_key.revoked', sql`api_keys where ${where}`),
      db.delete(apiKeys).where(where).returning({ id: apiKeys.id }),
    ])
    if (revoked.length === 0) {
      await findApiKey(context, row.id)
      throw lastServerKey('revoke it')
    }
    context.cache.evictKey(row.id)
    return { api_key_id: row.id, deleted_api_key: toApiKey(row) }
  },
}
