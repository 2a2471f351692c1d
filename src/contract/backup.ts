import * as z from 'zod'

/**
 * The requests of `npm run backup` and `npm run restore` to the service (docs/decisions/0080), and those of `npm run export` and `npm run import`, which
 * have an `organization_id` (docs/decisions/0128). They are not operations of the API: the commands and the Worker belong to the same release.
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
/** If set, the action is limited to the rows and objects of this organization. */
const organization_id = z.uuid().optional()

/** Maximum number of rows of one table, and of objects, in one request. */
export const MAX_ROWS = 500
export const MAX_OBJECTS = 200
/** Maximum bytes of a request. D1 accepts 2 MB for a value that is bound to a statement. */
export const MAX_REQUEST_BYTES = 1_900_000

export const BackupRequest = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('describe'), organization_id }),
  /** Reads the next rows of a walk, or the rows with these ids. */
  z.strictObject({
    action: z.literal('rows'),
    organization_id,
    walk: z.string(),
    after: Key.nullable(),
    ids: z.array(z.string()).max(MAX_ROWS).optional(),
  }),
  /** Lists objects in the order of their paths. */
  z.strictObject({ action: z.literal('objects'), organization_id, after: z.string() }),
  /** Returns the ids that rows of other organizations have, and the slugs that other shares have or had. */
  z.strictObject({
    action: z.literal('taken'),
    organization_id: z.uuid(),
    ids: z.array(z.string()).max(MAX_ROWS),
    /** The slug and the id of shares. */
    slugs: z.array(z.tuple([z.string(), z.string()])).max(MAX_ROWS),
  }),
  z.strictObject({ action: z.literal('start'), organization_id, backup_id, schema_version: z.string() }),
  z.strictObject({
    action: z.literal('insert'),
    organization_id,
    backup_id,
    table: z.string(),
    rows: z.array(Row).max(MAX_ROWS),
  }),
  /** Signs URLs to which objects are written. */
  z.strictObject({ action: z.literal('urls'), organization_id, backup_id, paths: z.array(Path).max(MAX_OBJECTS) }),
  /** Checks the number of rows, then repairs a few organizations; `after` is the id of the last one. */
  z.strictObject({
    action: z.literal('finish'),
    organization_id,
    backup_id,
    after: z.string(),
    counts: z.record(z.string(), z.int()),
    /** The row of the organization that is imported. It is inserted last. */
    organization: Row.optional(),
  }),
  /** Ends an import. The command has shown the secret that `finish` returned; until then, `finish` may be repeated for another one. */
  z.strictObject({ action: z.literal('close'), organization_id: z.uuid(), backup_id }),
  /** Deletes what an unfinished import has inserted. */
  z.strictObject({ action: z.literal('discard'), organization_id: z.uuid() }),
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
    /** The `seq` of the last event of these organizations: its time in milliseconds since 1970. */
    last_event: number | null
    /** The tables and walks in the order in which they are read and restored. */
    tables: string[]
    walks: string[]
    /** The tables that have rows, and `files` if there are objects. A restore needs a service without any, and an import one without the organization. */
    occupied: string[]
    /** The restore or import that has not finished, with the rows that the tables have so far. */
    restore: { backup_id: string; is_complete: boolean; counts: Record<string, number> } | null
  }
  rows: { rows: Record<string, Row[]>; after: (string | number)[] | null }
  objects: { objects: ListedObject[]; after: string | null }
  taken: { ids: string[]; slugs: string[] }
  start: object
  insert: object
  urls: { urls: string[] }
  finish: {
    after: string | null
    queued: number
    /** The server key of an imported organization that has got a new secret, because the secrets are not imported. */
    key?: { id: string; title: string; secret: string } | null
  }
  close: object
  discard: object
  resume: { resumed: number }
}
