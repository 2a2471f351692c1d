import { Fault } from './service.ts'
import { type Checksums, readText, type Store } from './store.ts'

/** The description of a finished backup (docs/decisions/0080) or export (docs/decisions/0128). */
export interface Manifest {
  format: 1
  backup_id: string
  /** Set for an export: it has only the rows and objects of this organization. */
  organization_id?: string
  /** When the backup was started and finished, in ISO 8601. */
  started_at: string
  finished_at: string
  /**
   * The last event before the backup read the first row. Every resource that existed then and still existed at the end is in the backup; later ones may
   * be.
   */
  cut: { at: string; last_event: number | null }
  /** The last migration. A restore needs a service with the same one. */
  schema_version: string
  secret_fingerprint: string
  /** The parts of the service that were copied, in the order in which they are restored. */
  sources: (BucketSource | DatabaseSource)[]
  /** The number of rows that were left out because what they refer to was deleted meanwhile. */
  dropped: Record<string, number>
}

interface StoredFile extends Checksums {
  path: string
}

export interface BucketSource {
  name: 'MEDIA'
  kind: 'bucket'
  objects: number
  bytes: number
  /** A file with a line for each object (`CopiedObject`). */
  index: StoredFile
}

export interface DatabaseSource {
  name: 'DB'
  kind: 'database'
  tables: { name: string; rows: number; file: StoredFile }[]
}

/** An object in the index of a backup. It is stored as `objects/{path}`. */
export interface CopiedObject extends Checksums {
  path: string
  /** The ETag of the original, by which a later backup recognizes that it has not changed. */
  etag: string
  content_type: string | null
  cache_control: string | null
}

export const MANIFEST = 'manifest.json'
export const objectPath = (path: string) => `objects/${path}`

/** Reads the manifest, which exists once a backup has finished. Returns null before that. */
export async function readManifest(store: Store): Promise<Manifest | null> {
  const bytes = await store.read(MANIFEST)
  if (!bytes) return null
  const manifest = JSON.parse(await readText(bytes)) as Manifest
  if (manifest.format !== 1)
    throw new Fault(`${store.name} has the format ${String(manifest.format)}, which this version does not know`)
  return manifest
}

export function sourcesOf({ sources }: Manifest): { bucket: BucketSource; database: DatabaseSource } {
  const bucket = sources.find((source) => source.kind === 'bucket')
  const database = sources.find((source) => source.kind === 'database')
  if (!bucket || !database || sources.length > 2)
    throw new Fault(
      `This version restores one database and one bucket, not ${sources.map(({ name }) => name).join(', ')}`,
    )
  return { bucket, database }
}
