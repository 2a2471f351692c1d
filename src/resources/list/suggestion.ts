import { sql } from 'drizzle-orm'

import type { Database } from '../../adapters/db/database.ts'
import { lettersOf, replaceWords, spelledWords } from '../../adapters/db/fold.ts'
import { isInCollection } from '../../adapters/db/schema/library.ts'
import { type Kind, matchExpression, namesSql, ROWID } from '../../adapters/db/search.ts'
import { hasTrigrams, titlesExpression } from '../../adapters/db/search_titles.ts'
import { type Search, TABLES, withSearchIndex } from './row_source.ts'

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

/**
 * Reads the texts of the newest rows that contain the first letters or the last half of a word, one of which has no typo. The first letters are one
 * fewer than a half, because the typo can be two letters that are swapped in the middle.
 */
async function similarTexts(db: Database, kind: Kind, organization_id: string, word: string): Promise<string[]> {
  const letters = lettersOf(word)
  const half = Math.floor(letters.length / 2)
  const tail = letters.slice(half).join('')
  const newest = (table: string, expression: string) =>
    sql`select * from (select rowid from ${sql.raw(table)} where ${sql.raw(table)} match ${expression} order by rowid desc limit ${MOST_ROWS})`
  const head = newest(
    'search',
    matchExpression(kind, { organization_id }, [letters.slice(0, Math.max(2, half - 1)).join('')]),
  )
  const inTitles = () => sql`union ${newest('search_titles', titlesExpression(kind, organization_id, [tail]))}`
  const rows = hasTrigrams(tail) ? sql`${head} ${inTitles()}` : head
  const table = TABLES[kind]
  const isVisible = kind === 'tracks' ? isInCollection : sql`true`
  const texts = await db.all<{ text: string }>(sql`
    select ${sql.raw(namesSql(kind))} as text from (select ${sql.raw(ROWID)} as at from (${rows})) as hit cross join ${table}
    where ${table}.rowid = hit.at and +${table.organization_id} = ${organization_id} and ${isVisible}`)
  return texts.map(({ text }) => text)
}

/** Whether a word of a row starts with this word, or a title contains it. */
async function isKnown(db: Database, kind: Kind, organization_id: string, word: string): Promise<boolean> {
  const found = sql`select rowid from search where search match ${matchExpression(kind, { organization_id }, [word])}`
  const inTitles = () =>
    sql`union all select rowid from search_titles where search_titles match ${titlesExpression(kind, organization_id, [word])}`
  const rows = await db.all(sql`select rowid from (${found} ${hasTrigrams(word) ? inTitles() : sql``}) limit 1`)
  return rows.length > 0
}

/** Returns the query with corrected words, or null if it has no word that is unknown, or one that cannot be corrected. */
export async function suggest(
  db: Database,
  { kind, organization_id, q = '' }: Pick<Search, 'kind' | 'organization_id' | 'q'>,
): Promise<string | null> {
  return withSearchIndex(async () => {
    const words = [...new Map(spelledWords(q))]
    const known = await Promise.all(words.map(([word]) => isKnown(db, kind, organization_id, word)))
    const unknown = words.filter((_, at) => !known[at])
    const isCorrectable = ([word]: [string, string]) => !word.includes(' ') && lettersOf(word).length >= LEAST
    if (unknown.length === 0 || unknown.length > MOST_WORDS || !unknown.every(isCorrectable)) return null
    const replacements = new Map<string, string>()
    for (const [word, spelled] of unknown) {
      const replacement = nearest(word, await similarTexts(db, kind, organization_id, word))
      if (replacement === undefined) return null
      replacements.set(spelled, replacement)
    }
    return replaceWords(q, replacements)
  })
}
