import { and, type AnyColumn, asc, desc, eq, getTableColumns, gt, gte, lt, lte, type SQL, sql } from 'drizzle-orm'
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types'
import type { SelectedFields, SQLiteTable } from 'drizzle-orm/sqlite-core'

import type { Batches } from '../../adapters/db/database.ts'
import { listCounts } from '../../adapters/db/schema/counters.ts'
import { collections, playlists, tracks } from '../../adapters/db/schema/library.ts'
import type { Kind } from '../../adapters/db/search.ts'
import type { Page } from '../../contract/common.ts'
import { checkOffset, find, type Found, numberAfter, withoutPositions } from './filtered_list.ts'
import { type Search, TABLES, valuesOf } from './row_source.ts'

/**
 * Reads pages at a cost that does not grow with the list. `count` is stored in one row of `list_counts`. To find a deep offset, the counts of ranges
 * of 16,384 and of 256 values of the ordering number are added: in a list of a million rows, this reads at most 62 + 64 ranges and then skips at most
 * 256 rows.
 */

/** Below this offset, skipping rows costs no more than looking up ranges. */
const DEEP = 300

interface List {
  /** The list's name in `list_counts`, for example `tracks:{collection}`. */
  name: string
  table: SQLiteTable
  /** The column of the ordering number, which is unique within the list. Rows are in ascending order unless `descending` is set. */
  key: AnyColumn
  descending: boolean
  /** A condition that selects the rows of the list; undefined if the list contains all rows of the table. */
  of?: SQL
  /** Columns with the values that they must have; at most one of the values is defined. */
  filters?: Record<string, string | undefined>
  /** The ordering number after which the page starts. */
  after?: number | undefined
}

interface PageStart {
  /** The ordering number from which rows are read, upward or, if the list is descending, downward; undefined for the start of the list. */
  from?: SQL
  /** Number of rows to skip from that number on. */
  skip: SQL | number
}

/** Returns a page of a list and the length of the list. */
export async function readPage<C extends SelectedFields>(
  batches: Batches,
  list: List,
  page: Page,
  columns: C,
): Promise<{ rows: SelectResultFields<C>[]; count: number }> {
  const { name, table, key, descending, of, after } = list
  const { db } = batches
  const filter = Object.entries(list.filters ?? {}).find((entry): entry is [string, string] => entry[1] !== undefined)
  if (filter || after !== undefined) checkOffset(page)
  const { from, skip } = filter || after !== undefined ? { skip: page.offset } : pageStart(list, page)
  const bound = from && (descending ? lte : gte)(key, from)
  const isLater = after === undefined ? undefined : (descending ? lt : gt)(key, after)
  const countedList = filter ? `${name}?${filter[0]}=${filter[1]}` : name
  const counted = db
    .select({ count: listCounts.count })
    .from(listCounts)
    .where(and(eq(listCounts.list, countedList), eq(listCounts.level, 0), eq(listCounts.bucket, 0)))
  const rows = db
    .select(columns as never)
    .from(table)
    .where(and(of, filter && eq(getTableColumns(table)[filter[0]]!, filter[1]), bound, isLater))
    .orderBy(descending ? desc(key) : asc(key))
    .limit(page.limit)
    .offset(skip as number)
  const resultOf = await batches.run([counted, rows])
  return { rows: resultOf(rows), count: resultOf(counted)[0]?.count ?? 0 }
}

/** The column of the ordering number for each kind, and the default sort order of its lists. */
const DEFAULT_ORDER: Record<Kind, { key: AnyColumn; usual: string }> = {
  tracks: { key: tracks.order, usual: 'order' },
  collections: { key: collections.seq, usual: '-created_at' },
  playlists: { key: playlists.seq, usual: '-created_at' },
}

/**
 * Reads a list that may be searched, filtered and sorted. In the default order with at most one value to filter by, the list is read as a counted list, otherwise
 * by filtered_list.ts.
 */
export async function listRows<C extends SelectedFields>(
  batches: Batches,
  search: Omit<Search, 'counted'>,
  columns: C,
  page: Page,
): Promise<Found<C>> {
  const { kind, organization_id, collection_id, q, filters, sort } = search
  const { key, usual: defaultSort } = DEFAULT_ORDER[kind]
  const name = `${kind}:${collection_id ?? organization_id}`
  const values = Object.entries(filters).flatMap(([name, value]) =>
    value === undefined ? [] : valuesOf(value).map((each) => [name, each] as const),
  )
  if (q !== undefined || values.length > 1 || sort !== defaultSort)
    return find(batches, { ...search, counted: name }, columns, page)
  const table = TABLES[kind]
  const of = collection_id ? eq(tracks.collection_id, collection_id) : eq(table.organization_id, organization_id)
  const after = search.after === undefined ? undefined : numberAfter(search.after)
  const list = {
    name,
    table,
    key,
    descending: defaultSort.startsWith('-'),
    of,
    filters: Object.fromEntries(values),
    after,
  }
  const position = sql<string>`${table.id} || '.' || ${key}`.as('position')
  const { rows, count } = await readPage(batches, list, page, { ...columns, position })
  return { ...withoutPositions<C>(rows, page.limit), count }
}

/** Returns where a page starts, in SQL. Past the end of the list, `from` is null, so no row is read. */
function pageStart(list: List, { offset }: Page): PageStart {
  if (offset < DEEP) return { skip: offset }
  const way = list.descending ? sql`desc` : sql`asc`
  const start = (value: SQL) => sql`(
    with
      wide as (
        select bucket, count, sum(count) over (order by bucket ${way}) as upto
        from list_counts where list = ${list.name} and level = 2
      ),
      wide_hit as (select bucket, upto - count as before from wide where upto > ${offset} order by bucket ${way} limit 1),
      narrow as (
        select c.bucket, c.count, w.before + sum(c.count) over (order by c.bucket ${way}) as upto
        from wide_hit w cross join list_counts c
        where c.list = ${list.name} and c.level = 1 and c.bucket >= w.bucket * 64 and c.bucket < w.bucket * 64 + 64
      )
    select ${value} from narrow where upto > ${offset} order by bucket ${way} limit 1)`
  return {
    from: start(list.descending ? sql`bucket * 256 + 255` : sql`bucket * 256`),
    skip: sql`coalesce(${start(sql`${offset} - (upto - count)`)}, 0)`,
  }
}
