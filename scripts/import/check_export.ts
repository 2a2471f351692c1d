import { isIssuedId } from '../../src/adapters/crypto/id.ts'
import type { Row } from '../../src/contract/backup.ts'
import { readStored } from '../backup/insert.ts'
import { type CopiedObject, type Manifest, sourcesOf } from '../backup/manifest.ts'
import { contentOf, coverPathsOf, filePathsOf, playlistOf } from '../backup/references.ts'
import { Fault } from '../backup/service.ts'
import { jsonLines, type Store } from '../backup/store.ts'
import { faultOfRow } from './check_row.ts'

/**
 * Checks an export before anything is written, because it may have been edited, with its checksums. Every row and file must belong to its organization, refer
 * to rows and files of the export only, and have the columns of its table (docs/move.md#an-edited-export).
 */

/** The facts of an export that its import needs. */
export interface Checked {
  organization: Row
  /** The ids of the rows, and those to which keys refer. */
  ids: string[]
  /** The slugs of shares, with the ids of the shares. */
  slugs: [slug: string, share_id: string][]
}

/** The file with the rows of a table, or with the list of objects. */
const fileOf = (backup_id: string, name: string) => `backups/${backup_id}/${name}.ndjson`

/** Throws unless the manifest lists exactly these tables, in this order, in their files. */
function checkManifest(store: Store, manifest: Manifest & { organization_id: string }, tables: string[]): void {
  const { organization_id, backup_id } = manifest
  const { bucket, database } = sourcesOf(manifest)
  const isId = (id: unknown) => typeof id === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)
  const refuse = (problem: string) => {
    throw new Fault(`${store.name}/manifest.json: ${problem}`)
  }
  if (!isIssuedId(organization_id)) refuse(`organization_id is ${JSON.stringify(organization_id)}, which is no id`)
  if (!isId(backup_id)) refuse(`backup_id is ${JSON.stringify(backup_id)}, which is no id`)
  const names = database.tables.map(({ name }) => name)
  if (JSON.stringify(names) !== JSON.stringify(tables))
    refuse(`the tables are ${names.join(', ')}; this version expects ${tables.join(', ')}`)
  for (const [name, { path }] of [
    ['objects', bucket.index] as const,
    ...database.tables.map((table) => [table.name, table.file] as const),
  ])
    if (path !== fileOf(backup_id, name)) refuse(`${name} is in ${path}, not in ${fileOf(backup_id, name)}`)
}

/** Reads the list of objects. Throws for one outside of the organization's folders, or without checksums. */
async function readObjects(store: Store, path: string, organization_id: string): Promise<Set<string>> {
  const own = new RegExp(`^(uploads|media)/${organization_id}(/[\\w-][\\w.-]*)+$`)
  const objects = new Set<string>()
  for await (const object of linesOf<CopiedObject>(store, path)) {
    const refuse = (problem: string) => {
      throw new Fault(`${path}: ${JSON.stringify(object.path)} ${problem}`)
    }
    if (!own.test(object.path)) refuse(`is not in a folder of the organization ${organization_id}`)
    if (objects.has(object.path)) refuse('is listed twice')
    if (!Number.isSafeInteger(object.size) || object.size < 0) refuse('has no size')
    if (!/^[\da-f]{64}$/.test(object.sha256) || !/^[\da-f]{32}$/.test(object.md5)) refuse('has no checksums')
    objects.add(object.path)
  }
  return objects
}

/** Reads the lines of a file. Throws for one that is no JSON object. */
async function* linesOf<T extends object>(store: Store, path: string): AsyncGenerator<T> {
  try {
    for await (const line of jsonLines<T>(await readStored(store, path))) {
      if (line === null || typeof line !== 'object') throw new Fault(`${path} has a line that is no object`)
      yield line
    }
  } catch (error) {
    throw error instanceof SyntaxError ? new Fault(`${path} has a line that is no JSON: ${error.message}`) : error
  }
}

type Kind = 'collection' | 'playlist' | 'track' | 'share'

/** The resources to which the rows of a table refer. */
function referencesOf(table: string, row: Row): [Kind, unknown][] {
  switch (table) {
    case 'tracks':
    case 'upload_sessions':
    case 'reprocesses':
      return [['collection', row.collection_id]]
    case 'upload_handles':
    case 'reservations':
      return [['track', row.track_id]]
    case 'playlist_tracks':
      return [
        ['track', row.track_id],
        ['playlist', playlistOf(row)],
      ]
    case 'retired_slugs':
      return [['share', row.share_id]]
    case 'shares':
      return [[row.scope as Kind, row.resource_id]]
    default:
      return []
  }
}

const TABLE_OF_KIND: Record<string, Kind> = {
  collections: 'collection',
  playlists: 'playlist',
  tracks: 'track',
  shares: 'share',
}
/** Tables whose ids are not those of `newId`. */
const OTHER_IDS = ['events']

