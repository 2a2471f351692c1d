import { toHex } from './secret.ts'

/**
 * Full text search: one FTS5 table for tracks, collections and playlists, kept by triggers (drizzle/0012_search.sql), which the sweep fills
 * with what was there before (docs/decisions/0051). D1 exports no database that has such a table, so it may be taken away and is made again.
 *
 * Beside its words a row has words that say where it belongs; they are matched like any other, and cost nothing more.
 */

export const KINDS = ['tracks', 'collections', 'playlists'] as const
export type Kind = (typeof KINDS)[number]

/** A row's number in the search is its own number in its table times so many, and the kind's: newer rows have higher numbers. */
const STEP = 4
const numberOf = (kind: Kind, rowid: string) => `${rowid} * ${STEP} + ${KINDS.indexOf(kind)}`
/** The row's number in its own table. */
export const ROWID = `rowid / ${STEP}`

/** Longest text of one field that is searched. */
const LONGEST = 1000
const text = (value: string) => `coalesce(substr(${value}, 1, ${LONGEST}), '')`
const word = (prefix: string, value: string) => `coalesce('${prefix}' || ${value}, '')`
const plain = (id: string) => `replace(${id}, '-', '')`

/** Columns whose change is one for the search. */
const WATCHED: Record<Kind, string[]> = {
  tracks: ['collection_id', 'creator_id', 'organization_index', 'player_title', 'player_subtitle', 'file_name', 'tags'],
  collections: ['creator_id', 'organization_index', 'title', 'player_subtitle'],
  playlists: ['creator_id', 'organization_index', 'title', 'player_subtitle'],
}
const TEXTS: Record<Kind, (row: string) => string[]> = {
  tracks: (row) => [
    ...['player_title', 'player_subtitle', 'file_name', 'organization_index'].map((name) => `${row}.${name}`),
    // What was processed before there were tags has them among its facts.
    ...['title', 'artist', 'album', 'album_artist', 'composer', 'genre'].map(
      (tag) => `coalesce(${row}.tags, ${row}.info -> '$.tags') ->> '$.${tag}'`,
    ),
  ],
  collections: (row) => ['title', 'player_subtitle', 'organization_index'].map((name) => `${row}.${name}`),
  playlists: (row) => ['title', 'player_subtitle', 'organization_index'].map((name) => `${row}.${name}`),
}

/** A row of the search for one of a table. */
function selected(kind: Kind, row: string): string {
  const scope = [
    word(kind, plain(`${row}.organization_id`)),
    ...(kind === 'tracks' ? [word('in', plain(`${row}.collection_id`))] : []),
    word('by', plain(`${row}.creator_id`)),
    word('ix', `hex(${row}.organization_index)`),
  ]
  const join = (parts: string[]) => parts.join(` || ' ' || `)
  return `${numberOf(kind, `${row}.rowid`)}, ${join(scope)}, ${join(TEXTS[kind](row).map(text))}`
}

const INSERT = 'INSERT OR REPLACE INTO search (rowid, scope, text)'

function triggers(kind: Kind): string[] {
  const tagged = kind === 'tracks'
  const columns = [...WATCHED[kind], ...(tagged ? ['info'] : [])].join(', ')
  const changed = [
    ...WATCHED[kind].map((column) => `old.${column} IS NOT new.${column}`),
    // What the version before processes while this one is being deployed.
    ...(tagged ? [`new.tags IS NULL AND old.info -> '$.tags' IS NOT new.info -> '$.tags'`] : []),
  ].join(' OR ')
  const create = (event: string, on: string, statement: string) =>
    `CREATE TRIGGER IF NOT EXISTS ${kind}_search_${event} AFTER ${on} BEGIN ${statement}; END`
  const write = `${INSERT} SELECT ${selected(kind, 'new')}`
  return [
    create('insert', `INSERT ON ${kind}`, write),
    create('update', `UPDATE OF ${columns} ON ${kind} WHEN ${changed}`, write),
    create('delete', `DELETE ON ${kind}`, `DELETE FROM search WHERE rowid = ${numberOf(kind, 'old.rowid')}`),
  ]
}

/** What makes the search: as migrated, and made again by the sweep. */
export const SEARCH_TABLE = [
  `CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(scope, text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', prefix='1 2 3')`,
  ...KINDS.flatMap(triggers),
]

/** What has the sweep fill the search with all rows that there are now. */
export const SEARCH_FILLS = KINDS.map(
  (kind) =>
    `INSERT OR REPLACE INTO search_fills (kind, cursor) SELECT '${kind}', max(rowid) FROM ${kind} HAVING max(rowid) > 0`,
)

/** Fills the search with the rows of a table whose numbers are above `?1` and up to `?2`. */
export const fillText = (kind: Kind) =>
  `${INSERT} SELECT ${selected(kind, kind)} FROM ${kind} WHERE rowid > ?1 AND rowid <= ?2`

/** Where rows must belong to be found. */
export interface Scope {
  organization_id: string
  collection_id?: string | undefined
  creator_id?: string | undefined
  organization_index?: string | undefined
}

const bare = (id: string) => id.replaceAll('-', '')

/** The words of what somebody typed: letters and digits, as the tokenizer takes them. Neither operators nor signs are any. */
export const wordsOf = (q: string): string[] =>
  q.normalize('NFC').match(/[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{M}\p{Co}]*/gu) ?? []

/** The beginning of a word, composed or not: names of files come in either form, and the tokenizer knows some letters in one only. */
const begins = (word: string) => {
  const forms = new Set([word, word.normalize('NFD')])
  return `text:(${[...forms].map((one) => `"${one}"*`).join(' OR ')})`
}

/** FTS5's expression for rows that belong to a scope and have all words, or words that begin so. */
export function matching(kind: Kind, { organization_id, collection_id, ...filters }: Scope, words: string[]): string {
  const scope = [
    `${kind}${bare(organization_id)}`,
    ...(collection_id ? [`in${bare(collection_id)}`] : []),
    ...(filters.creator_id ? [`by${bare(filters.creator_id)}`] : []),
    ...(filters.organization_index ? [`ix${toHex(new TextEncoder().encode(filters.organization_index))}`] : []),
  ]
  return [...scope.map((one) => `scope:"${one}"`), ...words.map(begins)].join(' AND ')
}
