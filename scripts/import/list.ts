import { readFile } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'

import { MAX_COVER_BYTES, MAX_STRING } from '../../src/contract/facts.ts'
import { TagsUpdate } from '../../src/contract/tags.ts'
import { oneLine } from '../../src/contract/text.ts'
import { Fault } from '../backup/service.ts'
import { parseCsv } from './csv.ts'
import { type Downloader, secureUrl } from './download.ts'
import { clip } from './notes.ts'
import { ID, readArguments } from './options.ts'
import { checkSource, fileNameOf, indexOf, indexOfUrl, type PlannedCollection, Planner } from './plan.ts'
import { carryOut } from './take.ts'

/** `npm run import -- list FILE`: imports the URLs of a CSV file or of JSON Lines (docs/import.md#a-list-of-urls). */

/** The columns of a list. */
const COLUMNS = ['url', 'title', 'artist', 'collection', 'date', 'cover', 'order', 'index'] as const
type Row = Partial<Record<(typeof COLUMNS)[number], string>>

const MAX_LIST = 100_000_000

/** Returns the rows of a list. Throws for a list that cannot be read as a whole. */
export function parseList(text: string, name: string): Row[] {
  const content = text.replace(/^\ufeff/, '')
  const isJson = /\.(jsonl|ndjson|json)$/i.test(name) || content.trimStart().startsWith('{')
  const rows = isJson ? parseLines(content) : parseCsv(content)
  const unknown = rows
    .flatMap((row) => Object.keys(row))
    .find((column) => !(COLUMNS as readonly string[]).includes(column))
  if (unknown !== undefined)
    throw new Fault(`The list has the column ${JSON.stringify(unknown)}. The columns are ${COLUMNS.join(', ')}`)
  if (rows.length > 0 && !rows.some(({ url }) => url)) throw new Fault('The list has no column "url"')
  return rows
}

function parseLines(text: string): Row[] {
  return text.split(/\r?\n/).flatMap((line, at) => {
    if (line.trim() === '') return []
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      throw new Fault(`Line ${at + 1} of the list is no JSON`)
    }
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      throw new Fault(`Line ${at + 1} of the list is no JSON object`)
    const cells = Object.entries(value).filter(([, cell]) => cell !== null)
    const bad = cells.find(([, cell]) => !['string', 'number'].includes(typeof cell))
    if (bad) throw new Fault(`Line ${at + 1} of the list: ${JSON.stringify(bad[0])} is neither a text nor a number`)
    return [Object.fromEntries(cells.map(([name, cell]) => [name, String(cell).trim()]))]
  })
}

/** Returns the rows with their numbers, in the order of the list, or of the column `order` where it has numbers. */
export function orderedRows(rows: Row[]): [number, Row][] {
  const places = rows.map((row, at) => [at + 1, row] as [number, Row])
  const rank = ({ order }: Row) => (order && Number.isFinite(Number(order)) ? Number(order) : Number.POSITIVE_INFINITY)
  return places.toSorted(([, one], [, other]) => (rank(one) === rank(other) ? 0 : rank(one) - rank(other)))
}

interface Context {
  base_url: string
  collectionOf: (name: string) => PlannedCollection
  downloader: Downloader
}

function trackOf(row: Row, { base_url, collectionOf, downloader: { untrusted } }: Context) {
  const { url = '', title = '', artist, collection = '', date, cover, order, index } = row
  if (url === '') throw new Fault('it has no url')
  if (!URL.canParse(url)) throw new Fault('its url is no URL')
  if (order && !Number.isFinite(Number(order))) throw new Fault('its order is no number')
  const source_url = secureUrl(new URL(url).href)
  checkSource(source_url, base_url)
  // A time is more exact than the date of a recording.
  const day = date ? date.replace(/^(\d{4}-\d\d-\d\d)[T ].*$/, '$1') : ''
  if (!TagsUpdate.shape.date.safeParse(day).success) throw new Fault('its date is not like 2026, 2026-11 or 2026-11-28')
  if (cover && !URL.canParse(cover)) throw new Fault('its cover is no URL')
  const name = fileNameOf(source_url)
  const tags = { ...(artist && { artist: clip(oneLine(artist), MAX_STRING) }), ...(day && { date: day }) }
  return {
    index: index ? indexOf(index) : indexOfUrl(source_url),
    collection: collectionOf(collection),
    body: {
      file_name: clip(name || title || 'audio', MAX_STRING),
      source_url,
      ...(title && { player_title: clip(oneLine(title), MAX_STRING) }),
    },
    ...(Object.keys(tags).length > 0 && { tags }),
    ...(cover && {
      cover: (signal: AbortSignal) =>
        untrusted(secureUrl(new URL(cover).href), { maxBytes: MAX_COVER_BYTES, seconds: 60, signal }),
    }),
    notes: [],
  }
}

/** Runs the command with the arguments after `list`. */
export async function run(args: string[]): Promise<void> {
  const { from, collection_id, downloader, client, base_url, isDryRun } = readArguments(args, {})
  const bytes = await readFile(resolve(from)).catch((error: Error) => {
    throw new Fault(`${from}: ${error.message}`)
  })
  if (bytes.length > MAX_LIST) throw new Fault(`${from} has more than ${MAX_LIST} bytes`)
  const rows = parseList(bytes.toString(), from)
  const collections = new Map<string, PlannedCollection>()
  const collectionOf = (given: string): PlannedCollection => {
    const name = oneLine(given) || oneLine(basename(from, extname(from))) || 'Import'
    const id = collection_id ?? (ID.test(name) ? name : undefined)
    const key = id ?? name
    const planned = { index: indexOf(`list:${key}`), title: clip(name, MAX_STRING), ...(id !== undefined && { id }) }
    if (!collections.has(key)) collections.set(key, planned)
    return collections.get(key)!
  }
  const planner = new Planner()
  const context = { base_url, collectionOf, downloader }
  for (const [number, row] of orderedRows(rows)) planner.add(number, row.title || '', () => trackOf(row, context))
  console.log(`${rows.length} items`)
  await carryOut(client, planner, { isDryRun })
}
