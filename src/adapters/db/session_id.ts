import { HOUR } from '../../contract/time.ts'
import { notFound } from '../../core/errors.ts'
import { EXPIRED_FOR } from '../../core/time.ts'
import { hourOf, idsBefore } from '../crypto/id.ts'

/** Checks whether a play session has expired without a query: its id starts with the hour in which it expires (docs/decisions/0027). */

/** The first hour whose sessions are kept. All sessions of an hour are deleted together. */
const firstKeptHour = (now: number) => Math.floor((now - EXPIRED_FOR) / HOUR)

/** The lower bound for ids of kept sessions. Ids with an earlier hour sort before it. */
export const firstKeptId = (now: number) => idsBefore(firstKeptHour(now))

/** Throws a 404 if the id has no hour, or if its session ended more than `EXPIRED_FOR` ago. It does not query the database. */
export function checkSessionId(id: string, now: number): void {
  const hour = hourOf(id)
  if (hour === null || hour < firstKeptHour(now)) throw notFound('play session')
}
