import { notFound } from '../../core/errors.ts'
import { EXPIRED_FOR } from '../../core/time.ts'
import { hourOf, idsBefore } from '../crypto/id.ts'

/** Checks expiry by the id of a play session, which starts with the hour of its expiry (docs/decisions/0027). It takes no query. */

const HOUR = 3600 * 1000

/** The first hour whose sessions are kept. Sessions are deleted by whole hours. */
const firstKeptHour = (now: number) => Math.floor((now - EXPIRED_FOR) / HOUR)

/** The lowest id that is kept: ids of earlier hours sort before it. */
export const firstKeptId = (now: number) => idsBefore(firstKeptHour(now))

/** Throws 404 without a query if the id has no hour, or if its session ended more than `EXPIRED_FOR` ago. */
export function checkSessionId(id: string, now: number): void {
  const hour = hourOf(id)
  if (hour === null || hour < firstKeptHour(now)) throw notFound('play session')
}
