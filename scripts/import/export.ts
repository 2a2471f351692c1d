import { OF_ORGANIZATION } from '../../src/adapters/db/organization_tables.ts'
import { MAX_ROWS } from '../../src/contract/backup.ts'
import { restoreObjects, restoreRows, verifyFiles } from '../backup/insert.ts'
import { type DatabaseSource, type Manifest, readManifest, sourcesOf } from '../backup/manifest.ts'
import { Fault, openService, readOptions, type Service } from '../backup/service.ts'
import { openStore, type Store } from '../backup/store.ts'
import { type Checked, checkExport } from './check_export.ts'
import { reportSecrets } from './report.ts'
import { USAGE } from './usage.ts'

/** `npm run import -- export DIR`: imports an organization into a service that others use (docs/move.md, docs/decisions/0128). */

/**
 * The tables whose number of rows says nothing: the service itself deletes rows when their time is over, perhaps before the import has finished, and the
 * slugs of shares are reserved as if they were former ones.
 */
const UNCOUNTED = ['trash', 'upload_sessions', 'upload_handles', 'reservations', 'events', 'retired_slugs']

/** Returns the manifest of a finished export. */
async function readExport(store: Store): Promise<Manifest & { organization_id: string }> {
  const manifest = await readManifest(store)
  if (!manifest)
    throw new Fault(
      `${store.name} has no manifest.json, so it has no finished export. Run npm run export again; it continues.`,
    )
  const { organization_id } = manifest
  if (!organization_id)
    throw new Fault(`${store.name} has a backup of a whole service. npm run restore restores it into an empty service`)
  return { ...manifest, organization_id }
}

/** Throws if another organization of the service has an id of the export, or another share a slug of it. */
async function requireFree(service: Service, { ids, slugs }: Checked): Promise<void> {
  const organization_id = service.organization_id!
  for (let at = 0; at < Math.max(ids.length, slugs.length); at += MAX_ROWS) {
    const part = { ids: ids.slice(at, at + MAX_ROWS), slugs: slugs.slice(at, at + MAX_ROWS) }
    const taken = await service.call('taken', { organization_id, ...part })
    if (taken.slugs.length > 0)
      throw new Fault(
        `Another share of ${service.base_url} has or had the slug ${taken.slugs.join(', ')}. Give the share another slug before the export`,
      )
    if (taken.ids.length > 0)
      throw new Fault(`Another organization of ${service.base_url} has rows with the ids ${taken.ids.join(', ')}`)
  }
}

async function insert(service: Service, store: Store, manifest: Manifest, present: Record<string, number>) {
  const { bucket, database } = sourcesOf(manifest)
  await restoreObjects(service, store, manifest, bucket)
  const tables = database.tables.filter(({ name }) => name !== 'organizations')
  await restoreRows(service, store, manifest, { ...database, tables }, { ...present, retired_slugs: 0 })
}

/** The tables of which all rows must be there before the organization becomes visible. */
const countsOf = ({ tables }: DatabaseSource): Record<string, number> =>
  Object.fromEntries(
    tables.flatMap(({ name, rows }) =>
      name in OF_ORGANIZATION && name !== 'organizations' && !UNCOUNTED.includes(name) ? [[name, rows]] : [],
    ),
  )

async function importExport(url: string | undefined, store: Store): Promise<void> {
  const startedAt = Date.now()
  const manifest = await readExport(store)
  const { backup_id, schema_version, organization_id } = manifest
  const { database, ...sources } = sourcesOf(manifest)
  const service = openService(url, organization_id)
  const target = await service.call('describe', {})
  const isContinued = target.restore?.backup_id === backup_id
  if (!target.restore && target.occupied.includes('organizations'))
    throw new Fault(`${service.base_url} has an organization ${organization_id} already`)
  await verifyFiles(store, { ...sources, database })
  const checked = await checkExport(store, manifest, target.tables)
  if (!isContinued) await requireFree(service, checked)
  await service.call('start', { backup_id, schema_version })
  console.log(isContinued ? 'continues the import' : `imports the export of ${manifest.cut.at}`)
  if (!target.occupied.includes('organizations')) await insert(service, store, manifest, target.restore?.counts ?? {})
  const { organization } = checked
  const counts = countsOf(database)
  const { queued, key } = await service.call('finish', { backup_id, after: '', counts, organization })
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  console.log(`
${service.base_url} has the organization ${JSON.stringify(organization.name)} (${organization_id}) of ${manifest.cut.at} after ${seconds} s. Transcodes queued again: ${queued}`)
  if (key)
    console.log(
      `The server key ${JSON.stringify(key.title)} (${key.id}) has a new secret, shown only now: ${key.secret}`,
    )
  await reportSecrets(store, manifest, key?.id)
  await service.call('close', { organization_id, backup_id })
}

async function discard(url: string | undefined, store: Store): Promise<void> {
  const { organization_id } = await readExport(store)
  const service = openService(url, organization_id)
  await service.call('discard', { organization_id })
  console.log(`The rows and files of the unfinished import of ${organization_id} are deleted in the background.`)
}

/** Runs the command with the arguments after `export`. */
export async function run([place = '', ...args]: string[]): Promise<void> {
  const options = readOptions({ url: { type: 'string' }, discard: { type: 'boolean' } }, USAGE, args)
  if (place === '' || place.startsWith('--')) {
    console.error(USAGE)
    process.exitCode = 2
    return
  }
  await (options.discard ? discard : importExport)(options.url, openStore(place))
}
