import { and, eq, getTableColumns, ne, notExists, type SQL, sql } from 'drizzle-orm'

import { randomBase62 } from '../../adapters/crypto/id.ts'
import { hashPassword } from '../../adapters/crypto/password.ts'
import { rowId } from '../../adapters/crypto/seed.ts'
import { batchesWith, insertFrom, insertOnce } from '../../adapters/db/database.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { TABLE_OF } from '../../adapters/db/schema/library.ts'
import { type ShareRow, shares } from '../../adapters/db/schema/shares.ts'
import type { Context, Handlers } from '../../context.ts'
import { PlayScope } from '../../contract/play.ts'
import type { Share, ShareCreate, shareOperations } from '../../contract/share.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { shardsQuery } from '../../domain/listening_objects.ts'
import { FIND_RESOURCE } from '../keys/access.ts'
import { optionalTimestamp, toColumns } from '../keys/restrictions.ts'
import { readPage } from '../list/page.ts'
import { checkFeed, feedAddress } from './feed_access.ts'
import { includedParts } from './included_parts.ts'

/** Returns a share as the API shows it. */
export const toShare = ({ base_url }: Context, row: ShareRow): Share => ({
  ...row,
  links: row.links ?? [],
  url: `${base_url}/s/${row.slug}`,
  embed_url: `${base_url}/embed/s/${row.slug}`,
  expires_at: optionalTimestamp(row.expires_at),
  has_password: row.password_hash !== null,
  feed_url: row.feed && feedAddress(base_url, row.slug),
  created_at: timestamp(row.created_at),
})

export const withId = (context: Context, row: ShareRow) => ({ share_id: row.id, share: toShare(context, row) })

const isOwnedByCaller = ({ principal }: Context, id: string) =>
  and(eq(shares.id, id), eq(shares.organization_id, principal.organization_id))

export async function findShare(context: Context, id: string): Promise<ShareRow> {
  const row = await context.db.select().from(shares).where(isOwnedByCaller(context, id)).get()
  if (!row) throw notFound('share')
  return row
}

/** Returns a slug that cannot be guessed: it has more than 110 random bits. */
const randomSlug = () => randomBase62(22).toLowerCase()

/** Returns the columns for a slug, which is random if none was requested. */
export const slugColumns = (slug: string | null) => ({ slug: slug ?? randomSlug(), is_custom_slug: slug !== null })

/** Returns the columns for a slug and a password, if the request sets them. */
async function slugAndPasswordColumns({
  slug,
  password,
}: {
  slug?: string | null | undefined
  password?: string | null | undefined
}) {
  return {
    ...(slug !== undefined && slugColumns(slug)),
    ...(password !== undefined && { password_hash: password === null ? null : await hashPassword(password) }),
  }
}

export const slugTaken = (slug: string) =>
  new ApiError('slug_taken', `/s/${slug} is or was a share; choose another slug`)

/** Whether no other share has ever used this slug. */
const isUnusedSlug = (slug: string, id: string) =>
  sql`not exists (select 1 from retired_slugs where retired_slugs.slug = ${slug} and retired_slugs.share_id <> ${id})`

/** Splits a request for a share into the resource that it names, by `scope` and `id` or by the id of its kind, and the settings. */
export function splitShare<T extends Pick<ShareCreate, 'scope' | 'id' | `${PlayScope}_id`>>(body: T) {
  const { scope, id, collection_id, track_id, playlist_id, ...settings } = body
  const ids = { collection_id, track_id, playlist_id }
  const named = PlayScope.options.flatMap((scope) => {
    const id = ids[`${scope}_id`]
    return id === undefined ? [] : [{ scope, id }]
  })
  const pair = scope === undefined ? (id === undefined ? null : 'id') : 'scope'
  const [first, second] = [...(pair ? [pair] : []), ...named.map(({ scope }) => `${scope}_id`)]
  if (first === undefined)
    throw invalid('scope', 'is required with id, or instead of both: collection_id, track_id or playlist_id')
  if (second !== undefined) throw invalid(second, `must not be sent together with ${first}`)
  if (named[0]) return { ...named[0], settings }
  if (scope === undefined) throw invalid('scope', 'is required with id')
  if (id === undefined) throw invalid('id', 'is required with scope')
  return { scope, id, settings }
}

type NewShare = typeof shares.$inferInsert

