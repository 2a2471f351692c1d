import type { Failure } from '../base/api.ts'

/** Changes of resources that several people may edit at the same time (docs/decisions/0091). */

interface Versioned {
  id: string
  version: number
}

/** Attempts until the resource has the same version for as long as a request takes. */
const ATTEMPTS = 3

/**
 * Sends a change of a resource as it was read. If someone else has changed other fields meanwhile, the change is sent again; if they have changed the same
 * fields, `onConflict` gets the resource as it is now, and the failure is returned.
 */
export async function sendVersioned<T extends Versioned, A extends { ok: true }>(
  before: T,
  changes: object,
  send: (headers: { 'if-match': string }) => Promise<A | Failure>,
  onConflict: (current: T) => void,
): Promise<A | Failure> {
  let { version } = before
  for (let attempt = 1; ; attempt++) {
    const answer = await send({ 'if-match': `"${version}"` })
    if (answer.ok || answer.code !== 'version_mismatch' || !answer.current) return answer
    const current = answer.current as T
    const isSame = (name: string) =>
      JSON.stringify(current[name as keyof T]) === JSON.stringify(before[name as keyof T])
    if (attempt === ATTEMPTS || !Object.keys(changes).every(isSame)) {
      onConflict(current)
      return answer
    }
    version = current.version
  }
}
