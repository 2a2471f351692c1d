import { drizzle } from 'drizzle-orm/d1'

/** D1 through Drizzle. Query builders are per request; there is no connection to keep. */
export const openDatabase = (d1: D1Database) => drizzle(d1)
export type Database = ReturnType<typeof openDatabase>
