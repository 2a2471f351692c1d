import { and, type SQL, sql } from 'drizzle-orm'
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types'
import type { SelectedFields } from 'drizzle-orm/sqlite-core'

import { type Batches, runBatch, type Statement } from '../../adapters/db/database.ts'
import { wordsOf } from '../../adapters/db/fold.ts'
import { isInCollection } from '../../adapters/db/schema/library.ts'
import { hasTrigrams } from '../../adapters/db/search_titles.ts'
import type { Page } from '../../contract/common.ts'
import { MAX_FILTERED_OFFSET, MAX_WORDS } from '../../contract/facts.ts'
import { invalid } from '../../core/errors.ts'
import {
  type Candidates,
  chooseMatches,
  chooseSource,
  isLater,
  keyOf,
  MAX_SCANNED,
  MAX_SORTED,
  planSource,
  positionOf,
  remainingFilters,
  type Search,
  TABLES,
  wayOf,
  withSearchIndex,
} from './row_source.ts'
import { correct, similarTexts, unknownWords } from './suggestion.ts'

/**
 * Lists that are searched, sorted, or filtered by several columns (docs/decisions/0051). All of them are read in the same way: a limited number of
 * candidates is read from one index or from the search, and then filtered, sorted and paged. Each needs at most three trips to D1, with those for
 * `include`.
 */

/** Maximum `count` that is exact in lists without a stored count. */
export const MAX_COUNTED = 1000

/** If the words of a query begin words of fewer rows, they are also searched in the middle of the words of titles. */
const FEW = 20

/** The fields of a response about a page. */
interface PageFields {
  count: number
  is_count_exact?: false
  /** The position of the next page; null at the end. */
  after: string | null
}

/** A page of a list. `suggestion` is only set if there is a query. */
export interface Found<C extends SelectedFields> extends PageFields {
  rows: SelectResultFields<C>[]
  suggestion?: string | null
}

type ResultOf = Awaited<ReturnType<typeof runBatch>>
/** The statements of a page, and the function that reads it from their results. */
interface PageQuery<C extends SelectedFields> {
  statements: Statement[]
  read: (resultOf: ResultOf) => Found<C>
}

/**
 * Returns a page of a list, its count, and whether the count is exact. `columns` are read only for the rows on the page. If a query finds nothing, a
 * corrected query that finds something is suggested.
 */
export async function find<C extends SelectedFields>(
  batches: Batches,
  search: Search,
  columns: C,
  page: Page,
): Promise<Found<C>> {
  checkOffset(page)
  if (search.after !== undefined && !search.sort.endsWith('title')) numberAfter(search.after)
  return search.q === undefined
    ? findUnsearched(batches, search, columns, page)
    : withSearchIndex(() => findMatches(batches, search, wordsOf(search.q!), columns, page))
}

/** Returns the number in a position of a list that is ordered by numbers. */
export function numberAfter(after: string): number {
  const number = Number(after.slice(37))
  if (!Number.isFinite(number)) throw invalid('after', 'must be `after` of a response with the same `sort`')
  return number
}

/** Throws 400 if an offset would skip too many rows. */
export function checkOffset({ offset }: Page): void {
  if (offset > MAX_FILTERED_OFFSET)
    throw invalid(
      'offset',
      `must be at most ${MAX_FILTERED_OFFSET} items in this list, not ${offset}; use \`after\` instead`,
    )
}

async function findMatches<C extends SelectedFields>(
  batches: Batches,
  search: Search,
  words: string[],
  columns: C,
  page: Page,
): Promise<Found<C>> {
  const { db } = batches
  const { kind, organization_id, q = '' } = search
  if (words.length > MAX_WORDS) throw invalid('q', `must have at most ${MAX_WORDS} words, not ${words.length}`)
  // The query consists only of punctuation, so it has no matches.
  if (words.length === 0) {
    await batches.run([])
    return { rows: [], count: 0, after: null, suggestion: null }
  }
  const byWords = pageQuery(db, search, chooseMatches(search, words), columns, page)
  const unknown = unknownWords(db, search, words)
  const resultOf = await batches.run([...byWords.statements, unknown])
  const found = byWords.read(resultOf)
  if (found.count >= FEW) return { ...found, suggestion: null }

  const inTitles = { ...search, inTitles: true }
  const byTitles = words.every(hasTrigrams)
    ? pageQuery(db, inTitles, chooseMatches(inTitles, words), columns, page)
    : null
  const missing = found.count > 0 ? [] : resultOf(unknown).map(({ word }) => word)
  const similar = similarTexts(db, kind, organization_id, q, missing)
  const statements = [...(byTitles?.statements ?? []), ...similar.map(({ statement }) => statement)]
  if (statements.length === 0) return { ...found, suggestion: null }
  const resultOfTitles = await runBatch(db, statements)
  const all = byTitles?.read(resultOfTitles) ?? found
  const corrected =
    all.count > 0
      ? null
      : correct(
          q,
          similar.map((each) => ({ ...each, texts: resultOfTitles(each.statement).map(({ text }) => text) })),
        )
  if (corrected === null) return { ...all, suggestion: null }

  // The suggestion has to find something in this list.
  const sought = { ...search, q: corrected, sort: '-created_at', after: undefined }
  const checked = pageQuery(
    db,
    sought,
    chooseMatches(sought, wordsOf(corrected)),
    { found: sql`1`.as('found') },
    { limit: 1, offset: 0 },
  )
  const { count } = checked.read(await runBatch(db, checked.statements))
  return { ...all, suggestion: count > 0 ? corrected : null }
}

