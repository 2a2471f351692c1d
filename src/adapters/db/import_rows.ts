import type { Row } from '../../contract/backup.ts'
import { columnsOf, field, insertSql, RESTORED, valuesOf } from './backup.ts'
import { OWN } from './organization_tables.ts'

/** How an import writes the rows of one organization next to those of others (docs/decisions/0128). */

/** `next_check_at` of tracks that wait for an upload while their organization is imported. */
export const PAUSED = 9_000_000_000_000_000

/**
 * The columns that an import changes, in SQL. A key has the hash of no secret, and an endpoint a secret that cannot be decrypted, until they are rotated. The
 * sweep does not check uploads before the organization exists, and no request finds a share by its hidden slug.
 */
const IMPORTED: Record<string, Record<string, string>> = {
  tracks: {
    ...RESTORED.tracks,
    next_check_at: `iif(${field('awaiting_upload')}, ${PAUSED}, ${field('next_check_at')})`,
  },
  api_keys: { hash: 'lower(hex(randomblob(32)))' },
  webhook_endpoints: { ...RESTORED.webhook_endpoints, secret: `''` },
  shares: { slug: `(${field('id')}) || ':' || (${field('slug')})` },
  organizations: { id: '?2', seq: '(select coalesce(max(seq), 0) + 1 from organizations)' },
}

/** Columns by which a row belongs to an organization, itself or through a track or a share. */
const OWNERS = ['organization_id', 'track_id', 'share_id']

/**
 * Inserts rows of an organization that is imported. Rows that exist are left as they are. Returns the key of a row that the table does not have after it,
 * because another organization has its id or slug, or because a value is missing; null if all are there.
 */
export async function importRows(
  d1: D1Database,
  organization_id: string,
  name: string,
  rows: Row[],
): Promise<string | null> {
  const [columns = []] = await columnsOf(d1, [name])
  const owned: Record<string, string> = { organization_id: '?2', ...IMPORTED[name] }
  const compared = columns.filter((column) => column.pk > 0 || OWNERS.includes(column.name))
  const keys = columns.filter(({ pk }) => pk > 0)
  const isThere = compared.map((column) => `${name}."${column.name}" is ${valuesOf([column], owned)[0]}`)
  const bind = (sql: string) => d1.prepare(`${sql} and ?2 is not null`).bind(JSON.stringify(rows), organization_id)
  const [, lacking] = await d1.batch<{ key: string }>([
    bind(`${insertSql(name, columns, owned)} where true`),
    bind(`select ${keys.map((column) => `(${field(column.name)})`).join(` || ' ' || `)} as key from json_each(?1)
      where not exists (select 1 from ${name} where ${isThere.join(' and ')})`),
  ])
  return lacking?.results[0]?.key ?? null
}

/** Whether a slug, of a share or a former one, is the hidden slug of a share that is imported. `id` is the column with the id of the share. */
export const isHidden = (id: string) => `substr(slug, 1, 37) = ${id} || ':'`

/** Reserves the slugs of shares, so that no other share gets one before the shares are shown. Returns those that other shares have or had. */
export async function reserveSlugs(d1: D1Database, organization_id: string, shares: Row[]): Promise<string[]> {
  const reserve =
    'insert or ignore into retired_slugs (slug, share_id) select value ->> 0, value ->> 1 from json_each(?)'
  const slugs = shares.map(({ slug, id }): [string, string] => [String(slug), String(id)])
  const taken = await takenBy(d1, organization_id, [], slugs)
  if (taken.slugs.length > 0) return taken.slugs
  await d1.prepare(reserve).bind(JSON.stringify(slugs)).run()
  // A share may have got one of the slugs before it was reserved.
  return (await takenBy(d1, organization_id, [], slugs)).slugs
}

/** Inserts the row of an organization, and shows its shares. Returns whether the row is there. */
export async function showOrganization(d1: D1Database, organization_id: string, row: Row): Promise<boolean> {
  const [columns = []] = await columnsOf(d1, ['organizations'])
  const own = `share_id in (select id from shares where ${OWN})`
  const statements = [
    d1
      .prepare(insertSql('organizations', columns, IMPORTED.organizations))
      .bind(JSON.stringify([row]), organization_id),
    ...[
      `update shares set slug = substr(slug, 38) where ${OWN} and ${isHidden('id')} and exists (select 1 from organizations where id = ?1)`,
      `delete from retired_slugs where ${own} and (${isHidden('share_id')} or slug in (select slug from shares where id = share_id))`,
      'select 1 from organizations where id = ?1',
    ].map((sql) => d1.prepare(sql).bind(organization_id)),
  ]
  const results = await d1.batch(statements)
  return results.at(-1)!.results.length > 0
}

/** The tables with rows that have random ids. */
const WITH_ID = [
  'collections',
  'playlists',
  'tracks',
  'trash',
  'variants',
  'upload_sessions',
  'shares',
  'api_keys',
  'webhook_endpoints',
]

/** Returns those of the ids that rows of other organizations have, and those of the slugs that other shares have or had. */
export async function takenBy(
  d1: D1Database,
  organization_id: string,
  ids: string[],
  slugs: [slug: string, share_id: string][],
): Promise<{ ids: string[]; slugs: string[] }> {
  const idsTaken = WITH_ID.map((name) =>
    d1
      .prepare(
        `select id as taken from ${name} where id in (select value from json_each(?2)) and organization_id <> ?1`,
      )
      .bind(organization_id, JSON.stringify(ids)),
  )
  const slugsTaken = ['shares where id', 'retired_slugs where share_id'].map((rows) =>
    d1
      .prepare(
        `select value ->> 0 as taken from json_each(?1) where exists (select 1 from ${rows} <> value ->> 1 and slug = value ->> 0)`,
      )
      .bind(JSON.stringify(slugs)),
  )
  const results = await d1.batch<{ taken: string }>([...idsTaken, ...slugsTaken])
  const [found, foundSlugs] = [results.slice(0, WITH_ID.length), results.slice(WITH_ID.length)].map((part) => [
    ...new Set(part.flatMap((result) => result.results.map(({ taken }) => taken))),
  ])
  return { ids: found!, slugs: foundSlugs! }
}

/** Whether something of a deleted organization is still being deleted: its rows or files by a job, or its endpoints or listening by the sweep. */
export async function isBeingDeleted(d1: D1Database, organization_id: string): Promise<boolean> {
  const rows = [
    `jobs where ${OWN} and state = 'open'`,
    `webhook_endpoints where ${OWN}`,
    `listening_folds where ${OWN}`,
  ]
  const found = await d1
    .prepare(rows.map((from) => `select 1 from (select 1 from ${from} limit 1)`).join(' union all '))
    .bind(organization_id)
    .first()
  return found !== null
}
