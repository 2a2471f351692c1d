/** The last migration in `drizzle`, which the Worker needs. `npm run check` compares the two. */
export const LATEST_MIGRATION = '0017_upload_handles.sql'
