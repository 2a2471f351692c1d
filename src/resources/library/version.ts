import { type SQL, sql } from 'drizzle-orm'
import type * as z from 'zod'

import { ApiError } from '../../core/errors.ts'

/**
 * The versions of tracks, collections and organizations (docs/decisions/0091). A version is the time of the last change in milliseconds, and grows with
 * each change, even if the clock does not.
 */

/** The version of a row, in SQL. */
export const currentVersion = sql<number>`coalesce(updated_at, created_at)`

/** Returns `updated_at` for a change, in SQL: the time of the request, or the time after the previous change if that is later. */
export const nextVersion = (now: number) => sql<number>`max(${now}, ${currentVersion} + 1)`

/** Returns the version in `If-Match`, which is `"7"`, `W/"7"`, `7` or `*`; undefined if any version matches. */
export const expectedVersion = (if_match: string | undefined) =>
  if_match === undefined || if_match === '*' ? undefined : Number(if_match.replace(/\D/g, ''))

/** Returns the condition that a row has a version, for the statement that changes it; undefined if any version matches. */
export const hasVersion = (version: number | undefined): SQL | undefined =>
  version === undefined ? undefined : sql`${currentVersion} = ${version}`

/**
 * Whether a row already has these values, so that a change that was refused because of its version has nothing left to do. That is the case if the first
 * response was lost (RFC 9110 §13.1.1).
 */
export const isApplied = (row: object, values: object) =>
  Object.entries(values).every(([name, value]) => isEqual((row as Record<string, unknown>)[name], value))

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one, sortKeys) === JSON.stringify(other, sortKeys)

// The keys of JSON objects have no order (RFC 8259 §4).
const sortKeys = (_key: string, value: unknown): unknown =>
  value && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** Returns a 412 error that contains the resource as it is now, without the columns that its schema does not have. */
export const versionMismatch = <T extends { id: string; version: number }>(
  noun: string,
  current: { version: number },
  schema: z.ZodType<T>,
) =>
  new ApiError('version_mismatch', `The ${noun} is at version ${current.version} now; read it again`, {
    current: schema.parse(current),
  })
