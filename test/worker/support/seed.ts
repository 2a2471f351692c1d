import { env } from 'cloudflare:workers'

import { newHourlyId } from '../../../src/adapters/crypto/id.ts'
import { fillText, type Kind } from '../../../src/adapters/db/search.ts'
import { fillTitles } from '../../../src/adapters/db/search_titles.ts'
import { LISTS } from '../../../src/adapters/db/triggers/counts.ts'
import { CREATOR, query } from './api.ts'

/** Inserts many rows in seconds, with the values that the API would have written one by one. */

type Column = string | number
export type Table = keyof typeof LISTS

/** Queries that compute the counts which triggers maintain for a table's lists. D1 allows at most five terms in one `union`. */
export function countedLists(table: Table): string[] {
  const { owner, order: key, filters } = LISTS[table]
  const name = owner ? `'${table}:' || ${owner}` : `'${table}'`
  return [
    `select ${name} as list, 0 as level, 0 as bucket, count(*) as count from ${table} group by 1`,
    `select ${name} as list, 1 as level, ${key} >> 8 as bucket, count(*) as count from ${table} group by 1, 3`,
    `select ${name} as list, 2 as level, ${key} >> 14 as bucket, count(*) as count from ${table} group by 1, 3`,
    ...filters.map(
      (
        column,
      ) => `select ${name} || '?${column}=' || ${column} as list, 0 as level, 0 as bucket, count(*) as count from ${table}
        where ${column} is not null group by 1`,
    ),
  ]
}

/**
 * Runs statements without a table's triggers and indexes, because it is faster to create the indexes afterwards, and then counts the rows of its
 * lists again. With `index`, only these indexes are created again.
 */
export async function withoutTriggers(
  table: Table,
  run: () => Promise<unknown>,
  index?: string | string[],
): Promise<void> {
  const found = await query<{ type: string; name: string; sql: string }>(
    `select type, name, sql from sqlite_master where type in ('index', 'trigger') and tbl_name = ? and sql is not null`,
    table,
  )
  await env.DB.batch(found.map(({ type, name }) => env.DB.prepare(`drop ${type} ${name}`)))
  await run()
  const of = (kind: string) =>
    found
      .filter(({ type, name }) => type === kind && (kind === 'trigger' || !index || [index].flat().includes(name)))
      .map(({ sql }) => env.DB.prepare(sql))
  await env.DB.batch(of('index'))
  await env.DB.batch([
    env.DB.prepare(`delete from list_counts where list = '${table}' or list like '${table}:%'`),
    ...countedLists(table).map((counted) => env.DB.prepare(`insert into list_counts ${counted}`)),
    ...of('trigger'),
  ])
}

/** Inserts rows `from`…`to`. The value of a column is SQL that can use `i`, or a constant number. The ids are `0000{table}-0000-4000-8000-{i}`. */
async function insertRows(table: string, from: number, to: number, columns: Record<string, Column>): Promise<void> {
  const names = Object.keys(columns).map((name) => `"${name}"`)
  await query(`insert into ${table} (${names.join(', ')})
    with recursive n(i) as (select ${from} union all select i + 1 from n where i < ${to})
    select ${Object.values(columns).join(', ')} from n`)
}

const NUMBERS: Record<string, string> = {
  organizations: '0001',
  api_keys: '0002',
  collections: '0003',
  playlists: '0004',
  shares: '0007',
  trash: '0008',
}

/** The id of the i-th seeded row. */
export const seededId = (table: string, i: number) =>
  `0000${NUMBERS[table] ?? '0005'}-0000-4000-8000-${i.toString(16).padStart(12, '0')}`
const id = (table: string) => `printf('0000${NUMBERS[table] ?? '0005'}-0000-4000-8000-%012x', i)`

/** Every second row has the creator `CREATOR`; `organization_index` is `a`, `b` or null. */
const FILTERED = {
  creator_id: `iif(i % 2, '${CREATOR}', null)`,
  organization_index: `iif(i % 3 = 0, 'a', iif(i % 3 = 1, 'b', null))`,
}
const appearance = { metadata: `'{}'`, theme: `'[]'`, cover_colors: `'[]'` }

/**
 * Fills a table with rows `from` to `to`. `change` may delete or change many of them before they are counted. With `plain`, the rows have no values
 * to filter by. With `index`, the table keeps only these indexes. Tracks have every `every`-th position.
 */
