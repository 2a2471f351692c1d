/** The last migration in `drizzle`, which the Worker needs. Written by npm run migration. */
export const LATEST_MIGRATION = '0004_triggers.sql'
