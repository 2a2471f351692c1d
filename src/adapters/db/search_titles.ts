import { lettersOf } from './fold.ts'
import { KINDS, type Kind, numberOf, read } from './search.ts'

/**
 * The trigrams of titles, by which the search finds the middle of a word (docs/decisions/0093): one FTS5 table, which the triggers below keep up to
 * date. It stores no positions, so a title matches if it contains all trigrams of a word, in any order.
 */

/** Minimum number of letters of a word that is searched by its trigrams. */
const LEAST = 3

/**
 * Three private-use characters for the kind and the organization. They are one trigram, so the scope costs one byte per row. Two organizations can
 * have the same characters, so a query compares the organization of each row as well.
 */
const scopeSql = (kind: Kind, id: string) => {
  const digit = (at: number) => `unicode(substr(${id}, ${at}, 1))`
  const pair = (at: number) => `57344 + ${digit(at)} * 55 + ${digit(at + 1)}`
  return `char(57344 + ${KINDS.indexOf(kind) * 128} + ${digit(-5)}, ${pair(-4)}, ${pair(-2)})`
}
function scopeOf(kind: Kind, id: string): string {
  const digit = (at: number) => id.at(at)!.charCodeAt(0)
  const pair = (at: number) => 57344 + digit(at) * 55 + digit(at + 1)
  return String.fromCharCode(57344 + KINDS.indexOf(kind) * 128 + digit(-5), pair(-4), pair(-2))
}

/**
 * SQL for the title, or null. The file name of a track counts as its title only when the tags are known, so a track is indexed once. Letters of
 * scripts without spaces are separate words in folded text; removing the spaces between them leaves fewer trigrams.
 */
function titleSql(kind: Kind, row: string): string {
  if (kind !== 'tracks') return `replace(${read(row, 'title')}, '  ', '')`
  const file_name = `iif(${row}.tags IS NULL, NULL, ${read(row, 'file_name')})`
  const folded = (name: string, original: string) => `${row}.folded ->> '$.${name}', ${row}.${original}`
  return `replace(coalesce(${folded('player_title', 'player_title')}, ${folded('title', `tags ->> '$.title'`)}, ${file_name}), '  ', '')`
}

const INSERT = 'INSERT OR REPLACE INTO search_titles (rowid, scope, title)'
const selected = (kind: Kind, row: string) =>
  `${numberOf(kind, `${row}.rowid`)}, ${scopeSql(kind, `${row}.organization_id`)}, ${titleSql(kind, row)}`

function triggers(kind: Kind): string[] {
  const columns = kind === 'tracks' ? 'player_title, tags, file_name, folded' : 'title, folded'
  const isChanged = `${titleSql(kind, 'old')} IS NOT ${titleSql(kind, 'new')}`
  const create = (event: string, on: string, statement: string) =>
    `CREATE TRIGGER IF NOT EXISTS ${kind}_search_title_${event} AFTER ${on} BEGIN ${statement}; END`
  const write = `${INSERT} SELECT ${selected(kind, 'new')}`
  return [
    create('insert', `INSERT ON ${kind} WHEN ${titleSql(kind, 'new')} IS NOT NULL`, write),
    create('update', `UPDATE OF ${columns} ON ${kind} WHEN ${isChanged}`, write),
    create('delete', `DELETE ON ${kind}`, `DELETE FROM search_titles WHERE rowid = ${numberOf(kind, 'old.rowid')}`),
  ]
}

/** The statements that create the table and its triggers, as `SEARCH_TABLE` in search.ts. */
export const TITLES_TABLE = [
  `CREATE VIRTUAL TABLE IF NOT EXISTS search_titles USING fts5(scope, title, content='', contentless_delete=1, detail=none, tokenize='trigram remove_diacritics 1')`,
  ...KINDS.flatMap(triggers),
]

/** A statement that adds the titles of a table: of the rows whose rowids are greater than `?1` and at most `?2`. */
export const fillTitles = (kind: Kind) =>
  `${INSERT} SELECT ${selected(kind, kind)} FROM ${kind} WHERE rowid > ?1 AND rowid <= ?2 AND ${titleSql(kind, kind)} IS NOT NULL`

const trigrams = (word: string) => {
  const letters = lettersOf(word)
  return letters.slice(0, 1 - LEAST).map((_, at) => letters.slice(at, at + LEAST).join(''))
}

/** Whether a folded word has trigrams. Words with spaces are in scripts that the other index finds anywhere in a text. */
export const hasTrigrams = (word: string) => !word.includes(' ') && lettersOf(word).length >= LEAST

/** Returns the FTS5 expression for the titles of an organization that contain all of these folded words. Each must have trigrams. */
export function titlesExpression(kind: Kind, organization_id: string, words: string[]): string {
  const terms = [scopeOf(kind, organization_id), ...new Set(words.flatMap(trigrams))]
  return terms.map((term) => `"${term}"`).join(' AND ')
}
