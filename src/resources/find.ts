import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types'
import type { SelectedFields } from 'drizzle-orm/sqlite-core'

import type { Database } from '../adapters/database.ts'
import { collections, playlists, tracks } from '../adapters/schema.ts'
import { type Kind, matching, ROWID, wordsOf } from '../adapters/search.ts'
import { trash } from '../adapters/trash_schema.ts'
import { searchFills } from '../adapters/work_schema.ts'
import type { Page } from '../contract/common.ts'
import { MAX_FILTERED_OFFSET, MAX_WORDS } from '../contract/facts.ts'
import { ApiError, invalid } from '../errors.ts'

/**
 * Lists that are searched, sorted, or filtered by several columns (docs/decisions/0051). All are read in the same way: candidates from one
 * index or from the search, of which at most so many are looked at, then what they are filtered by, their order, and the page.
 */

/** Candidates that are put in order in memory, and those that are looked at in an order that they have. */
export const MOST_SORTED = 5000
const MOST_MATCHES = 10_000
export const MOST_WALKED = 100_000
/** Up to here `count` is exact in lists that nobody keeps a count of. */
export const MOST_COUNTED = 1000

export interface Search {
  kind: Kind
  organization_id: string
  /** Of tracks: only those of this one. */
  collection_id?: string
  /** The list's name in `list_counts`; null: it is not counted there. */
  counted: string | null
  q?: string | undefined
  /** Columns that are compared. */
  filters: Record<string, string | undefined>
  /** `title`, `-title`, … */
  sort: string
}

/** The table of each kind. */
export const TABLES = { tracks, collections, playlists }

/** What is compared, its index, which rows are in that, and what orders those that are equal, as the index does. */
type Keys = Record<string, { by: SQL; index: string; only?: SQL; next?: SQL }>
const updated_at = sql`coalesce(updated_at, created_at)`
const listKeys = (kind: Kind): Keys => ({
  title: { by: sql`title collate nocase`, index: `${kind}_title` },
  created_at: { by: sql`seq`, index: `${kind}_list` },
  updated_at: { by: updated_at, index: `${kind}_updated` },
})
/** What a list is sorted by, as the index has it (drizzle/0012_search.sql). */
const KEYS: Record<Kind, Keys> = {
  tracks: {
    order: { by: sql`"order"`, index: 'tracks_list', next: sql`id` },
    title: { by: sql`coalesce(player_title, tags ->> '$.title', file_name) collate nocase`, index: 'tracks_title' },
    created_at: { by: sql`created_at`, index: 'tracks_created' },
    updated_at: { by: updated_at, index: 'tracks_updated' },
    // Of others it is not known.
    duration: { by: sql`duration`, index: 'tracks_duration', only: sql`duration > 0` },
  },
  collections: listKeys('collections'),
  playlists: listKeys('playlists'),
}

interface Candidates {
  /** Selects their numbers, as `at`. */
  from: SQL
  /** At most so many of them are looked at. */
  most: number
  /** Whether they come in the order that is wanted. */
  ordered: boolean
  /** Filters that they have passed already; `only` is the key's own. */
  passed: string[]
}

const all = (conditions: (SQL | undefined)[]) => {
  const given = conditions.filter((one) => one !== undefined)
  return sql.join(given, sql` and `)
}

