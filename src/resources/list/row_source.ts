import { type SQL, sql } from 'drizzle-orm'

import { inJsonList, type Database } from '../../adapters/db/database.ts'
import { collections, playlists, tracks } from '../../adapters/db/schema/library.ts'
import { searchFills } from '../../adapters/db/schema/work.ts'
import { type Kind, matchExpression, ROWID } from '../../adapters/db/search.ts'
import { titlesExpression } from '../../adapters/db/search_titles.ts'
import { ApiError } from '../../core/errors.ts'

/** Selects the source of the rows of a list that is searched, sorted or filtered: either one index or the search (docs/decisions/0051). */

/** Maximum number of rows that are read: to be sorted in memory, as matches of the search, and in an order that an index has. */
export const MAX_SORTED = 5000
const MAX_MATCHES = 10_000
export const MAX_SCANNED = 100_000

/** The parameters of a list. */
export interface Search {
  kind: Kind
  organization_id: string
  /** Only for tracks: limits the list to this collection. */
  collection_id?: string
  /** The list's name in `list_counts`; null if it is not counted there. */
  counted: string | null
  q?: string | undefined
  /** Columns with the values that they must have. */
  filters: Record<string, string | undefined>
  /** Whether the words of `q`, which all have trigrams, are also searched in the middle of the words of titles. */
  inTitles?: boolean
  /** The sort key, with a minus for descending order: `title`, `-title`, … */
  sort: string
}

/** The table of each kind. */
export const TABLES = { tracks, collections, playlists }

/** Sort keys by name. Each has an expression, an index, a condition for the rows in the index, and the index's tiebreaker. */
type Keys = Record<string, { by: SQL; index: string; only?: SQL; next?: SQL }>
const updated_at = sql`coalesce(updated_at, created_at)`
const listKeys = (kind: Kind): Keys => ({
  title: { by: sql`title collate nocase`, index: `${kind}_title` },
  created_at: { by: sql`seq`, index: `${kind}_list` },
  updated_at: { by: updated_at, index: `${kind}_updated` },
})
/** The sort keys of each kind, with the expressions of their indexes (drizzle/0001_triggers.sql). */
export const KEYS: Record<Kind, Keys> = {
  tracks: {
    order: { by: sql`"order"`, index: 'tracks_list', next: sql`id` },
    title: { by: sql`coalesce(player_title, tags ->> '$.title', file_name) collate nocase`, index: 'tracks_title' },
    created_at: { by: sql`created_at`, index: 'tracks_created' },
    updated_at: { by: updated_at, index: 'tracks_updated' },
    // The index only contains tracks whose duration is known.
    duration: { by: sql`duration`, index: 'tracks_duration', only: sql`duration > 0` },
  },
  collections: listKeys('collections'),
  playlists: listKeys('playlists'),
}

interface Candidates {
  /** A query that selects the row ids, in a column named `at`. */
  from: SQL
  /** Maximum number of rows that are read. */
  most: number
  /** Whether the rows are already in the requested order. */
  ordered: boolean
  /** Names of the filters that all candidates already match. `only` stands for the condition of the sort key. */
  passed: string[]
}

interface Sizes {
  /** Number of rows in the list and for each filter, if `list_counts` contains these numbers. */
  of: Record<string, number>
  /** The exact number of results; only known if the list has at most one filter. */
  exact?: number
}

/** Returns the values of a filter. Only `status` takes several, separated by commas. */
export const valuesOf = (name: string, value: string): string[] => (name === 'status' ? value.split(',') : [value])

/** Returns the condition of a filter. */
export function isMatch(name: string, value: string): SQL {
  const [first, ...others] = valuesOf(name, value)
  const column = sql.raw(`"${name}"`)
  return others.length > 0 ? sql`${column} in ${inJsonList([first, ...others])}` : sql`${column} = ${first}`
}

/** Reads the stored counts of a list and its filters. */
export async function sizesOf(db: Database, { counted }: Search, filters: [string, string][]): Promise<Sizes> {
  if (counted === null) return { of: {} }
  const names: Record<string, string[]> = { list: [counted] }
  for (const [name, value] of filters) names[name] = valuesOf(name, value).map((each) => `${counted}?${name}=${each}`)
  const rows = await db.all<{ list: string; count: number }>(sql`select list, count from list_counts
    where list in ${inJsonList(Object.values(names).flat())} and level = 0 and bucket = 0`)
  const counts = new Map(rows.map(({ list, count }) => [list, count]))
  const of = Object.fromEntries(
    Object.entries(names).map(([name, lists]) => [name, lists.reduce((sum, list) => sum + (counts.get(list) ?? 0), 0)]),
  )
  return { of, ...(filters.length <= 1 && { exact: of[filters[0]?.[0] ?? 'list']! }) }
}

const ownerOf = ({ collection_id, organization_id }: Search) =>
  collection_id ? sql`collection_id = ${collection_id}` : sql`organization_id = ${organization_id}`

