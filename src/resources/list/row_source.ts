import { type SQL, sql } from 'drizzle-orm'

import { type Batches, type Database, inJsonList } from '../../adapters/db/database.ts'
import { listCounts } from '../../adapters/db/schema/counters.ts'
import { collections, playlists, tracks } from '../../adapters/db/schema/library.ts'
import { searchFills } from '../../adapters/db/schema/work.ts'
import { type Kind, matchExpression, numberOf, ROWID } from '../../adapters/db/search.ts'
import { titlesExpression } from '../../adapters/db/search_titles.ts'
import { ApiError } from '../../core/errors.ts'

/** Selects the source of the rows of a list that is searched, sorted or filtered: either one index or the search (docs/decisions/0051). */

/**
 * Maximum number of rows that are read: to be sorted in memory, as matches of a query that are sorted or filtered, and in an order that an index has.
 * A sorted match costs four rows: in the search, in its table, for its collection, and in the sorter.
 */
export const MAX_SORTED = 5000
export const MAX_MATCHES = 1001
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
  filters: Record<string, FilterValue | undefined>
  /** Whether the words of `q`, which all have trigrams, are also searched in the middle of the words of titles. */
  inTitles?: boolean
  /** The sort key, with a minus for descending order: `title`, `-title`, … */
  sort: string
  /** The item after which the page starts, as in `positionOf`. */
  after?: string | undefined
  /** A query for the exact count, or for null if it is too expensive. */
  total?: SQL
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
/** The sort keys of each kind, with the expressions of their indexes (src/adapters/db/schema/expression_indexes.sql). */
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

export interface Candidates {
  /** A query that selects the row ids, in a column named `at`. */
  from: SQL
  /** The same query, from the item on after which the page starts. */
  rest: SQL
  /** Maximum number of rows that are read. */
  most: number
  /** Whether the rows are already in the requested order. */
  ordered: boolean
  /** Names of the filters that all candidates already match. `only` stands for the condition of the sort key. */
  passed: string[]
}

export interface Sizes {
  /** Number of rows in the list and for each filter, if `list_counts` contains these numbers. */
  of: Record<string, number>
  /** The exact number of results; only known if the list has at most one filter. */
  exact?: number
}

/** The value of a filter. Only `status` takes several. */
export type FilterValue = string | string[]
export const valuesOf = (value: FilterValue): string[] => (typeof value === 'string' ? [value] : value)

/** Returns the condition of a filter. */
function isMatch(name: string, value: FilterValue): SQL {
  const [first, ...others] = valuesOf(value)
  const column = sql.raw(`"${name}"`)
  return others.length > 0 ? sql`${column} in ${inJsonList([first, ...others])}` : sql`${column} = ${first}`
}

/** Returns the filters of a list that have a value. */
const filtersOf = ({ filters }: Search) =>
  Object.entries(filters).filter((entry): entry is [string, FilterValue] => entry[1] !== undefined)

/** Returns the conditions that the candidates of a list do not match yet. */
export function remainingFilters(search: Search, { passed }: Pick<Candidates, 'passed'>): SQL[] {
  const { collection_id } = search
  const { only } = keyOf(search)
  return [
    ...filtersOf(search).flatMap(([name, value]) => (passed.includes(name) ? [] : [isMatch(name, value)])),
    ...(collection_id && !passed.includes('collection_id') ? [sql`collection_id = ${collection_id}`] : []),
    ...(only && !passed.includes('only') ? [only] : []),
  ]
}

export const keyOf = ({ kind, sort }: Search) => KEYS[kind][sort.replace('-', '')]!
export const wayOf = ({ sort }: Search) => (sort.startsWith('-') ? sql`desc` : sql`asc`)

/** SQL for the position of a row in the order of a list: its id, a dot, and the value of the sort key. */
export const positionOf = (search: Search) => sql<string>`${TABLES[search.kind].id} || '.' || ${keyOf(search).by}`

const rowOf = ({ kind }: Search, id: string) => sql`(select rowid from ${TABLES[kind]} where id = ${id})`

/**
 * Returns the conditions for the rows after the position of the request: those with the same value of the sort key, and the others. If the row of the
 * position is gone, all rows with its value are repeated, so that none is missing.
 */
function laterRows(search: Search, after: string, next: SQL) {
  const { by, next: tie } = keyOf(search)
  const [id, text] = [after.slice(0, 36), after.slice(37)]
  const value = search.sort.endsWith('title') ? text : Number(text)
  const [sign, end] = search.sort.startsWith('-') ? [sql`<`, Number.MAX_SAFE_INTEGER] : [sql`>`, -1]
  const from = tie ? sql`${id}` : sql`coalesce(${rowOf(search, id)}, ${end})`
  return { same: sql`${by} = ${value} and ${tie ?? next} ${sign} ${from}`, others: sql`${by} ${sign} ${value}` }
}