/** Returns the columns of a new share, except those that a request chooses. */
export const newShare = ({ now, principal: { organization_id } }: Context, id: string) => ({
  id,
  organization_id,
  seq: sql`(select coalesce(max(seq), 0) + 1 from shares where organization_id = ${organization_id})`,
  created_at: now,
})

/** Returns the statement that inserts a share, unless its slug is or was that of another or the resource does not exist. */
export function insertShare({ db }: Context, values: Omit<NewShare, 'seq'> & { seq: SQL }) {
  const { id, organization_id, scope, resource_id, slug } = values
  const isUnused = sql`${isUnusedSlug(slug, id)} and not exists (select 1 from shares where slug = ${slug} and id <> ${id})`
  const source = sql`${TABLE_OF[scope]} where id = ${resource_id} and organization_id = ${organization_id} and ${isUnused}`
  return insertFrom(db, shares, values, source).returning()
}

export const shareHandlers: Handlers<typeof shareOperations> = {
  async listShares({ query: { limit, offset, include, ...filters } }, context) {
    const { db, principal } = context
    const list = {
      name: `shares:${principal.organization_id}`,
      table: shares,
      key: shares.seq,
      descending: true,
      of: eq(shares.organization_id, principal.organization_id),
      filters,
    }
    const batches = batchesWith(db, shardsQuery(context, principal.organization_id))
    const { rows, count } = await readPage(batches, list, { limit, offset }, getTableColumns(shares))
    const parts = await includedParts(context, include, rows, batches.firstRows())
    return { count, shares: rows.map((row, at) => ({ ...toShare(context, row), ...parts[at] })) }
  },

  async createShare({ body }, context) {
    const { db } = context
    const { scope, id, settings } = splitShare(body)
    const { slug = null, password, ...restrictions } = settings
    await FIND_RESOURCE[scope](context, id)
    const values = {
      ...(await toColumns(context, restrictions)),
      ...(await slugAndPasswordColumns({ password })),
      ...slugColumns(slug),
      ...newShare(context, rowId(context)),
      scope,
      resource_id: id,
    }
    checkFeed(values)
    const insert = insertShare(context, values)
    const event = recordEvents(context, 'share.created', sql`shares where id = ${values.id}`)
    const row = await insertOnce(db, insert, [event], () =>
      db.select().from(shares).where(isOwnedByCaller(context, values.id)).get(),
    )
    if (row) return withId(context, row)
    await FIND_RESOURCE[scope](context, id)
    throw slugTaken(values.slug)
  },

  getShare: async ({ params }, context) => withId(context, await findShare(context, params.share_id)),

  async updateShare({ params, body }, context) {
    const { db } = context
    const { slug, password, ...restrictions } = body
    const row = await findShare(context, params.share_id)
    const values = {
      ...(await toColumns(context, restrictions)),
      ...(await slugAndPasswordColumns({ slug, password })),
    }
    if (Object.keys(values).length === 0) return withId(context, row)
    checkFeed({ ...row, ...values })
    const otherShares = db
      .select({ id: sql`1` })
      .from(sql`shares as another`)
      .where(and(eq(sql`another.slug`, values.slug ?? ''), ne(sql`another.id`, row.id)))
    const isUpdatable = and(
      isOwnedByCaller(context, row.id),
      notExists(otherShares),
      isUnusedSlug(values.slug ?? '', row.id),
    )
    const [, [updated]] = await db.batch([
      recordEvents(context, 'share.updated', sql`shares where ${isUpdatable}`, { changed: Object.keys(body) }),
      db.update(shares).set(values).where(isUpdatable).returning(),
    ])
    context.cache.evictKey(row.id)
    if (updated) return withId(context, updated)
    await findShare(context, row.id)
    throw slugTaken(values.slug ?? '')
  },

  async revokeShare({ params }, context) {
    const row = await findShare(context, params.share_id)
    const [, revoked] = await context.db.batch([
      recordEvents(context, 'share.revoked', sql`shares where ${isOwnedByCaller(context, row.id)}`),
      context.db.delete(shares).where(isOwnedByCaller(context, row.id)).returning({ id: shares.id }),
    ])
    context.cache.evictKey(row.id)
    if (revoked.length === 0) throw notFound('share')
    return { share_id: row.id, deleted_share: toShare(context, row) }
  },
}
