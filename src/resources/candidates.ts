import { type SQL, sql } from 'drizzle-orm'

import { among, type Database } from '../adapters/database.ts'
import { collections, playlists, tracks } from '../adapters/schema.ts'
import { type Kind, matching, ROWID } from '../adapters/search.ts'
import { searchFills } from '../adapters/work_schema.ts'
import { ApiError } from '../errors.ts'

/** Where the rows of a list come from that is searched, sorted or filtered: one index, or the search (docs/decisions/0051). */

/** Candidates that are put in order in memory, and those that are looked at in an order that they have. */
export const MOST_SORTED = 5000
const MOST_MATCHES = 10_000
export const MOST_WALKED = 100_000

/** What a list is asked for. */
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
export const KEYS: Record<Kind, Keys> = {
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

interface Sizes {
  /** Rows of the list, and of each filter, as far as they are counted. */
  of: Record<string, number>
  /** Of the whole question, where it is one of these. */
  exact?: number
}

/** What is known of how many there are. */
export async function sizesOf(db: Database, { counted }: Search, filters: [string, string][]): Promise<Sizes> {
  if (counted === null) return { of: {} }
  const names: Record<string, string> = { list: counted }
  for (const [name, value] of filters) names[name] = `${counted}?${name}=${value}`
  const rows = await db.all<{ list: string; count: number }>(sql`select list, count from list_counts
    where list in ${among(Object.values(names))} and level = 0 and bucket = 0`)
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
export async function choose(
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

/** Whether there are more candidates than are looked at. */
export async function isFull(db: Database, { from, most }: Candidates): Promise<boolean> {
  const looked = sql`select count(*) as looked from (${from} limit ${most + 1})`
  return (await db.get<{ looked: number }>(looked)).looked > most
}

/** While the search is made again there is none. */
export async function searching<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!/no such table: search\b/.test(String((error as Error).cause ?? error))) throw error
    throw new ApiError('unavailable', 'The search is being made; try again in a minute', undefined, {
      'retry-after': '60',
    })
  }
}
