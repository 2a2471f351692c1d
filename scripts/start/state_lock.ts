import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { makeDirectories } from '../../container/disk.ts'

/** Two stacks on one database would claim each other's jobs. */

interface Owner {
  pid: number
  base_url: string
}

/** Referenced until the process ends, because it holds the lock. */
let lock: DatabaseSync | undefined

/**
 * Creates the directory and locks it until this process ends. The system releases the lock, which is on a SQLite file, even after a crash.
 * Throws an error with the remedy when another process holds the lock, or when the directory is not writable.
 */
export function lockState(directory: string, base_url: string): void {
  const ownerPath = join(directory, 'running.json')
  try {
    makeDirectories(directory)
    lock = new DatabaseSync(join(directory, 'lock'))
    lock.exec('pragma locking_mode = exclusive; begin exclusive')
    writeFileSync(ownerPath, JSON.stringify({ pid: process.pid, base_url } satisfies Owner))
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number }
    if (errcode === BUSY) throw new Error(lockedMessage(directory, readOwner(ownerPath)), { cause: error })
    throw new Error(
      `STATE_DIR cannot be used: ${directory} (${message}).\nMake it writable, or choose another: STATE_DIR=.wrangler/other npm start`,
      { cause: error },
    )
  }
}

/** SQLITE_BUSY. */
const BUSY = 5

const lockedMessage = (directory: string, owner: Owner | undefined) =>
  `Tonearm already runs on ${directory}${owner ? `: ${owner.base_url} (process ${owner.pid})` : ''}.
Stop that one, or give this one data and ports of its own: PORT=9000 TRANSCODER_PORT=9001 STATE_DIR=.wrangler/other npm start`

function readOwner(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner
  } catch {
    return undefined
  }
}
