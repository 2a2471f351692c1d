import { EXPIRED_FOR, sessionTable, type SessionTable } from '../adapters/session_table.ts'
import { notFound, sessionExpired } from '../errors.ts'

/** The table of a play session. 404 without a query when its id tells that it ended long ago. */
export function sessionTableOf(id: string, now: number): SessionTable {
  const table = sessionTable(id, now)
  if (!table) throw notFound('play session')
  return table
}

/** The session if it lives; 410 for a day after its end, then 404 like one that never was. */
export function checkExpiry<T extends { expires_at: number }>(what: string, session: T | undefined, now: number): T {
  if (!session || session.expires_at + EXPIRED_FOR <= now) throw notFound(what)
  if (session.expires_at <= now) throw sessionExpired(`This ${what}`)
  return session
}

/** Milliseconds since 1970 as the API writes times. */
export const timestamp = (milliseconds: number) => new Date(milliseconds).toISOString()
