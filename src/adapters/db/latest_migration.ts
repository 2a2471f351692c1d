/** The last migration in `drizzle`, which the Worker needs. `npm run check` compares the two. */
export const LATEST_MIGRATION = '0014_listening_due.sql'
