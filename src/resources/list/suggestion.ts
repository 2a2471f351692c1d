import { type SQL, sql } from 'drizzle-orm'

import type { Database } from '../../adapters/db/database.ts'
import { lettersOf, replaceWords, spelledWords } from '../../adapters/db/fold.ts'
import { isInCollection } from '../../adapters/db/schema/library.ts'
import { type Kind, matchExpression, namesSql, ROWID } from '../../adapters/db/search.ts'
import { hasTrigrams, titlesExpression } from '../../adapters/db/search_titles.ts'
import { type Search, TABLES } from './row_source.ts'

/** Corrects the words of a search that finds nothing, from the titles, names and tags of the same organization (docs/decisions/0093). */

/** Minimum number of letters of a word that is corrected. */
const LEAST = 4
/** Maximum number of words that are corrected. */
const MOST_WORDS = 3
/** Number of rows, the newest ones, whose words are compared with one half of a word. */
const MOST_ROWS = 500

/** Returns the number of changes (a letter added, removed, replaced, or swapped with the next) between two words, or Infinity above `most`. */
export function distance(a: string[], b: string[], most: number): number {
  if (Math.abs(a.length - b.length) > most) return Infinity
  let [before, last]: number[][] = [[], b.map((_, at) => at).concat(b.length)]
  for (const [row, letter] of a.entries()) {
    const next = [row + 1]
    for (const [column, other] of b.entries()) {
      const replaced = last![column]! + (letter === other ? 0 : 1)
      const isSwap = row > 0 && column > 0 && letter === b[column - 1] && a[row - 1] === other
      next.push(
        Math.min(replaced, last![column + 1]! + 1, next[column]! + 1, isSwap ? before![column - 1]! + 1 : Infinity),
      )
    }
    ;[before, last] = [last, next]
  }
  return last!.at(-1)! > most ? Infinity : last!.at(-1)!
}

interface Near {
  distance: number
  count: number
  spelled: string
}

/** Returns the word of these texts that is most like a folded word, or undefined if none is like it. */
export function nearest(word: string, texts: string[]): string | undefined {
  const letters = lettersOf(word)
  const most = letters.length < 8 ? 1 : 2
  const found = new Map<string, Near>()
  for (const text of texts) {
    for (const [folded, spelled] of spelledWords(text)) {
      const known = found.get(folded)
      if (known) known.count++
      else found.set(folded, { distance: distance(letters, lettersOf(folded), most), count: 1, spelled })
    }
  }
  const near = [...found.values()].filter((candidate) => candidate.distance <= most)
  return near.toSorted((a, b) => a.distance - b.distance || b.count - a.count)[0]?.spelled.toLowerCase()
}

/** Returns the statement for the words of a search that occur nowhere in the organization. It returns none if the search finds something. */
export function unknownWords(db: Database, search: Search, words: string[]) {
  const { kind, organization_id, collection_id } = search
  const every = matchExpression(kind, { organization_id, collection_id, ...search.filters }, words)
  const list = words.map((word) => ({
    word,
    start: matchExpression(kind, { organization_id }, [word]),
    middle: hasTrigrams(word) ? titlesExpression(kind, organization_id, [word]) : null,
  }))
  const unless = (table: string, expression: SQL) =>
    sql`not exists (select 1 from ${sql.raw(table)} where ${sql.raw(table)} match ${expression})`
  return db
    .select({ word: sql<string>`word.value ->> 'word'`.as('word') })
    .from(sql`json_each(${JSON.stringify(list)}) as word`)
    .where(
      sql`${unless('search', sql`${every}`)} and ${unless('search', sql`word.value ->> 'start'`)}
        and (word.value ->> 'middle' is null or ${unless('search_titles', sql`word.value ->> 'middle'`)})`,
    )
}

/**
 * Returns a statement for each unknown word: the texts of the newest rows that contain its first letters or its last half, one of which has no typo. The
 * first letters are one fewer than a half, because the typo can be two letters that are swapped in the middle. Returns none if one of the words cannot be
 * corrected.
 */
export function similarTexts(db: Database, kind: Kind, organization_id: string, q: string, unknown: string[]) {
  const spelled = new Map(spelledWords(q))
  const isCorrectable = (word: string) => !word.includes(' ') && lettersOf(word).length >= LEAST
  if (unknown.length > MOST_WORDS || !unknown.every(isCorrectable)) return []
  return unknown.map((word) => {
    const letters = lettersOf(word)
    const half = Math.floor(letters.length / 2)
    const tail = letters.slice(half).join('')
    const newest = (table: string, expression: string) =>
      sql`select * from (select rowid from ${sql.raw(table)} where ${sql.raw(table)} match ${expression} order by rowid desc limit ${MOST_ROWS})`
    const start = letters.slice(0, Math.max(2, half - 1)).join('')
    const head = newest('search', matchExpression(kind, { organization_id }, [start]))
    const inTitles = () => sql`union ${newest('search_titles', titlesExpression(kind, organization_id, [tail]))}`
    const rows = hasTrigrams(tail) ? sql`${head} ${inTitles()}` : head
    const table = TABLES[kind]
    const isVisible = kind === 'tracks' ? isInCollection : sql`true`
    const statement = db
      .select({ text: sql<string>`${sql.raw(namesSql(kind))}`.as('text') })
      .from(sql`(select ${sql.raw(ROWID)} as at from (${rows})) as hit`)
      .crossJoin(table)
      .where(sql`${table}.rowid = hit.at and +${table.organization_id} = ${organization_id} and ${isVisible}`)
    return { word, spelled: spelled.get(word)!, statement }
  })
}

/** Returns the query with corrected words, or null if it has no word that is unknown, or one that cannot be corrected. */
export function correct(q: string, unknown: { word: string; spelled: string; texts: string[] }[]): string | null {
  const pairs = unknown.map(({ word, spelled, texts }) => [spelled, nearest(word, texts)] as const)
  const replacements = pairs.filter((pair): pair is [string, string] => pair[1] !== undefined)
  return pairs.length > 0 && replacements.length === pairs.length ? replaceWords(q, new Map(replacements)) : null
}
