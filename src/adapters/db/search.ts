import { type SQL, sql } from 'drizzle-orm'

import type { Tags } from '../../contract/info.ts'
import { toHex } from '../crypto/secret.ts'
import { folded } from './fold.ts'

/**
 * Full-text search: one FTS5 table for tracks, collections and playlists, which the triggers below keep up to date. D1 cannot
 * export a database with a virtual table, so an operator may drop it for an export; the sweep then recreates it (docs/decisions/0051).
 *
 * A row also contains words for its organization, collection, creator and index. They are matched like other words, so these filters need no
 * additional rows.
 */

export const KINDS = ['tracks', 'collections', 'playlists'] as const
export type Kind = (typeof KINDS)[number]

/**
 * The rowid in the search table is the rowid in the source table times `STEP`, plus the number of the kind. Newer rows therefore have higher rowids.
 */
const STEP = 4
/** SQL for the rowid in the search table. */
export const numberOf = (kind: Kind, rowid: string) => `${rowid} * ${STEP} + ${KINDS.indexOf(kind)}`
/** The rowid in the source table. */
export const ROWID = `rowid / ${STEP}`

const text = (value: string) => `coalesce(${value}, '')`
const word = (prefix: string, value: string) => `coalesce('${prefix}' || ${value}, '')`
const plain = (id: string) => `replace(${id}, '-', '')`
const join = (parts: string[]) => parts.join(` || ' ' || `)

/** The columns that are searched. */
const TEXTS: Record<Kind, string[]> = {
  tracks: ['player_title', 'player_subtitle', 'file_name', 'organization_index', 'tags'],
  collections: ['title', 'player_subtitle', 'organization_index'],
  playlists: ['title', 'player_subtitle', 'organization_index'],
}
/** The tags that are searched. */
const TAGS = ['title', 'artist', 'album', 'album_artist', 'composer', 'genre'] as const

const original = (row: string, name: string) =>
  name === 'tags' ? join(TAGS.map((tag) => text(`${row}.tags ->> '$.${tag}'`))) : text(`${row}.${name}`)

/** SQL for the text of a column: the folded text if the row has one, otherwise the original. */
export const read = (row: string, name: string) => `coalesce(${row}.folded ->> '$.${name}', ${original(row, name)})`

/** SQL for all searched texts of a row as they are written, except the index. */
export const namesSql = (kind: Kind) =>
  join(TEXTS[kind].filter((name) => name !== 'organization_index').map((name) => original(kind, name)))

type Texts = { [column: string]: unknown; tags?: Tags | null }
const tagsText = (tags: Tags) => TAGS.map((tag) => tags[tag] ?? '').join(' ')

/** Returns the folded texts of these columns, and of a track's tagged title as `title`; null for a text that needs no folding. */
function foldedTexts(kind: Kind, values: Texts): Record<string, string | null> {
  const { tags } = values
  const texts: Texts = tags ? { ...values, tags: tagsText(tags) as never, title: tags.title ?? '' } : values
  const set = [...new Set([...TEXTS[kind], 'title'])].filter((name) => texts[name] !== undefined)
  return Object.fromEntries(set.map((name) => [name, folded((texts[name] as string | null) ?? '')]))
}

/** Returns the value of the column `folded` for a new row with these texts. */
export function foldedOf(kind: Kind, values: Texts): string | null {
  const texts = Object.entries(foldedTexts(kind, values)).filter(([, value]) => value !== null)
  return texts.length === 0 ? null : JSON.stringify(Object.fromEntries(texts))
}

/** SQL that merges the texts of a JSON object into the column `folded`; null removes a folded text. */
export const withFolded = (texts: SQL, folded = sql`folded`): SQL =>
  sql`nullif(json_patch(coalesce(${folded}, '{}'), ${texts}), '{}')`

/** Returns the column `folded` for an update of these columns, or an empty object if none of them is searched. */
export function foldedUpdate(kind: Kind, values: Texts, before?: SQL): { folded?: SQL } {
  const texts = foldedTexts(kind, values)
  if (Object.keys(texts).length === 0) return {}
  return { folded: withFolded(sql`${JSON.stringify(texts)}`, before) }
}

/** The values of the search row for a row of a source table, in SQL. */
function selected(kind: Kind, row: string): string {
  const scope = [
    word(kind, plain(`${row}.organization_id`)),
    ...(kind === 'tracks' ? [word('in', plain(`${row}.collection_id`))] : []),
    word('by', plain(`${row}.creator_id`)),
    word('ix', `hex(${row}.organization_index)`),
  ]
  return `${numberOf(kind, `${row}.rowid`)}, ${join(scope)}, ${join(TEXTS[kind].map((name) => read(row, name)))}`
}

const INSERT = 'INSERT OR REPLACE INTO search (rowid, scope, text)'

function triggers(kind: Kind): string[] {
  const watched = [...(kind === 'tracks' ? ['collection_id'] : []), 'creator_id', ...TEXTS[kind], 'folded']
  const columns = watched.join(', ')
  const changed = watched.map((column) => `old.${column} IS NOT new.${column}`).join(' OR ')
  const create = (event: string, on: string, statement: string) =>
    `CREATE TRIGGER IF NOT EXISTS ${kind}_search_${event} AFTER ${on} BEGIN ${statement}; END`
  const write = `${INSERT} SELECT ${selected(kind, 'new')}`
  return [
    create('insert', `INSERT ON ${kind}`, write),
    create('update', `UPDATE OF ${columns} ON ${kind} WHEN ${changed}`, write),
    create('delete', `DELETE ON ${kind}`, `DELETE FROM search WHERE rowid = ${numberOf(kind, 'old.rowid')}`),
  ]
}

/** The statements that create the search table and its triggers. A migration runs them, and the sweep runs them again after the table was dropped. */
export const SEARCH_TABLE = [
  `CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(scope, text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', prefix='1 2 3')`,
  ...KINDS.flatMap(triggers),
]

/** Statements that schedule adding all current rows to the search table; the sweep adds them. */
export const SEARCH_FILLS = KINDS.map(
  (kind) =>
    `INSERT OR REPLACE INTO search_fills (kind, cursor) SELECT '${kind}', max(rowid) FROM ${kind} HAVING max(rowid) > 0`,
)

/** A statement that adds the rows of a table to the search table: those whose rowids are greater than `?1` and at most `?2`. */
export const fillText = (kind: Kind) =>
  `${INSERT} SELECT ${selected(kind, kind)} FROM ${kind} WHERE rowid > ?1 AND rowid <= ?2`

/** The organization and the filters of a search. */
export interface Scope {
  organization_id: string
  collection_id?: string | undefined
  creator_id?: string | undefined
  organization_index?: string | undefined
}

const bare = (id: string) => id.replaceAll('-', '')

/**
 * Returns the FTS5 expression for the rows of a scope that contain a word with each of the given prefixes. The tokenizer may split a prefix into
 * several words; the quotes then make them a phrase.
 */
export function matchExpression(
  kind: Kind,
  { organization_id, collection_id, ...filters }: Scope,
  words: string[],
): string {
  const scope = [
    `${kind}${bare(organization_id)}`,
    ...(collection_id ? [`in${bare(collection_id)}`] : []),
    ...(filters.creator_id ? [`by${bare(filters.creator_id)}`] : []),
    ...(filters.organization_index ? [`ix${toHex(new TextEncoder().encode(filters.organization_index))}`] : []),
  ]
  return [...scope.map((term) => `scope:"${term}"`), ...words.map((term) => `text:"${term}"*`)].join(' AND ')
}