async function findUnsearched<C extends SelectedFields>(
  batches: Batches,
  search: Search,
  columns: C,
  page: Page,
): Promise<Found<C>> {
  const plan = await planSource(batches, search)
  const exact = keyOf(search).only ? undefined : plan.sizes.exact
  const read = async (most: number) => {
    const query = pageQuery(batches.db, search, chooseSource(search, plan, most), columns, page, exact)
    return query.read(await batches.run(query.statements))
  }
  const found = await read(MAX_SORTED)
  // The scan reached its limit while it read rows of other collections. If the collection is not too long, its rows are sorted instead.
  const isShort = search.collection_id !== undefined && exact !== undefined && found.is_count_exact === false
  return isShort && exact > MAX_SORTED && exact <= MAX_SCANNED ? read(exact) : found
}

/** The columns of a page that are not the caller's. `rest` is the position after which unread candidates follow. */
export type Position = { position: string | null }
type Added = Position & { total: number; rest: string | null; is_full: number }

/**
 * Returns the query for a page of the candidates. `exact` is the length of the list, if it is stored.
 *
 * Candidates that need no filter and no sorting are counted without their rows. For all others, one statement reads each row once: it collects the row ids
 * of the list as a JSON array, so it also knows their number.
 */
function pageQuery<C extends SelectedFields>(
  db: Batches['db'],
  search: Search,
  candidates: Candidates,
  columns: C,
  { limit, offset }: Page,
  exact?: number,
): PageQuery<C> {
  const { kind, organization_id, collection_id, after } = search
  const { ordered, most } = candidates
  const table = TABLES[kind]
  const filters = remainingFilters(search, candidates)
  // The tracks of a deleted or trashed collection are hidden, although their rows still exist.
  const isVisible = kind === 'tracks' && !collection_id ? isInCollection : undefined
  // Ensures that a wrong search result never shows rows of another organization. The `+` keeps SQLite from using an index for this condition.
  const isOwn = sql`+${table.organization_id} = ${organization_id}`
  const isListed = and(isOwn, ...filters, isVisible)!
  const isHit = sql`${table}.rowid = hit.at`
  const position = positionOf(search)
  const way = wayOf(search)
  // Candidates that are already sorted keep their order, because sorting them again would read all of them.
  const order = ordered ? [] : [sql`${keyOf(search).by} ${way}`, sql`${table}.rowid ${way}`]
  const later = ordered ? undefined : isLater(search)
  const counted = totals(db, search, candidates, filters.length > 0 ? and(isOwn, ...filters) : undefined, isVisible)

  // The last candidate that is read, if there are that many.
  const rest = sql`(select ${position} from ${table} where ${table}.rowid = (select at from (${candidates.rest}) limit 1 offset ${most - 1}))`
  if (exact !== undefined || (ordered && (filters.length === 0 || search.total))) {
    // If the candidates end before the page is full, the last row contains `rest`. SQLite computes it only then.
    const end = ordered ? sql`union all select null, ${rest}` : sql``
    const rows = db
      .select({ ...columns, position: position.as('position'), rest: sql`hit.rest`.as('rest') } as never)
      .from(sql`(select at, null as rest from (${candidates.rest} limit ${most}) ${end}) as hit`)
      // A left join makes SQLite read the candidates first.
      .leftJoin(table, isHit)
      .where(sql`(hit.at is null or ${and(isListed, later)})`)
      .orderBy(...order)
      .limit(limit)
      .offset(offset)
    return {
      statements: exact === undefined ? [rows, counted] : [rows],
      read(resultOf) {
        const found = withRest<C>(resultOf(rows) as Added[], limit)
        if (exact === undefined) return { ...found, ...countFields(resultOf(counted)[0]!) }
        const isShort = after === undefined && found.rows.length < Math.min(limit, exact - offset)
        return { ...found, count: exact, ...(isShort && { is_count_exact: false as const }) }
      },
    }
  }

  // Ordered candidates are read until the page and the count are complete, others to their end.
  const isContinued = ordered && after !== undefined
  const needed = ordered ? Math.max(offset + limit, isContinued ? 0 : MAX_COUNTED + 1) : most
  const hits = sql`(${candidates.rest} limit ${most}) as hit cross join ${table}`
  const listed = ordered
    ? sql`select hit.at, 1 as is_listed, 1 as is_later from ${hits} where ${isHit} and ${isListed} limit ${needed}`
    : sql`select hit.at, ${isListed} as is_listed, ${later ?? sql`1`} as is_later from ${hits} where ${isHit}
        order by ${sql.join(order, sql`, `)} limit ${needed}`
  const found = sql`(select json_group_array(at) filter (where is_listed and is_later) as ats,
    count(*) filter (where is_listed) as total, count(*) as hits from (${listed})) as found`
  const places = JSON.stringify(Array.from({ length: limit }, (_, at) => offset + at))
  const rows = db
    .select({
      ...columns,
      position: position.as('position'),
      total: sql`total`.as('total'),
      rest: (ordered ? sql`iif(total < ${needed}, ${rest}, null)` : sql`null`).as('rest'),
      // The lengths of all other sources were read before.
      is_full: sql`hits >= ${most} and ${search.q !== undefined}`.as('is_full'),
    } as never)
    .from(found)
    .leftJoin(sql`json_each(${places}) as place`, sql`place.value < total`)
    .leftJoin(table, sql`${table}.rowid = ats ->> ('$[' || place.value || ']')`)
    .orderBy(sql`place.key`)
  return {
    statements: isContinued ? [rows, counted] : [rows],
    read(resultOf) {
      const all = resultOf(rows) as Added[]
      const { total, rest, is_full } = all[0]!
      const is_partial = rest !== null || (!ordered && is_full === 1)
      const counts = isContinued ? resultOf(counted)[0]! : { count: total, exact: null, is_partial: Number(is_partial) }
      return { ...withRest<C>(all, limit), ...countFields(counts) }
    },
  }
}

