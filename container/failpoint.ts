import { openSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Points at which a test can kill the service or make it throw, once each: `FAILPOINTS="uploaded=kill early_uploaded=throw"`. They are
 * disabled in production (the image sets NODE_ENV).
 */
export type Failpoint =
  | 'downloaded'
  | 'source_fetched'
  | 'source_uploaded'
  | 'encoded'
  | 'early_uploaded'
  | 'file_uploaded'
  | 'uploaded'
  | 'cover_uploaded'
  | 'result_ready'
  | 'handed_back'
  | 'result_fetched'

let armed = new Map<string, string>()
let notesDir = ''

/**
 * Enables the requested failpoints. A failpoint that is reached creates a file in the work directory, so that the next start of the service
 * skips it.
 */
export function armFailpoints(workDir: string, spec = process.env.FAILPOINTS ?? ''): void {
  if (process.env.NODE_ENV === 'production') return
  notesDir = workDir
  armed = new Map(spec.split(' ').map((text) => text.split('=') as [string, string]))
}

/** Kills the process or throws if this failpoint is enabled. */
export function failpoint(name: Failpoint): void {
  const action = armed.get(name)
  if (!action) return
  armed.delete(name)
  try {
    openSync(join(notesDir, `failpoint-${name}`), 'wx')
  } catch {
    return
  }
  if (action === 'kill') process.kill(process.pid, 'SIGKILL')
  throw new Error(`failpoint ${name}`)
}