/** Selects the rows of an index, ordered by `order` and then `next`. */
function indexed({ kind, sort }: Search, index: string, where: SQL, order?: SQL, next = sql`rowid`): SQL {
  const way = sort.startsWith('-') ? sql`desc` : sql`asc`
  const ordered = order ? sql`order by ${order} ${way}, ${next} ${way}` : sql``
  return sql`select rowid as at from ${TABLES[kind]} indexed by ${sql.raw(index)} where ${where} ${ordered}`
}

/** Scans all rows, or all rows of the collection, in the requested order. */
function scan(search: Search): Candidates {
  const { kind, organization_id, sort } = search
  const name = sort.replace('-', '')
  const { by, index, only, next } = KEYS[kind][name]!
  const isPlace = name === 'order'
  const where = isPlace ? ownerOf(search) : sql`organization_id = ${organization_id}`
  return {
    from: indexed(search, index, only ? sql`${where} and ${only}` : where, by, next),
    most: MAX_SCANNED,
    ordered: true,
    passed: isPlace ? ['collection_id'] : ['only'],
  }
}

/**
 * Chooses the source of the rows: the search if there is a query, otherwise the shortest counted list that contains the rows, otherwise an index in
 * the requested order.
 */
export async function chooseCandidates(
  db: Database,
  search: Search,
  filters: [string, string][],
  words: string[] | null,
  sizes: Sizes,
  most: number,
): Promise<Candidates> {
  const { kind, organization_id, collection_id, sort } = search
  const ordered = sort.endsWith('created_at')
  const has = (filter: string) => filters.some(([name]) => name === filter)

  const isCounted = sizes.of.list !== undefined
  const isNamed = has('creator_id') || has('organization_index')
  // No count is stored for both filters together. The search contains both values as words, and its rows are in order of creation.
  const isBoth = ordered && has('creator_id') && has('organization_index')
  if (words || (((isNamed && !isCounted) || isBoth) && !(await isFilling(db)))) {
    const scope = { organization_id, collection_id, ...search.filters }
    const found = sql`select rowid from search where search match ${matchExpression(kind, scope, words ?? [])}`
    const inTitles = search.inTitles
      ? sql`union select rowid from search_titles where search_titles match ${titlesExpression(kind, organization_id, words ?? [])}`
      : sql``
    // If there are more rows than the maximum, the newest ones are read, or for an ascending order of creation, the oldest ones.
    const way = sort === 'created_at' ? sql`asc` : sql`desc`
    const from = sql`select ${sql.raw(ROWID)} as at from (${found} ${inTitles} order by rowid ${way})`
    const passed = search.inTitles ? [] : ['creator_id', 'organization_index', 'collection_id']
    const matches = { from, most: MAX_MATCHES, ordered, passed }
    return words || ordered ? matches : matchesOrScan(db, search, matches)
  }

  const [smallest, size] = Object.entries(sizes.of).reduce((a, b) => (b[1] < a[1] ? b : a), ['', Infinity])
  const isWhole = filters.length === 0 && !collection_id
  if (size <= most && !isWhole) {
    const filter = filters.find(([name]) => name === smallest)
    const suffix = { list: 'list', creator_id: 'creator', organization_index: 'index', status: 'status' }[smallest]!
    const owner = ownerOf(search)
    const where = filter ? sql`${owner} and ${isMatch(...filter)}` : owner
    return {
      from: indexed(search, `${kind}_${suffix}`, where),
      most,
      ordered: false,
      passed: [smallest, 'collection_id'],
    }
  }

  const { status } = search.filters
  const isFailed = (value: string) => value === 'failed' || value === 'incomplete'
  if (!collection_id && status !== undefined && valuesOf('status', status).every(isFailed)) {
    const failed = sql`${ownerOf(search)} and status in ('failed', 'incomplete')`
    const from = indexed(search, 'tracks_failed', failed, sql`created_at`)
    const failures = { from, most: MAX_MATCHES, ordered, passed: [] }
    return ordered ? failures : matchesOrScan(db, search, failures)
  }
  return scan(search)
}

/** Whether the search index does not contain all rows yet. */
const isFilling = async (db: Database) =>
  (await db.select({ kind: searchFills.kind }).from(searchFills).limit(1)).length > 0

/** If there are more matches than the maximum, scans the rows in the requested order instead. */
const matchesOrScan = async (db: Database, search: Search, candidates: Candidates) =>
  (await withSearchIndex(() => isFull(db, candidates))) ? scan(search) : candidates

/** Whether there are more candidates than the maximum. */
export async function isFull(db: Database, { from, most }: Candidates): Promise<boolean> {
  const counted = sql`select count(*) as count from (${from} limit ${most + 1})`
  return (await db.get<{ count: number }>(counted)).count > most
}

/** Runs a query on the search index. Throws `unavailable` while the index is being rebuilt, because its table does not exist then. */
export async function withSearchIndex<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!/no such table: search(_titles)?\b/.test(String((error as Error).cause ?? error))) throw error
    throw new ApiError('unavailable', 'The search index is being rebuilt; try again in a minute', undefined, {
      'retry-after': '60',
    })
  }
}
