import * as z from 'zod'

/**
 * The requests of `npm run backup` and `npm run restore` to the service (docs/decisions/0080). They are not operations of the API: the commands and
 * the Worker belong to the same release.
 */

/** The values of a primary key. */
const Key = z.array(z.union([z.string(), z.number()])).max(4)
/** A row by column name. Bytes are in hexadecimal. */
const Row = z.record(z.string(), z.union([z.string(), z.number(), z.null()]))
export type Row = z.infer<typeof Row>
/** The path of an object that the service writes (src/adapters/bucket/media.ts). */
const Path = z
  .string()
  .max(1024)
  .regex(/^(uploads|media)\//, 'must start with uploads/ or media/')
const backup_id = z.uuid()

/** Maximum number of rows of one table, and of objects, in one request. */
export const MAX_ROWS = 500
export const MAX_OBJECTS = 200
/** Maximum bytes of a request. D1 accepts 2 MB for a value that is bound to a statement. */
export const MAX_REQUEST_BYTES = 1_900_000

export const BackupRequest = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('describe') }),
  /** Reads the next rows of a walk, or the rows with these ids. */
  z.strictObject({
    action: z.literal('rows'),
    walk: z.string(),
    after: Key.nullable(),
    ids: z.array(z.string()).max(MAX_ROWS).optional(),
  }),
  /** Lists objects in the order of their paths. */
  z.strictObject({ action: z.literal('objects'), after: z.string() }),
  z.strictObject({ action: z.literal('start'), backup_id, schema_version: z.string() }),
  z.strictObject({ action: z.literal('insert'), backup_id, table: z.string(), rows: z.array(Row).max(MAX_ROWS) }),
  /** Signs URLs to which objects are written. */
  z.strictObject({ action: z.literal('urls'), backup_id, paths: z.array(Path).max(MAX_OBJECTS) }),
  /** Checks the number of rows, then repairs a few organizations; `after` is the id of the last one. */
  z.strictObject({
    action: z.literal('finish'),
    backup_id,
    after: z.string(),
    counts: z.record(z.string(), z.int()),
  }),
  /** Resumes the webhook endpoints that a restore has paused. */
  z.strictObject({ action: z.literal('resume') }),
])
export type BackupRequest = z.infer<typeof BackupRequest>

export interface ListedObject {
  path: string
  size: number
  etag: string
  content_type: string | null
  cache_control: string | null
  /** Signed URL from which the object is read. */
  url: string
}

/** The response to each action. */
export interface BackupAnswers {
  describe: {
    /** The name of the last migration. */
    schema_version: string
    /** An HMAC of a constant with SIGNING_SECRET, by which two services with the same secret recognize each other. */
    secret_fingerprint: string
    now: number
    /** The `seq` of the last event of all organizations: its time in milliseconds since 1970. */
    last_event: number | null
    /** The tables and walks in the order in which they are read and restored. */
    tables: string[]
    walks: string[]
    /** The tables that have rows, and `files` if there are objects. A restore needs a service without any. */
    occupied: string[]
    /** The restore that has not finished, with the rows that the tables have so far. */
    restore: { backup_id: string; is_complete: boolean; counts: Record<string, number> } | null
  }
  rows: { rows: Record<string, Row[]>; after: (string | number)[] | null }
  objects: { objects: ListedObject[]; after: string | null }
  start: object
  insert: object
  urls: { urls: string[] }
  finish: { after: string | null; queued: number }
  resume: { resumed: number }
}
