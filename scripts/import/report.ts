import { NOT_EXPORTED } from '../../src/adapters/db/organization_tables.ts'
import { readRows } from '../backup/insert.ts'
import { type Manifest, sourcesOf } from '../backup/manifest.ts'
import type { Service } from '../backup/service.ts'
import type { Store } from '../backup/store.ts'

/** The lines that the commands print about an export: its gaps, and the work that is left after its import. */

/** Prints whether the organization was changed while it was exported, and the data that the export leaves out. */
export async function reportExport(service: Service, store: Store, manifest: Manifest): Promise<void> {
  const { last_event } = await service.call('describe', {})
  const { database } = sourcesOf(manifest)
  const isChanged = last_event !== manifest.cut.last_event
  console.log(
    isChanged
      ? `The organization was changed meanwhile, last at ${new Date(last_event ?? 0).toISOString()}. Changes after ${manifest.cut.at} may be missing: run the same command again, it copies only new files.`
      : 'The organization was not changed meanwhile.',
  )
  let running = 0
  for await (const { status } of readRows(store, database, 'tracks'))
    if (String(status).endsWith('processing')) running++
  if (running > 0) console.log(`Tracks that were being processed, which an import processes again: ${running}`)
  const left = Object.entries(NOT_EXPORTED).map(([table, reason]) => `\n  ${table}: ${reason}`)
  console.log(`Not in the export:${left.join('')}\n  secrets of keys and webhooks`)
  await reportSecrets(store, manifest)
}

/** Prints the keys and webhook endpoints that need a new secret after an import, except for the key that has got one. */
export async function reportSecrets(store: Store, manifest: Manifest, opened?: string): Promise<void> {
  const { database } = sourcesOf(manifest)
  const lines: string[] = []
  for await (const { id, type, title } of readRows(store, database, 'api_keys'))
    if (id !== opened) lines.push(`  ${type} key ${JSON.stringify(title)}: POST /v1/api_key/${id}/rotate`)
  for await (const { id, title, url } of readRows(store, database, 'webhook_endpoints'))
    lines.push(`  webhook ${JSON.stringify(title)} to ${url}: POST /v1/webhook_endpoint/${id}/rotate, then resume it`)
  if (lines.length > 0) console.log(`Need a new secret after an import:\n${lines.join('\n')}`)
}
