import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { makeDirectories } from '../../container/disk.ts'

/** Locks a STATE_DIR: two running stacks with the same database would claim each other's jobs. */

interface Owner {
  pid: number
  base_url: string
}

/** The connection that holds the lock. It is referenced here until the process ends, so that it is not closed. */
let lock: DatabaseSync | undefined

/**
 * Creates the directory and locks it until this process ends. The lock is on a SQLite file, so the operating system releases it even after
 * a crash. Throws an error that names the remedy if another process holds the lock or the directory is not writable.
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

/** SQLite's error code SQLITE_BUSY. */
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
