import { ApiError, describeError } from './errors.ts'

/** Settings without which the Worker does not work. All other variables may be empty (docs/decisions/0074). */
const REQUIRED = [
  'ROOT_KEY',
  'SIGNING_SECRET',
  'TRANSCODER_SECRET',
  'R2_ACCESS_KEY_ID',
  'R2_SECRET_ACCESS_KEY',
  'S3_ENDPOINT',
  'S3_BUCKET',
  'MAX_UPLOAD_BYTES',
  'MAX_DURATION_SECONDS',
  'DATABASE_LIMIT_BYTES',
  'WEBHOOK_TIMEOUT',
] as const satisfies (keyof Env)[]

/** Returns the names of the required settings that are not set or empty. */
export const missingSettings = (env: Env): string[] => REQUIRED.filter((name) => !env[name])

/** Returns the 503 for a Worker that lacks settings. It contains their names and never a value. */
export const lacksSettings = (names: string[]) =>
  new ApiError(
    'not_configured',
    `The Worker lacks ${names.join(', ')}. npm run deploy sets secrets and addresses (on your machine, a restart does); other variables belong in wrangler.toml`,
  )

/** The fault of a database to which a migration was not applied, in SQLite's words; undefined for any other error. */
export const schemaFault = (error: unknown): string | undefined =>
  /no such (?:table|column): [\w.]+|table \w+ has no column named \w+/.exec(describeError(error))?.[0]

/** Returns the 503 for a database that lacks a table or a column. */
export const lacksMigration = (fault: string) =>
  new ApiError(
    'not_configured',
    `The database is not migrated (${fault}). Run npm run deploy; on your machine: npx wrangler d1 migrations apply DB --local`,
  )
