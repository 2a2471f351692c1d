import { openSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Places where a test has the service die or fail, once each: `FAILPOINTS="uploaded=kill early_uploaded=throw"`. In production (the image
 * sets NODE_ENV) there are none.
 */
export type Failpoint =
  | 'downloaded'
  | 'encoded'
  | 'early_uploaded'
  | 'file_uploaded'
  | 'uploaded'
  | 'cover_uploaded'
  | 'result_ready'
  | 'result_fetched'

let armed = new Map<string, string>()
let notes = ''

/** Reads which places are meant. Those that were met are noted in the work directory, so that the next start passes them. */
export function armFailpoints(workDir: string, wanted = process.env.FAILPOINTS ?? ''): void {
  if (process.env.NODE_ENV === 'production') return
  notes = workDir
  armed = new Map(wanted.split(' ').map((text) => text.split('=') as [string, string]))
}

/** Dies or throws here, if a test wants it. */
export function failpoint(name: Failpoint): void {
  const action = armed.get(name)
  if (!action) return
  armed.delete(name)
  try {
    openSync(join(notes, `failpoint-${name}`), 'wx')
  } catch {
    return
  }
  if (action === 'kill') process.kill(process.pid, 'SIGKILL')
  throw new Error(`failpoint ${name}`)
}