/** The page of a list, its count, and whether that is exact. `columns` are read of the rows of the page alone. */
export async function find<C extends SelectedFields>(
  db: Database,
  search: Search,
  columns: C,
  { limit, offset }: Page,
  most = MOST_SORTED,
): Promise<{ rows: SelectResultFields<C>[]; count: number; is_count_exact?: false }> {
  if (offset > MAX_FILTERED_OFFSET) throw invalid('offset', `must be at most ${MAX_FILTERED_OFFSET} in such a list`)
  const { kind, organization_id, collection_id } = search
  const words = search.q === undefined ? null : wordsOf(search.q)
  if (words && words.length > MAX_WORDS) throw invalid('q', `takes at most ${MAX_WORDS} words`)
  // Nothing but signs: nothing has them.
  if (words?.length === 0) return { rows: [], count: 0 }
  const filters = Object.entries(search.filters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const descending = search.sort.startsWith('-')
  const key = KEYS[kind][search.sort.replace('-', '')]!
  const way = descending ? sql`desc` : sql`asc`
  const sizes = await sizesOf(db, search, filters)
  const candidates = await choose(db, search, filters, words, sizes, most)
  const table = TABLES[kind]
  // The tracks of a collection that is deleted, or in the trash, are gone, though their rows are there.
  const lives =
    kind === 'tracks' && !collection_id
      ? sql`exists (select 1 from collections where collections.id = tracks.collection_id)`
      : undefined
  const left = [
    ...filters
      .filter(([name]) => !candidates.passed.includes(name))
      .map(([name, value]) => sql`${getTableColumns(table)[name as never]} = ${value}`),
    ...(collection_id && !candidates.passed.includes('collection_id') ? [sql`collection_id = ${collection_id}`] : []),
    ...(key.only && !candidates.passed.includes('only') ? [key.only] : []),
    ...(lives && (await hasHidden(db, organization_id)) ? [lives] : []),
  ]
  // A search that was wrong must not show rows of others. With the `+` SQLite looks at no index.
  const isOwn = sql`+${table.organization_id} = ${search.organization_id}`
  const hits = sql`(${candidates.from} limit ${candidates.most}) as hit`
  const isHit = sql`${table}.rowid = hit.at`
  const page = db
    .select(columns as never)
    .from(hits)
    // Never the other way round: the candidates come first.
    .crossJoin(table)
    .where(all([isHit, isOwn, ...left, lives]))
    // Candidates in order stay so: a second sorting would read them all.
    .orderBy(...(candidates.ordered ? [] : [sql`${key.by} ${way}, ${table}.rowid ${way}`]))
    .limit(limit)
    .offset(offset)
  if (sizes.exact !== undefined && !words && !key.only) {
    const rows = await page
    const count = sizes.exact
    if (!collection_id || rows.length >= Math.min(limit, count - offset)) return { rows, count }
    // All that is walked was walked, past too many of others: the collection is put in order itself, if that is not too long either.
    if (most < count && count <= MOST_WALKED) return find(db, search, columns, { limit, offset }, count)
    return { rows, count, is_count_exact: false }
  }
  const counting =
    left.length === 0
      ? sql`select 1 from ${hits} limit ${MOST_COUNTED + 1}`
      : sql`select 1 from ${hits} cross join ${table} where ${all([isHit, isOwn, ...left])} limit ${MOST_COUNTED + 1}`
  const counted = db.select({ count: sql<number>`count(*)`.as('count') }).from(sql`(${counting})`)
  return searching(async () => {
    if (left.length === 0) {
      const [rows, counts] = await db.batch([page, counted])
      return { rows, ...upTo(counts[0]!.count) }
    }
    const rows = await page
    // A page that is not full has come to the end, which need not be walked to a second time.
    const isLast = rows.length < limit && (rows.length > 0 || offset === 0)
    const counts = upTo(isLast ? offset + rows.length : (await counted)[0]!.count)
    const inexact = counts.is_count_exact === false || (await isFull(db, candidates))
    return { rows, ...counts, ...(inexact && { is_count_exact: false }) }
  })
}

/** Whether tracks are there whose collection is in the trash: only then are they left out of counts, which costs rows. */
async function hasHidden(db: Database, organization_id: string): Promise<boolean> {
  const hidden = sql`organization_id = ${organization_id} and scope = 'collection'`
  return (await db.select({ id: trash.id }).from(trash).where(hidden).limit(1)).length > 0
}

/** What an answer says of so many, counted up to one more than the most. */
const upTo = (count: number): { count: number; is_count_exact?: false } =>
  count > MOST_COUNTED ? { count: MOST_COUNTED, is_count_exact: false } : { count }

/** Whether there are more candidates than are looked at. */
async function isFull(db: Database, { from, most }: Candidates): Promise<boolean> {
  const looked = sql`(select count(*) from (${from} limit ${most + 1}))`
  const [found] = await db.select({ looked: sql<number>`${looked}`.as('looked') }).from(sql`(select 1)`)
  return found!.looked > most
}

/** While the search is made again there is none. */
async function searching<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!/no such table: search\b/.test(String((error as Error).cause ?? error))) throw error
    throw new ApiError('unavailable', 'The search is being made; try again in a minute', undefined, {
      'retry-after': '60',
    })
  }
}

interface Sizes {
  /** Rows of the list, and of each filter, as far as they are counted. */
  of: Record<string, number>
  /** Of the whole question, where it is one of these. */
  exact?: number
}

