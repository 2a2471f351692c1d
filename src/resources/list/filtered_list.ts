import { and, sql } from 'drizzle-orm'
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types'
import type { SelectedFields } from 'drizzle-orm/sqlite-core'

import type { Database } from '../../adapters/db/database.ts'
import { wordsOf } from '../../adapters/db/fold.ts'
import { isInCollection } from '../../adapters/db/schema/library.ts'
import { trash } from '../../adapters/db/schema/trash.ts'
import { hasTrigrams } from '../../adapters/db/search_titles.ts'
import type { Page } from '../../contract/common.ts'
import { MAX_FILTERED_OFFSET, MAX_WORDS } from '../../contract/facts.ts'
import { invalid } from '../../core/errors.ts'
import {
  chooseCandidates,
  isFull,
  isMatch,
  KEYS,
  MAX_SORTED,
  MAX_SCANNED,
  type Search,
  withSearchIndex,
  sizesOf,
  TABLES,
} from './row_source.ts'
import { suggest } from './suggestion.ts'

/**
 * Lists that are searched, sorted, or filtered by several columns (docs/decisions/0051). All of them are read in the same way: a limited number of
 * candidates is read from one index or from the search, and then filtered, sorted and paged.
 */

/** Maximum `count` that is exact in lists without a stored count. */
export const MAX_COUNTED = 1000

/** If the words of a query begin words of fewer rows, they are also searched in the middle of the words of titles. */
const FEW = 20

/** A page of a list. `suggestion` is only set if there is a query. */
export interface Found<C extends SelectedFields> {
  rows: SelectResultFields<C>[]
  count: number
  is_count_exact?: false
  suggestion?: string | null
}

/**
 * Returns a page of a list, its count, and whether the count is exact. `columns` are read only for the rows on the page. If a query finds nothing, a
 * corrected query that finds something is suggested.
 */
export async function find<C extends SelectedFields>(
  db: Database,
  search: Search,
  columns: C,
  page: Page,
): Promise<Found<C>> {
  if (search.q === undefined) return findRows(db, search, columns, page)
  const found = await findRows(db, search, columns, page)
  const isRare = found.count < FEW && wordsOf(search.q).every(hasTrigrams)
  const all = isRare ? await findRows(db, { ...search, inTitles: true }, columns, page) : found
  const suggestion = all.count === 0 ? await suggest(db, search) : null
  return { ...all, suggestion: suggestion && (await finds(db, { ...search, q: suggestion })) ? suggestion : null }
}

const finds = async (db: Database, search: Search) =>
  (await findRows(db, search, { kind: sql`1`.as('kind') }, { limit: 1, offset: 0 })).count > 0

async function findRows<C extends SelectedFields>(
  db: Database,
  search: Search,
  columns: C,
  { limit, offset }: Page,
  most = MAX_SORTED,
): Promise<Found<C>> {
  if (offset > MAX_FILTERED_OFFSET)
    throw invalid(
      'offset',
      `must be at most ${MAX_FILTERED_OFFSET} in a list with a search, a filter or an order, not ${offset}`,
    )
  const { kind, organization_id, collection_id } = search
  const words = search.q === undefined ? null : wordsOf(search.q)
  if (words && words.length > MAX_WORDS) throw invalid('q', `must have at most ${MAX_WORDS} words, not ${words.length}`)
  // The query consists only of punctuation, so it has no matches.
  if (words?.length === 0) return { rows: [], count: 0 }
  const filters = Object.entries(search.filters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const descending = search.sort.startsWith('-')
  const key = KEYS[kind][search.sort.replace('-', '')]!
  const way = descending ? sql`desc` : sql`asc`
  const sizes = words ? { of: {} } : await sizesOf(db, search, filters)
  const candidates = await chooseCandidates(db, search, filters, words, sizes, most)
  const table = TABLES[kind]
  // The tracks of a deleted or trashed collection are hidden, although their rows still exist.
  const isVisible = kind === 'tracks' && !collection_id ? isInCollection : undefined
  const remainingFilters = [
    ...filters.filter(([name]) => !candidates.passed.includes(name)).map(([name, value]) => isMatch(name, value)),
    ...(collection_id && !candidates.passed.includes('collection_id') ? [sql`collection_id = ${collection_id}`] : []),
    ...(key.only && !candidates.passed.includes('only') ? [key.only] : []),
  ]
  const countFilters =
    isVisible && (await hasHidden(db, organization_id)) ? [...remainingFilters, isVisible] : remainingFilters
  // Ensures that a wrong search result never shows rows of another organization. The `+` keeps SQLite from using an index for this condition.
  const isOwn = sql`+${table.organization_id} = ${search.organization_id}`
  const hits = sql`(${candidates.from} limit ${candidates.most}) as hit`
  const isHit = sql`${table}.rowid = hit.at`
  const page = db
    .select(columns as never)
    .from(hits)
    // A cross join makes SQLite read the candidates first.
    .crossJoin(table)
    .where(and(isHit, isOwn, ...remainingFilters, isVisible))
    // Candidates that are already sorted keep their order, because sorting them again would read all of them.
    .orderBy(...(candidates.ordered ? [] : [sql`${key.by} ${way}, ${table}.rowid ${way}`]))
    .limit(limit)
    .offset(offset)
  if (sizes.exact !== undefined && !words && !key.only) {
    const rows = await page
    const count = sizes.exact
    if (!collection_id || rows.length >= Math.min(limit, count - offset)) return { rows, count }
    // The scan reached its limit while it read rows of other collections. If the collection is not too long, its rows are sorted instead.
    if (most < count && count <= MAX_SCANNED) return findRows(db, search, columns, { limit, offset }, count)
    return { rows, count, is_count_exact: false }
  }
  const counting =
    countFilters.length === 0
      ? sql`select 1 from ${hits} limit ${MAX_COUNTED + 1}`
      : sql`select 1 from ${hits} cross join ${table} where ${and(isHit, isOwn, ...countFilters)} limit ${MAX_COUNTED + 1}`
  const counted = db.select({ count: sql<number>`count(*)`.as('count') }).from(sql`(${counting})`)
  return withSearchIndex(async () => {
    if (countFilters.length === 0) {
      const [rows, counts] = await db.batch([page, counted])
      return { rows, ...countFields(counts[0]!.count) }
    }
    const rows = await page
    // A page that is not full is the last one, so the position of its last row is the count, and no query is needed.
    const isLast = rows.length < limit && (rows.length > 0 || offset === 0)
    const counts = countFields(isLast ? offset + rows.length : (await counted)[0]!.count)
    const inexact = counts.is_count_exact === false || (await isFull(db, candidates))
    return { rows, ...counts, ...(inexact && { is_count_exact: false }) }
  })
}

/** Whether the organization has trashed collections. Only in this case do counts exclude hidden tracks, because that reads more rows. */
async function hasHidden(db: Database, organization_id: string): Promise<boolean> {
  const hidden = sql`organization_id = ${organization_id} and scope = 'collection'`
  return (await db.select({ id: trash.id }).from(trash).where(hidden).limit(1)).length > 0
}

/** Returns the count fields of a response, given a count that stops at one above the limit. */
const countFields = (count: number): { count: number; is_count_exact?: false } =>
  count > MAX_COUNTED ? { count: MAX_COUNTED, is_count_exact: false } : { count }