/** Returns the rows of a page without the added columns. A page that is not full continues at `rest`. */
function withRest<C extends SelectedFields>(all: Added[], limit: number) {
  const listed = all.filter(({ position }) => position !== null)
  const found = withoutPositions<C>(listed, limit)
  return { ...found, after: found.after ?? all.at(-1)?.rest ?? null }
}

/** Returns the rows of a page as the caller asked for them, and the position of the next page. */
export function withoutPositions<C extends SelectedFields>(rows: Position[], limit: number) {
  const after = rows.length === limit ? rows.at(-1)!.position : null
  return { rows: rows.map(({ position: _position, ...row }) => row) as SelectResultFields<C>[], after }
}

interface Total {
  count: number
  exact: number | null
  is_partial: number
}

/**
 * Returns the statement that counts the rows of a list: all of them if their number is stored, otherwise up to one above the limit of `count`. `isVisible`
 * is only checked if the organization has trashed collections, because that reads more rows.
 */
function totals(
  db: Batches['db'],
  search: Search,
  { from, most }: Candidates,
  isMatch: SQL | undefined,
  isVisible: SQL | undefined,
) {
  const table = TABLES[search.kind]
  const counting = (condition: SQL | undefined) => {
    const rows = condition ? sql` cross join ${table} where ${table}.rowid = hit.at and ${condition}` : sql``
    return sql`(select count(*) from (select 1 from (${from} limit ${most}) as hit ${rows} limit ${MAX_COUNTED + 1}))`
  }
  const hasHidden = sql`exists (select 1 from trash where organization_id = ${search.organization_id} and scope = 'collection')`
  const count = isVisible
    ? sql`iif(${hasHidden}, ${counting(and(isMatch, isVisible))}, ${counting(isMatch)})`
    : counting(isMatch)
  const isPartial = sql`count <= ${MAX_COUNTED} and (select at from (${from}) limit 1 offset ${most}) is not null`
  return (
    db
      .select({
        count: sql<number>`count`.as('count'),
        exact: sql<number | null>`exact`.as('exact'),
        is_partial: sql<number>`${isMatch ? isPartial : sql`0`}`.as('is_partial'),
      })
      // The aggregates keep SQLite from computing a number once for each use.
      .from(
        sql`(select max(exact) as exact, max(number) as count from (
        select exact, iif(exact is null, ${count}, 0) as number from (select max(${search.total ?? sql`null`}) as exact from (select 1)))) as counted`,
      )
  )
}

/** Returns the count fields of a response, given a count that stops at one above the limit. */
function countFields({ count, exact, is_partial }: Total): { count: number; is_count_exact?: false } {
  if (exact !== null) return { count: exact }
  const isExact = count <= MAX_COUNTED && is_partial === 0
  return { count: Math.min(count, MAX_COUNTED), ...(!isExact && { is_count_exact: false }) }
}