/** Returns the condition for the rows after the position of the request; undefined if the page starts by offset. */
export function isLater(search: Search): SQL | undefined {
  if (search.after === undefined) return undefined
  const { same, others } = laterRows(search, search.after, sql`${TABLES[search.kind]}.rowid`)
  return sql`(${others} or (${same}))`
}

/** Returns the condition for the rows of the search after the position of the request, in order of creation. */
function isLaterMatch(search: Search): SQL {
  const { kind, organization_id, sort, after } = search
  if (after === undefined) return sql``
  const { by } = keyOf(search)
  const value = Number(after.slice(37))
  const [sign, near, way, step] =
    sort === 'created_at' ? [sql`>`, sql`>=`, sql`asc`, -1] : [sql`<`, sql`<=`, sql`desc`, 1]
  const neighbor = sql`(select rowid + ${step} from ${TABLES[kind]} where organization_id = ${organization_id} and ${by} ${near} ${value}
    order by ${by} ${way}, rowid ${way} limit 1)`
  const row = sql`coalesce(${rowOf(search, after.slice(0, 36))}, ${neighbor})`
  return sql`and rowid ${sign} (select ${sql.raw(numberOf(kind, 'at'))} from (select ${row} as at))`
}

const ownerOf = ({ collection_id, organization_id }: Search) =>
  collection_id ? sql`collection_id = ${collection_id}` : sql`organization_id = ${organization_id}`

/** Selects the rows of an index in the order of the list. */
function indexed(search: Search, index: string, where: SQL) {
  const { by, next = sql`rowid` } = keyOf(search)
  const way = wayOf(search)
  const select = (condition: SQL) =>
    sql`select rowid as at from ${TABLES[search.kind]} indexed by ${sql.raw(index)} where ${where} and ${condition}
      order by ${by} ${way}, ${next} ${way}`
  const from = select(sql`true`)
  if (search.after === undefined) return { from, rest: from }
  const { same, others } = laterRows(search, search.after, sql`rowid`)
  const part = (condition: SQL) => sql`select at from (${select(condition)} limit ${MAX_SCANNED})`
  return { from, rest: sql`${part(same)} union all ${part(others)}` }
}

/** Scans all rows, or all rows of the collection, in the requested order. */
function scan(search: Search): Candidates {
  const { organization_id, sort } = search
  const { index, only } = keyOf(search)
  const isPlace = sort.endsWith('order')
  const where = isPlace ? ownerOf(search) : sql`organization_id = ${organization_id}`
  return {
    ...indexed(search, index, only ? sql`${where} and ${only}` : where),
    most: MAX_SCANNED,
    ordered: true,
    passed: isPlace ? ['collection_id'] : ['only'],
  }
}

/** Returns the matches of the words and of the filters that the search contains. */
function matches(search: Search, words: string[]): Candidates {
  const { kind, organization_id, collection_id, sort } = search
  const scope = { organization_id, collection_id, ...search.filters }
  const titles = () => titlesExpression(kind, organization_id, words)
  // If there are more rows than the maximum, the newest ones are read. If the first ones come first in the list, these are read.
  const isAscending = sort === 'created_at' || sort === 'order'
  const select = (later: SQL) => {
    const found = sql`select rowid from search where search match ${matchExpression(kind, scope, words)} ${later}`
    const inTitles = search.inTitles
      ? sql`union select rowid from search_titles where search_titles match ${titles()} ${later}`
      : sql``
    return sql`select ${sql.raw(ROWID)} as at from (${found} ${inTitles} order by rowid ${isAscending ? sql`asc` : sql`desc`})`
  }
  const ordered = sort.endsWith('created_at')
  const from = select(sql``)
  return {
    from,
    rest: ordered ? select(isLaterMatch(search)) : from,
    most: words.length > 0 ? MAX_MATCHES : MAX_SORTED,
    ordered,
    passed: search.inTitles ? [] : ['creator_id', 'organization_index', 'collection_id'],
  }
}

/** Returns the search as the source of the rows, for words or only for filters. */
export function chooseMatches(search: Search, words: string[]): Candidates {
  const found = matches(search, words)
  const isFiltered = remainingFilters(search, found).length > 0
  // Matches in their own order are read only as far as the page and the count need.
  return found.ordered && !isFiltered ? { ...found, most: MAX_SCANNED } : found
}

/** The tracks that failed, in order of creation. */
function failures(search: Search): Candidates {
  const failed = sql`${ownerOf(search)} and status in ('failed', 'incomplete')`
  const ordered = search.sort.endsWith('created_at')
  const byAge = ordered ? search : { ...search, sort: '-created_at', after: undefined }
  const most = ordered ? MAX_SCANNED : MAX_SORTED
  return { ...indexed(byAge, 'tracks_failed', failed), most, ordered, passed: [] }
}

