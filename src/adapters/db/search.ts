import { type SQL, sql } from 'drizzle-orm'

import type { Tags } from '../../contract/info.ts'
import { toHex } from '../crypto/secret.ts'
import { folded } from './fold.ts'

/**
 * Full text search: one FTS5 table for tracks, collections and playlists, kept by triggers (drizzle/0001_triggers.sql). D1
 * cannot export a database with a virtual table, so an operator may drop it for an export, and the sweep recreates it (docs/decisions/0051).
 *
 * A row also has words for its organization, collection, creator and index. They are matched like other words and cost no more rows.
 */

export const KINDS = ['tracks', 'collections', 'playlists'] as const
export type Kind = (typeof KINDS)[number]

/** A row's number in the search is its rowid times `STEP`, plus the number of its kind, so newer rows have higher numbers. */
const STEP = 4
const numberOf = (kind: Kind, rowid: string) => `${rowid} * ${STEP} + ${KINDS.indexOf(kind)}`
/** The row's rowid in its own table. */
export const ROWID = `rowid / ${STEP}`

const text = (value: string) => `coalesce(${value}, '')`
const word = (prefix: string, value: string) => `coalesce('${prefix}' || ${value}, '')`
const plain = (id: string) => `replace(${id}, '-', '')`
const join = (parts: string[]) => parts.join(` || ' ' || `)

/** The searched columns. */
const TEXTS: Record<Kind, string[]> = {
  tracks: ['player_title', 'player_subtitle', 'file_name', 'organization_index', 'tags'],
  collections: ['title', 'player_subtitle', 'organization_index'],
  playlists: ['title', 'player_subtitle', 'organization_index'],
}
/** The searched tags. */
const TAGS = ['title', 'artist', 'album', 'album_artist', 'composer', 'genre'] as const

/** A column's text: the folded one if the row has it. */
function read(row: string, name: string): string {
  const original =
    name === 'tags' ? join(TAGS.map((tag) => text(`${row}.tags ->> '$.${tag}'`))) : text(`${row}.${name}`)
  return `coalesce(${row}.folded ->> '$.${name}', ${original})`
}

type Texts = { [column: string]: unknown; tags?: Tags | null }
const tagsText = (tags: Tags) => TAGS.map((tag) => tags[tag] ?? '').join(' ')

/** The folded texts of these columns; null if the text needs no folding. */
function foldedTexts(kind: Kind, values: Texts): Record<string, string | null> {
  const texts: Texts = values.tags ? { ...values, tags: tagsText(values.tags) as never } : values
  const set = TEXTS[kind].filter((name) => texts[name] !== undefined)
  return Object.fromEntries(set.map((name) => [name, folded((texts[name] as string | null) ?? '')]))
}

/** The column `folded` of a new row with these texts. */
export function foldedOf(kind: Kind, values: Texts): string | null {
  const texts = Object.entries(foldedTexts(kind, values)).filter(([, value]) => value !== null)
  return texts.length === 0 ? null : JSON.stringify(Object.fromEntries(texts))
}

/** The column `folded`, updated with the texts of a JSON object; null removes a folded text. */
export const withFolded = (texts: SQL, folded = sql`folded`): SQL =>
  sql`nullif(json_patch(coalesce(${folded}, '{}'), ${texts}), '{}')`

/** The column `folded` for an update of these columns; empty if none of them is searched. */
export function foldedUpdate(kind: Kind, values: Texts, before?: SQL): { folded?: SQL } {
  const texts = foldedTexts(kind, values)
  if (Object.keys(texts).length === 0) return {}
  return { folded: withFolded(sql`${JSON.stringify(texts)}`, before) }
}

/** The search row for a row of a table. */
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

/** The statements that create the search table; run by a migration, and by the sweep to recreate it. */
export const SEARCH_TABLE = [
  `CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(scope, text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', prefix='1 2 3')`,
  ...KINDS.flatMap(triggers),
]

/** Schedules a fill of the search with all current rows, for the sweep. */
export const SEARCH_FILLS = KINDS.map(
  (kind) =>
    `INSERT OR REPLACE INTO search_fills (kind, cursor) SELECT '${kind}', max(rowid) FROM ${kind} HAVING max(rowid) > 0`,
)

/** Fills the search with the rows of a table whose rowids are above `?1` and up to `?2`. */
export const fillText = (kind: Kind) =>
  `${INSERT} SELECT ${selected(kind, kind)} FROM ${kind} WHERE rowid > ?1 AND rowid <= ?2`

/** The organization, and filters, of the rows to find. */
export interface Scope {
  organization_id: string
  collection_id?: string | undefined
  creator_id?: string | undefined
  organization_index?: string | undefined
}

const bare = (id: string) => id.replaceAll('-', '')

/** FTS5's expression for the rows of a scope that contain all words, as prefixes. The tokenizer may split a word into several: a phrase. */
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
