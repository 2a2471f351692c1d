import { randomUUID } from 'node:crypto'

import { readChanged, storeIndex, storeTables, type Tables } from './consistent.ts'
import { MANIFEST, type Manifest, readManifest, sourcesOf } from './manifest.ts'
import { copyObjects, readIndex } from './objects.ts'
import { createFiles, readTables } from './rows.ts'
import { bytesText, Fault, type Service } from './service.ts'
import { readState, removeState, type State, trimFiles, writeState } from './state.ts'
import type { Store } from './store.ts'

/** Copies the rows and objects of a running service, or those of one organization (docs/decisions/0080, 0128). */

/** Milliseconds after which the rows of an unfinished backup are read again: sessions that ended a day ago are deleted. */
const ROWS_STALE_AFTER = 12 * 3600_000

const copyOf = ({ organization_id }: { organization_id?: string | undefined }) =>
  organization_id ? `an export of the organization ${organization_id}` : 'a backup of a whole service'

/** Continues an unfinished copy of this service or organization, or starts a new one. */
async function openState(service: Service, store: Store): Promise<State> {
  const { schema_version, secret_fingerprint, restore, occupied } = await service.call('describe', {})
  const { base_url, organization_id } = service
  if (restore) throw new Fault('A backup is being restored, or the organization imported. Finish that first.')
  if (organization_id && !occupied.includes('organizations'))
    throw new Fault(`${base_url} has no organization ${organization_id}`)
  const unfinished = await readState(store)
  if (unfinished && (unfinished.base_url !== base_url || unfinished.organization_id !== organization_id))
    throw new Fault(
      `${store.name} has an unfinished copy: ${copyOf(unfinished)} at ${unfinished.base_url}. Use another place, or delete ${store.workDirectory}`,
    )
  const isUsable = unfinished?.schema_version === schema_version && unfinished.secret_fingerprint === secret_fingerprint
  if (unfinished && isUsable) {
    console.log(`continues the ${organization_id ? 'export' : 'backup'} that was started at ${unfinished.started_at}`)
    const rowsAge = unfinished.cut ? Date.now() - Date.parse(unfinished.cut.at) : 0
    if (rowsAge > ROWS_STALE_AFTER) {
      delete unfinished.cut
      Object.assign(unfinished, {
        walks: {},
        sizes: Object.fromEntries(Object.keys(unfinished.sizes).map((name) => [name, 0])),
      })
    }
    await trimFiles(store, unfinished)
    return unfinished
  }
  const state: State = {
    backup_id: randomUUID(),
    base_url,
    ...(organization_id && { organization_id }),
    started_at: new Date().toISOString(),
    schema_version,
    secret_fingerprint,
    walks: {},
    sizes: {},
  }
  await trimFiles(store, state)
  await writeState(store, state)
  return state
}

/** Reads all rows after the cut has been written down. */
async function readRows(service: Service, store: Store, state: State): Promise<string[]> {
  const { now, last_event, walks, tables } = await service.call('describe', {})
  state.cut ??= { at: new Date(now).toISOString(), last_event }
  await createFiles(store, state, tables)
  await readTables(service, store, state, walks)
  return tables
}

/** Copies a service, or an organization of it, to a place. Resolves to the manifest. */
export async function copyService(service: Service, store: Store): Promise<Manifest> {
  const startedAt = Date.now()
  const previous = await readManifest(store)
  if (previous && previous.organization_id !== service.organization_id)
    throw new Fault(`${store.name} has ${copyOf(previous)}. Use another place`)
  const state = await openState(service, store)
  const index = await readIndex(store)
  // Most objects are copied before the rows are read, so that the objects that the rows refer to are copied soon after: deleted files stay in the
  // bucket for two hours.
  await copyObjects(service, store, index)
  const names = await readRows(service, store, state)
  await copyObjects(service, store, index)
  const tables: Tables = { store, fresh: new Map() }
  await readChanged(service, tables, index)

  const folder = `backups/${state.backup_id}`
  const { source, dropped } = await storeTables(tables, index, names, folder, service.organization_id !== undefined)
  const bucket = await storeIndex(tables, index, folder)
  const manifest: Manifest = {
    format: 1,
    backup_id: state.backup_id,
    ...(state.organization_id && { organization_id: state.organization_id }),
    started_at: state.started_at,
    finished_at: new Date().toISOString(),
    cut: state.cut!,
    schema_version: state.schema_version,
    secret_fingerprint: state.secret_fingerprint,
    sources: [bucket, source],
    dropped,
  }
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  async function* bytes() {
    yield text
  }
  await store.write(MANIFEST, text.length, async () => bytes())
  if (previous && previous.backup_id !== state.backup_id) await removeRows(store, previous)
  await removeState(store)
  const rows = source.tables.reduce((sum, table) => sum + table.rows, 0)
  const left = Object.entries(dropped).map(([name, count]) => `${name} ${count}`)
  console.log(`
${store.name}: ${rows} rows, ${bucket.objects} objects (${bytesText(bucket.bytes)}) after ${Math.round((Date.now() - startedAt) / 1000)} s
Complete up to ${manifest.cut.at}. Rows left out because what they belong to was deleted meanwhile: ${left.join(', ') || 'none'}`)
  return manifest
}

/** Deletes the rows of the previous backup in this place. Its objects stay. */
async function removeRows(store: Store, manifest: Manifest): Promise<void> {
  const { bucket, database } = sourcesOf(manifest)
  for (const { path } of [bucket.index, ...database.tables.map(({ file }) => file)]) await store.remove(path)
}