const isFailed = (value: string) => value === 'failed' || value === 'incomplete'

/** Returns the sources that a list without words may have, which are used if they are not too long. */
function shortSources(search: Search) {
  const { kind, collection_id, counted, sort } = search
  const { creator_id, organization_index, status } = search.filters
  const isNamed = creator_id !== undefined || organization_index !== undefined
  // No count is stored for both filters together. The search contains both values as words, and its rows are in order of creation.
  const isBoth = sort.endsWith('created_at') && creator_id !== undefined && organization_index !== undefined
  return {
    named: (isNamed && counted === null) || isBoth ? chooseMatches(search, []) : null,
    failed:
      kind === 'tracks' && !collection_id && status !== undefined && valuesOf(status).every(isFailed)
        ? failures(search)
        : null,
  }
}

/** Whether there are more candidates than the maximum, as a statement. */
const countedRows = (db: Database, { from, most }: Candidates) =>
  db.select({ rows: sql<number>`count(*)`.as('rows') }).from(sql`(${from} limit ${most + 1})`)

/**
 * Reads what decides about the source of a list without words: the stored counts, and the lengths of short sources. Nothing is read if there is no
 * choice.
 */
export async function planSource(batches: Batches, search: Search) {
  const { db } = batches
  const { counted } = search
  const filters = filtersOf(search)
  const { named, failed } = shortSources(search)
  const names: Record<string, string[]> = counted === null ? {} : { list: [counted] }
  if (counted !== null)
    for (const [name, value] of filters) names[name] = valuesOf(value).map((each) => `${counted}?${name}=${each}`)
  const { list, count } = listCounts
  const stored = db
    .select({ list, count })
    .from(listCounts)
    .where(sql`${list} in ${inJsonList(Object.values(names).flat())} and level = 0 and bucket = 0`)
  const filling = db.select({ kind: searchFills.kind }).from(searchFills).limit(1)
  const lengths = [named, failed].map((source) => (source && !source.ordered ? countedRows(db, source) : null))
  const statements = [
    ...(counted === null ? [] : [stored]),
    ...(named ? [filling] : []),
    ...lengths.filter((length) => length !== null),
  ]
  let isFilling = false
  let resultOf = null
  try {
    resultOf = statements.length > 0 ? await withSearchIndex(() => batches.run(statements)) : null
  } catch (error) {
    // Without the search, the other sources are used.
    if (!(error instanceof ApiError)) throw error
    isFilling = true
    resultOf = counted === null ? null : await batches.run([stored])
  }
  const counts = new Map(
    (counted === null || !resultOf ? [] : resultOf(stored)).map(({ list, count }) => [list, count]),
  )
  const of = Object.fromEntries(
    Object.entries(names).map(([name, lists]) => [name, lists.reduce((sum, list) => sum + (counts.get(list) ?? 0), 0)]),
  )
  const sizes: Sizes = { of, ...(counted !== null && filters.length <= 1 && { exact: of[filters[0]?.[0] ?? 'list']! }) }
  isFilling ||= named !== null && resultOf !== null && resultOf(filling).length > 0
  const isShort = (source: Candidates | null, length: (typeof lengths)[number]) =>
    source !== null &&
    (length === null || (!isFilling && resultOf !== null && resultOf(length)[0]!.rows <= source.most))
  return {
    sizes,
    named: isFilling ? null : named && (isShort(named, lengths[0]!) ? named : scan(search)),
    failed: failed && (isShort(failed, lengths[1]!) ? failed : scan(search)),
  }
}
type SourcePlan = Awaited<ReturnType<typeof planSource>>

/** Chooses the source of the rows of a list without words: the shortest counted list that contains the rows, otherwise an index in the requested order. */
export function chooseSource(search: Search, { sizes, named, failed }: SourcePlan, most: number): Candidates {
  if (named) return named
  const { kind, collection_id } = search
  const filters = filtersOf(search)
  const [smallest, size] = Object.entries(sizes.of).reduce((a, b) => (b[1] < a[1] ? b : a), ['', Infinity])
  const isWhole = filters.length === 0 && !collection_id
  if (size <= most && !isWhole) {
    const filter = filters.find(([name]) => name === smallest)
    const suffix = { list: 'list', creator_id: 'creator', organization_index: 'index', status: 'status' }[smallest]!
    const owner = ownerOf(search)
    const where = filter ? sql`${owner} and ${isMatch(...filter)}` : owner
    const from = sql`select rowid as at from ${TABLES[kind]} indexed by ${sql.raw(`${kind}_${suffix}`)} where ${where}`
    return { from, rest: from, most, ordered: false, passed: [smallest, 'collection_id'] }
  }
  return failed ?? scan(search)
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
