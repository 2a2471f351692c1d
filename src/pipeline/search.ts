import { sql } from 'drizzle-orm'

import { fillText, foldedOf, type Kind, SEARCH_FILLS, SEARCH_TABLE, TEXTS } from '../adapters/search.ts'
import { searchFills } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import type { Tags } from '../contract/info.ts'

/** Rows that one statement adds to the search, of which one sweep runs at most so many: a batch has 30 seconds, and others wait for it. */
const CHUNK = 2000
const ROUNDS = 50
/** Rows whose folded texts one parameter holds: at most 2 MB (D1, Limits). */
const FOLDED = 100

/** The statements that give rows their folded texts. A row that changes in the meantime gets them with its change. */
async function folding(d1: D1Database, kind: Kind, from: number, to: number): Promise<D1PreparedStatement[]> {
  const texts = `json_array(${TEXTS[kind].join(', ')})`
  const rows = d1.prepare(`select rowid as at, ${texts} as texts, folded from ${kind} where rowid > ?1 and rowid <= ?2`)
  const { results } = await rows.bind(from, to).all<{ at: number; texts: string; folded: string | null }>()
  const changes = results.flatMap((row) => {
    const values = (JSON.parse(row.texts) as (string | null)[]).map((value, at) => [TEXTS[kind][at]!, value] as const)
    const { tags, ...columns } = Object.fromEntries(values)
    const folded = foldedOf(kind, { ...columns, ...(tags && { tags: JSON.parse(tags) as Tags }) })
    return folded === row.folded ? [] : [[row.at, row.texts, folded]]
  })
  const update = d1.prepare(`update ${kind} set folded = value ->> 2 from json_each(?1)
    where ${kind}.rowid = value ->> 0 and ${texts} = value ->> 1`)
  return Array.from({ length: Math.ceil(changes.length / FOLDED) }, (_, at) =>
    update.bind(JSON.stringify(changes.slice(at * FOLDED, (at + 1) * FOLDED))),
  )
}

/**
 * Adds to the search what was there before it, the newest rows first; their changes come by triggers meanwhile. A search that was taken away,
 * so that the database could be exported, is made again when its time has come (docs/operate.md#backup).
 */
export async function fillSearch({ db, now }: System): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
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
        ? [...SEARCH_TABLE, ...SEARCH_FILLS, `delete from search_fills where kind = 'table'`].map((one) =>
            d1.prepare(one),
          )
        : [
            ...(await folding(d1, kind, from, cursor)),
            d1.prepare(fillText(kind)).bind(from, cursor),
            d1.prepare('update search_fills set cursor = ?1 where kind = ?2').bind(from, kind),
            d1.prepare('delete from search_fills where cursor = 0 and kind = ?1').bind(kind),
          ]
    await d1.batch(statements)
  }
}