async function sizesOf(db: Database, { counted }: Search, filters: [string, string][]): Promise<Sizes> {
  if (counted === null) return { of: {} }
  const names: Record<string, string> = { list: counted }
  for (const [name, value] of filters) names[name] = `${counted}?${name}=${value}`
  const rows = await db.all<{ list: string; count: number }>(sql`select list, count from list_counts
    where list in (select value from json_each(${JSON.stringify(Object.values(names))})) and level = 0 and bucket = 0`)
  const counts = new Map(rows.map(({ list, count }) => [list, count]))
  const of = Object.fromEntries(Object.entries(names).map(([name, list]) => [name, counts.get(list) ?? 0]))
  return { of, ...(filters.length <= 1 && { exact: of[filters[0]?.[0] ?? 'list']! }) }
}

const ownerOf = ({ collection_id, organization_id }: Search) =>
  collection_id ? sql`collection_id = ${collection_id}` : sql`organization_id = ${organization_id}`

/** The rows of an index; `order` and what comes next in it. */
function indexed({ kind, sort }: Search, index: string, where: SQL, order?: SQL, next = sql`rowid`): SQL {
  const way = sort.startsWith('-') ? sql`desc` : sql`asc`
  const ordered = order ? sql`order by ${order} ${way}, ${next} ${way}` : sql``
  return sql`select rowid as at from ${TABLES[kind]} indexed by ${sql.raw(index)} where ${where} ${ordered}`
}

/** All rows, or all of the collection, in the order that is wanted. */
function walk(search: Search): Candidates {
  const { kind, organization_id, sort } = search
  const name = sort.replace('-', '')
  const { by, index, only, next } = KEYS[kind][name]!
  const isPlace = name === 'order'
  const where = isPlace ? ownerOf(search) : sql`organization_id = ${organization_id}`
  return {
    from: indexed(search, index, only ? sql`${where} and ${only}` : where, by, next),
    most: MOST_WALKED,
    ordered: true,
    passed: isPlace ? ['collection_id'] : ['only'],
  }
}

/** Where the rows come from: what is searched, else the smallest list that they are in, else an index in the order that is wanted. */
async function choose(
  db: Database,
  search: Search,
  filters: [string, string][],
  words: string[] | null,
  sizes: Sizes,
  most: number,
): Promise<Candidates> {
  const { kind, organization_id, collection_id, sort } = search
  const ordered = sort.endsWith('created_at')
  const has = (filter: string) => filters.some(([one]) => one === filter)

  const isCounted = sizes.of.list !== undefined
  const isNamed = has('creator_id') || has('organization_index')
  // Of both together nobody keeps a count; the search has them as words, in the order of their creation.
  const isBoth = ordered && has('creator_id') && has('organization_index')
  if (words || (((isNamed && !isCounted) || isBoth) && !(await isFilling(db)))) {
    const scope = { organization_id, collection_id, ...search.filters }
    const from = sql`select ${sql.raw(ROWID)} as at from search where search match ${matching(kind, scope, words ?? [])}`
    const passed = ['creator_id', 'organization_index', 'collection_id']
    // The newest of too many.
    const way = sort === 'created_at' ? sql`asc` : sql`desc`
    const found = { from: sql`${from} order by rowid ${way}`, most: MOST_MATCHES, ordered, passed }
    return words || ordered ? found : first(db, search, found)
  }

  const [smallest, size] = Object.entries(sizes.of).reduce((a, b) => (b[1] < a[1] ? b : a), ['', Infinity])
  const isWhole = filters.length === 0 && !collection_id
  if (size <= most && !isWhole) {
    const at = filters.find(([one]) => one === smallest)
    const suffix = { list: 'list', creator_id: 'creator', organization_index: 'index', status: 'status' }[smallest]!
    const owner = ownerOf(search)
    const where = at ? sql`${owner} and ${sql.raw(`"${at[0]}"`)} = ${at[1]}` : owner
    return {
      from: indexed(search, `${kind}_${suffix}`, where),
      most,
      ordered: false,
      passed: [smallest, 'collection_id'],
    }
  }

  const status = search.filters.status
  if (!collection_id && (status === 'failed' || status === 'incomplete')) {
    const failed = sql`${ownerOf(search)} and status in ('failed', 'incomplete')`
    const from = indexed(search, 'tracks_failed', failed, sql`created_at`)
    const found = { from, most: MOST_MATCHES, ordered, passed: [] }
    return ordered ? found : first(db, search, found)
  }
  return walk(search)
}

/** Whether the search does not know all rows yet. */
const isFilling = async (db: Database) =>
  (await db.select({ kind: searchFills.kind }).from(searchFills).limit(1)).length > 0

/** Of more than are looked at, those that come first in the order that is wanted. */
const first = async (db: Database, search: Search, found: Candidates) =>
  (await searching(() => isFull(db, found))) ? walk(search) : found
