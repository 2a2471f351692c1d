import { drizzle } from 'drizzle-orm/d1'

/** D1 through Drizzle. Query builders are per request; there is no connection to keep. */
export const openDatabase = (d1: D1Database) => drizzle(d1)
export type Database = ReturnType<typeof openDatabase>

/** The same, of the copy that is nearest: it may be a moment behind. Drizzle needs no more of a database than a session has. */
export const openNearest = (d1: D1Database) =>
  openDatabase(d1.withSession('first-unconstrained') as unknown as D1Database)