export function seed(
  table: Table,
  from: number,
  to: number,
  { organization_id, collection_id }: { organization_id: string; collection_id: string },
  options: { plain?: boolean; index?: string | string[]; every?: number; change?: () => Promise<unknown> } = {},
): Promise<void> {
  const owner = `'${organization_id}'`
  const filtered = options.plain ? {} : FILTERED
  const common = { id: id(table), created_at: 1 }
  // The titles are unique and in pseudo-random order.
  const title = `printf('Seeded %06d', i * 7919 % 1000003)`
  const columns: Record<Table, Record<string, Column>> = {
    organizations: { ...common, name: `'Seeded'`, theme: `'[]'`, seq: 'i + 10' },
    api_keys: {
      ...common,
      organization_id: owner,
      type: `'player'`,
      title: `'Seeded'`,
      hash: `'hash' || i`,
      hint: `'ta_pk_'`,
      seq: 'i + 100',
    },
    collections: { ...common, ...filtered, ...appearance, organization_id: owner, title, seq: 'i + 100' },
    playlists: { ...common, ...filtered, ...appearance, organization_id: owner, title, seq: 'i + 100' },
    trash: {
      id: id(table),
      organization_id: owner,
      scope: `'track'`,
      title: `'Seeded'`,
      collection_id: `'${collection_id}'`,
      seq: 'i + 100',
      trashed_at: 1,
      expires_at: 4e12,
      content: `'{}'`,
    },
    tracks: {
      ...common,
      ...filtered,
      organization_id: owner,
      collection_id: `'${collection_id}'`,
      index: `'seeded' || i`,
      file_name: `'seeded.mp3'`,
      player_title: title,
      duration: 'i % 977 + 0.5',
      order: `i * ${options.every ?? 1} + 100`,
      metadata: `'{}'`,
      cover_colors: `'[]'`,
      status: `iif(i % 2, 'ready', 'processing')`,
      upload_expires_at: 0,
      awaiting_upload: 0,
      next_check_at: 0,
      info: `'{}'`,
    },
    shares: {
      ...common,
      organization_id: owner,
      slug: `'seeded-' || i`,
      is_custom_slug: 1,
      scope: `'collection'`,
      resource_id: `iif(i % 2, '${collection_id}', ${id('collections')})`,
      seq: 'i + 100',
    },
  }
  return withoutTriggers(
    table,
    async () => {
      for (let at = from; at <= to; at += 50_000) await insertRows(table, at, Math.min(to, at + 49_999), columns[table])
      await options.change?.()
    },
    options.index,
  )
}

/** Seeds rows and adds them to the search index. */
export async function seedSearched(
  table: Kind,
  from: number,
  to: number,
  tenant: Parameters<typeof seed>[3],
): Promise<void> {
  const [last] = await query<{ at: number }>(`select coalesce(max(rowid), 0) as at from ${table}`)
  await seed(table, from, to, tenant)
  for (const fill of [fillText, fillTitles]) await query(fill(table), last!.at, Number.MAX_SAFE_INTEGER)
}

/** Inserts play sessions that expire at the time `ends`. */
export function seedSessions(
  count: number,
  ends: number,
  { organization_id = '', created_at = 0, share_id = null as string | null } = {},
) {
  const id = newHourlyId(ends)
  return query(
    `insert into play_sessions
      (id, organization_id, scope, resource_id, metadata, variants, is_downloadable, expires_at, created_at, share_id)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      select printf('${id.slice(0, 13)}-8000-8000-%012x', i), ?, 'track', '', '{}', '[]', 0, ${ends}, ${created_at}, ? from n`,
    organization_id,
    share_id,
  )
}

/** Inserts playlist entries `from`…`to` in playlists that no test uses, with 100 tracks in each. */
export const seedPlaylistEntries = (from: number, to: number) =>
  insertRows('playlist_tracks', from, to, {
    id: `printf('00000006-0000-4000-8000-%012x', i)`,
    playlist_id: `printf('00000004-0000-4000-8000-%012x', i / 100)`,
    track_id: `printf('00000005-0000-4000-8000-%012x', i)`,
    position: 'i % 100',
  })

/** Inserts events `from`…`to` of an organization, which are older than all other events. */
export const seedEvents = (from: number, to: number, { organization_id }: { organization_id: string }) =>
  insertRows('events', from, to, {
    organization_id: `'${organization_id}'`,
    seq: 'i',
    id: `printf('00000009-0000-4000-8000-%012x', i)`,
    type: `'api_key.revoked'`,
    subject: `'api_key:' || ${id('api_keys')}`,
    data: `json_object('api_key_id', ${id('api_keys')}, 'type', 'player')`,
    created_at: 'i',
  })

/** Inserts deliveries of these events to an endpoint. */
export const seedDeliveries = (from: number, to: number, endpoint_id: string) =>
  insertRows('webhook_deliveries', from, to, {
    endpoint_id: `'${endpoint_id}'`,
    seq: 'i',
    state: `iif(i % 2, 'delivered', 'failed')`,
    attempt: 1,
  })
