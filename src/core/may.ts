import type { Effect } from '../contract/effect.ts'
import { ApiError } from './errors.ts'
import { keyOf, type Principal } from './principal.ts'

/** The rights of server keys (docs/decisions/0137). Other callers are limited by the `access` of operations only. */

const listed = (effects: readonly Effect[]) => new Intl.ListFormat('en').format(effects)

/** Whether the caller may do this. */
export const isAllowed = (principal: Principal, effect: Effect) => keyOf(principal)?.may?.includes(effect) ?? true

/** Throws 403 unless the caller may do all of this. */
export function requireEffects(principal: Principal, effects: readonly Effect[], what = 'This request'): void {
  const missing = effects.filter((effect) => !isAllowed(principal, effect))
  if (missing.length === 0) return
  const may = keyOf(principal)?.may ?? []
  const message = `${what} needs a server key that may ${listed(effects)}; this one may only ${listed(may)}`
  throw new ApiError('insufficient_scope', message, { missing })
}

/** Throws 403 if the caller may not replace the file at `path`. There is no such file if it is null. */
export function requireReplace(principal: Principal, path: string | null): void {
  if (path !== null) requireEffects(principal, ['delete'], 'Replacing a file')
}
