import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'

/** A library of many tracks for the studio: rows of a few uploaded tracks, copied with new ids, titles and times. */

type Row = Record<string, string | number | null>

/** Sizes of the first two collections; the others have about 25 tracks each. */
const LARGE = [2000, 500]
/** One of so many tracks failed. */
const FAILED_EVERY = 400

const WORDS =
  'amber arbor ash blue canyon cedar coast cold copper delta distant dusk ember evening fern field glass gold harbor hollow island ivory lake lantern light lost lunar marble meadow mist morning night north ocean olive paper pearl pine quiet rain red river salt shadow silver slow snow south still stone storm summer tidal velvet violet water white wild winter wood'.split(
    ' ',
  )

/** Returns a title of two or three words. The same number always has the same title. */
function titleOf(at: number): string {
  const word = (n: number) => {
    const text = WORDS[(at * (7 + n * 4) + n * 13) % WORDS.length]!
    return text[0]!.toUpperCase() + text.slice(1)
  }
  return [word(0), word(1), ...(at % 3 === 0 ? [word(2)] : [])].join(' ')
}

const newId = () => `000${randomUUID().slice(3)}`

/**
 * Copies the tracks of the first of some collections into `collections` new ones, which have the covers of the given ones, until there are `count`
 * tracks in all. Returns the id of the largest collection.
 */
export function fillLibrary(
  path: string,
  collection_ids: readonly string[],
  failed_id: string,
  collections: number,
  count: number,
) {
  using database = new DatabaseSync(path)
  database.exec('pragma synchronous = off')
  const columns = (table: string) =>
    database
      .prepare(`select name from pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => `"${String(name)}"`)
      .join()
  const rows = (table: string, where: string, id: string) =>
    database.prepare(`select ${columns(table)} from ${table} where ${where}`).all(id) as Row[]
  const insert = (table: string, row: Row) => {
    const names = Object.keys(row)
    const text = `insert into ${table} (${names.map((name) => `"${name}"`).join()}) values (${names.map(() => '?').join()})`
    database.prepare(text).run(...Object.values(row))
  }
  const models = collection_ids.map((id) => rows('collections', 'id = ?', id)[0]!)
  const samples = rows('tracks', `collection_id = ? and status = 'ready'`, collection_ids[0]!)
  const failed = rows('tracks', 'id = ?', failed_id)[0]!
  const others = Math.floor((count - samples.length - LARGE[0]! - LARGE[1]!) / (collections - LARGE.length))
  const now = Date.now()
  let made = samples.length + 1
  let largest = ''
  database.exec('begin')
  for (let at = 0; at < collections; at++) {
    const id = newId()
    if (at === 0) largest = id
    const created_at = now - at * 3_600_000
    const seq = Number(models.at(-1)!.seq) + 1 + at
    insert('collections', {
      ...models[at % models.length],
      id,
      title: titleOf(at * 31),
      seq,
      created_at,
      updated_at: null,
    })
    const size = LARGE[at] ?? (at === collections - 1 ? count - made : others)
    for (let order = 0; order < size; order++, made++) {
      const sample = made % FAILED_EVERY === 0 ? failed : samples[made % samples.length]!
      const times = { created_at: created_at + order, updated_at: null }
      insert('tracks', {
        ...sample,
        id: newId(),
        collection_id: id,
        order,
        player_title: titleOf(made),
        job_id: newId(),
        ...times,
      })
    }
  }
  database.exec('commit')
  return largest
}