/** Throws, with the file and the row, if an export is not one that `npm run export` could have written for a service with these tables. */
export async function checkExport(
  store: Store,
  manifest: Manifest & { organization_id: string },
  tables: string[],
): Promise<Checked> {
  checkManifest(store, manifest, tables)
  const { organization_id, backup_id } = manifest
  const { database } = sourcesOf(manifest)
  const objects = await readObjects(store, fileOf(backup_id, 'objects'), organization_id)
  const owned: Record<Kind, Set<string>> = {
    collection: new Set(),
    playlist: new Set(),
    track: new Set(),
    share: new Set(),
  }
  const ids = new Set<string>()
  const slugs: Checked['slugs'] = []
  const counts = new Map<string, number>()
  let organization: Row | undefined
  let isReachable = false

  async function eachRow(check: (table: string, row: Row) => string | null): Promise<void> {
    for (const table of tables)
      for await (const row of linesOf<Row>(store, fileOf(backup_id, table))) {
        let problem: string | null
        try {
          problem = check(table, row)
        } catch (error) {
          problem = `has values that no service writes: ${(error as Error).message}`
        }
        const key = row.id ?? row.slug ?? row.track_id ?? row.date ?? row.collection_id ?? row.name
        if (problem !== null) throw new Fault(`${fileOf(backup_id, table)}: the row ${JSON.stringify(key)} ${problem}`)
      }
  }

  /** The first pass: the columns and ids of each row. */
  const checkRow = (table: string, row: Row): string | null => {
    counts.set(table, (counts.get(table) ?? 0) + 1)
    const problem = faultOfRow(table, row, organization_id)
    if (problem !== null) return problem
    if (table === 'organizations') {
      if (organization) return 'is a second organization'
      organization = row
    }
    if (typeof row.id !== 'string' || OTHER_IDS.includes(table)) return null
    if (!isIssuedId(row.id)) return 'has an id that no service could have issued'
    if (ids.has(row.id)) return 'has an id that another row has too'
    ids.add(row.id)
    const kind = table === 'trash' ? (row.scope as Kind) : TABLE_OF_KIND[table]
    if (kind) owned[kind]?.add(row.id)
    return null
  }

  /** The second pass: the resources and files to which each row refers. */
  const checkReferences = (table: string, row: Row): string | null => {
    const [kind, id] = referencesOf(table, row).find(([each, other]) => !owned[each]?.has(String(other))) ?? []
    if (kind) return `refers to the ${kind} ${JSON.stringify(id)}, which is not in the export`
    if (table === 'api_keys') {
      // An export of an earlier version has no `may`.
      isReachable ||= row.type === 'server' && (row.may ?? null) === null && row.expires_at === null
      for (const other of [row.collection_id, row.track_id, row.playlist_id]) if (other !== null) ids.add(String(other))
    }
    if (table === 'shares') slugs.push([String(row.slug), String(row.id)])
    if (table === 'retired_slugs') slugs.push([String(row.slug), String(row.share_id)])
    if (table === 'upload_handles' && !String(row.path).startsWith(`uploads/${organization_id}/`))
      return `has the path ${JSON.stringify(row.path)}, which is not in a folder of the organization`
    if (table !== 'trash' && !TABLE_OF_KIND[table]) return null
    return checkFiles(table, row)
  }

  const checkFiles = (table: string, row: Row): string | null => {
    if (table === 'trash') {
      const [scope] = Object.entries(TABLE_OF_KIND).find(([, kind]) => kind === row.scope && kind !== 'share') ?? []
      if (!scope) return `has the scope ${JSON.stringify(row.scope)}`
      const content = contentOf(table, row)
      if (content.id !== row.id) return 'contains the row of another id'
      return faultOfRow(scope, content, organization_id) ?? checkReferences(scope, content)
    }
    const paths = [...(table === 'tracks' ? filePathsOf(row) : []), ...coverPathsOf(row)]
    const missing = paths.find((path) => !objects.has(path))
    return missing === undefined ? null : `has the file ${JSON.stringify(missing)}, which is not in the list of objects`
  }

  await eachRow(checkRow)
  await eachRow(checkReferences)
  if (!organization) throw new Fault(`${fileOf(backup_id, 'organizations')} has no row`)
  if (!isReachable)
    throw new Fault(`${fileOf(backup_id, 'api_keys')} has no server key that may do everything and never expires`)
  for (const { name, rows } of database.tables) {
    const found = counts.get(name) ?? 0
    if (found !== rows) throw new Fault(`${fileOf(backup_id, name)} has ${found} rows, and the manifest says ${rows}`)
  }
  return { organization, ids: [...ids], slugs }
}
