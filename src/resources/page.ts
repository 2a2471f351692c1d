import { and, type AnyColumn, asc, desc, eq, getTableColumns, gte, lte, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'

import type { Database } from '../adapters/database.ts'
import { listCounts } from '../adapters/work_schema.ts'
import type { Page } from '../contract/common.ts'
import { MAX_FILTERED_OFFSET } from '../contract/facts.ts'
import { invalid } from '../errors.ts'
import { find, type Search, TABLES } from './find.ts'

/**
 * Pages whose cost does not grow with the list. `count` is one row of `list_counts`. A deep offset is found by the counts per range
 * of 16,384 and 256 of the ordering number: a million rows have at most 62 + 64 ranges to look at, then at most 256 rows to skip.
 */

/** Below this, skipping rows costs no more than looking up ranges. */
const DEEP = 300

interface List {
  /** As in `list_counts`, for example `tracks:{collection}`. */
  name: string
  table: SQLiteTable
  /** The ordering number: unique within the list, rising. */
  key: AnyColumn
  descending: boolean
  /** What makes a row belong to the list; nothing when all do. */
  of?: SQL
  /** Columns that are compared; one of them at most is set. */
  filters?: Record<string, string | undefined>
}

interface PageStart {
  /** The ordering number to start at (to go down from, when descending); null to start at the list's head. */
  from: number | null
  /** Rows to skip from there. */
  skip: number
}

/** The clauses of a page's query, and the query of the list's count for the same batch. */
export async function openPage(db: Database, list: List, page: Page) {
  const filter = Object.entries(list.filters ?? {}).find((entry): entry is [string, string] => entry[1] !== undefined)
  const start = filter ? filteredStart(page) : await findStart(db, list, page)
  const bound = start?.from == null ? undefined : (list.descending ? lte : gte)(list.key, start.from)
  const count = db
    .select({ count: listCounts.count })
    .from(listCounts)
    .where(
      and(
        eq(listCounts.list, filter ? `${list.name}?${filter[0]}=${filter[1]}` : list.name),
        eq(listCounts.level, 0),
        eq(listCounts.bucket, 0),
      ),
    )
  return {
    count,
    where: and(list.of, filter && eq(getTableColumns(list.table)[filter[0]]!, filter[1]), bound),
    orderBy: list.descending ? desc(list.key) : asc(list.key),
    limit: start ? page.limit : 0,
    offset: start?.skip ?? 0,
  }
}

/** A list that may be searched, filtered and sorted: what it was before it could, or one of those of find.ts. */
export async function listRows(
  db: Database,
  list: Omit<Search, 'counted'> & { name: string; own: string; key: AnyColumn; of: SQL },
  columns: object,
  page: Page,
): Promise<{ rows: unknown[]; count: number; is_count_exact?: false }> {
  const { name, kind, key, of, q, filters, sort, own } = list
  const filtered = Object.values(filters).filter((value) => value !== undefined).length
  if (q !== undefined || filtered > 1 || sort !== own) return find(db, { ...list, counted: name }, columns, page)
  const table = TABLES[kind]
  const open = await openPage(db, { name, table, key, descending: own.startsWith('-'), of, filters }, page)
  const [[total], rows] = await db.batch([
    open.count,
    db
      .select(columns as never)
      .from(table as SQLiteTable)
      .where(open.where)
      .orderBy(open.orderBy)
      .limit(open.limit)
      .offset(open.offset),
  ])
  return { rows, count: total?.count ?? 0 }
}

function filteredStart({ offset }: Page): PageStart {
  if (offset > MAX_FILTERED_OFFSET) throw invalid('offset', `must be at most ${MAX_FILTERED_OFFSET} in a filtered list`)
  return { from: null, skip: offset }
}

/** Where a page starts; null when it lies past the end. */
async function findStart(db: Database, list: List, { offset }: Page): Promise<PageStart | null> {
  if (offset < DEEP) return { from: null, skip: offset }
  const way = list.descending ? sql`desc` : sql`asc`
  const [hit] = await db.all<{ bucket: number; skip: number }>(sql`
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
    select bucket, ${offset} - (upto - count) as skip from narrow where upto > ${offset} order by bucket ${way} limit 1`)
  return hit ? { from: list.descending ? hit.bucket * 256 + 255 : hit.bucket * 256, skip: hit.skip } : null
}
