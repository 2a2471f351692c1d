import { ApiError, describeError } from './errors.ts'

/** Returns the 503 for a Worker that lacks settings. It contains their names and never a value. */
export const missingSettingsError = (names: string[]) =>
  new ApiError(
    'not_configured',
    `The Worker lacks ${names.join(', ')}. npm run deploy sets secrets and addresses (on your machine, a restart does); other variables belong in wrangler.toml`,
  )

/** The fault of a database to which a migration was not applied, in SQLite's words; undefined for any other error. */
export const schemaFault = (error: unknown): string | undefined =>
  /no such (?:table|column): [\w.]+|table \w+ has no column named \w+/.exec(describeError(error))?.[0]

/** Returns the 503 for a database that lacks a table or a column. */
export const missingMigrationError = (fault: string) =>
  new ApiError(
    'not_configured',
    `The database is not migrated (${fault}). Run npm run deploy; on your machine: npx wrangler d1 migrations apply DB --local`,
  )
