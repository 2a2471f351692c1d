/** The last migration in `drizzle`, which the Worker needs. Written by npm run migration. */
export const LATEST_MIGRATION = '0005_server_key_effects.sql'
