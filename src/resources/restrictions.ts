import type { Context } from '../context.ts'
import { invalid } from '../errors.ts'
import { timestamp } from './session.ts'
import { checkVariants } from './variant.ts'

/** What restricts API keys and shares. */

/** A time as the API writes it, where there is one. */
export const optionalTimestamp = (milliseconds: number | null) =>
  milliseconds === null ? null : timestamp(milliseconds)

const MAX_TIME = Date.parse('9999-12-31T23:59:59.999Z')

interface Restrictions {
  variants?: string[] | null | undefined
  expires_at?: string | null | undefined
  is_downloadable?: boolean | undefined
}

/** The columns of what a request restricts; 400 for what cannot be. */
export async function toColumns<T extends Restrictions>(context: Context, { expires_at, ...rest }: T) {
  await checkVariants(context, rest.variants ?? [])
  if (expires_at === undefined) return rest
  const at = expires_at === null ? null : Date.parse(expires_at)
  if (at !== null && at <= context.now) throw invalid('expires_at', 'must be in the future')
  // An offset can carry a date over the end of the years that a timestamp can be written in.
  if (at !== null && at > MAX_TIME) throw invalid('expires_at', 'must be before the year 10000')
  return { ...rest, expires_at: at }
}
