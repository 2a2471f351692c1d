import type { Context } from '../../context.ts'
import { invalid } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { checkVariants } from '../library/variant.ts'

/** The restrictions that API keys and shares have in common. */

/** Formats a time as the API does; null remains null. */
export const optionalTimestamp = (milliseconds: number | null) =>
  milliseconds === null ? null : timestamp(milliseconds)

const MAX_TIME = Date.parse('9999-12-31T23:59:59.999Z')

interface Restrictions {
  variants?: string[] | null | undefined
  expires_at?: string | null | undefined
  is_downloadable?: boolean | undefined
}

/** Converts the restrictions in a request to column values. Throws 400 if they are invalid. */
export async function toColumns<T extends Restrictions>(context: Context, { expires_at, ...columns }: T) {
  await checkVariants(context, columns.variants ?? [])
  if (expires_at === undefined) return columns
  const expiresAt = expires_at === null ? null : Date.parse(expires_at)
  if (expiresAt !== null && expiresAt <= context.now) throw invalid('expires_at', 'must be in the future')
  // A time zone offset can move a date beyond the last year that a timestamp can represent.
  if (expiresAt !== null && expiresAt > MAX_TIME) throw invalid('expires_at', 'must be before the year 10000')
  return { ...columns, expires_at: expiresAt }
}
