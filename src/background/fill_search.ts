import { sql } from 'drizzle-orm'

import { searchFills } from '../adapters/db/schema/work.ts'
import { fillText, SEARCH_FILLS, SEARCH_TABLE } from '../adapters/db/search.ts'
import { fillTitles, TITLES_TABLE } from '../adapters/db/search_titles.ts'
import type { System } from '../context.ts'

/** Maximum number of rows that one statement adds to the search index: a batch may take at most 30 seconds (D1, Limits) and blocks other queries. */
const CHUNK = 2000

/**
 * Recreates a search index that an operator dropped to export the database (docs/operate.md#backup), at the time stored in `search_fills`. Then adds
 * the rows of each table, newest first; meanwhile, triggers index every change.
 */
export async function fillSearch({ db, now }: System): Promise<void> {
  for (;;) {
    const [fill] = await db
      .select()
      .from(searchFills)
      .orderBy(sql`kind = 'table' desc`)
      .limit(1)
    if (!fill || (fill.kind === 'table' && fill.cursor > now)) return
    const { kind, cursor } = fill
    const from = Math.max(0, cursor - CHUNK)
    const d1 = db.$client
    const statements =
      kind === 'table'
        ? [...SEARCH_TABLE, ...TITLES_TABLE, ...SEARCH_FILLS, `delete from search_fills where kind = 'table'`].map(
            (statement) => d1.prepare(statement),
          )
        : [
            d1.prepare(fillText(kind)).bind(from, cursor),
            d1.prepare(fillTitles(kind)).bind(from, cursor),
            d1.prepare('update search_fills set cursor = ?1 where kind = ?2').bind(from, kind),
            d1.prepare('delete from search_fills where cursor = 0 and kind = ?1').bind(kind),
          ]
    await d1.batch(statements)
  }
}
