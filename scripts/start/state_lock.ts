import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { makeDirectories } from '../../container/disk.ts'
import { keepPrivate } from '../shared/private_mode.ts'
import { print } from '../shared/terminal.ts'

/** Locks a STATE_DIR: two running stacks with the same database would claim each other's jobs. */

interface Owner {
  pid: number
  base_url: string
}

/** The connections that hold locks. They are referenced here until the process ends, so that they are not closed. */
const locks: DatabaseSync[] = []

/**
 * Creates the directory and locks it until this process ends. The lock is on a SQLite file, so the operating system releases it even after
 * a crash. Throws an error that names the remedy if another process holds the lock or the directory is not writable.
 */
export function lockState(directory: string, base_url: string): void {
  const ownerPath = join(directory, 'running.json')
  try {
    makeDirectories(directory)
    closeDirectories(directory)
    locks.push(openLock(join(directory, 'lock')))
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

/** Keeps other users out of the data, including data of an earlier start. root lets them traverse the directory, because ffmpeg runs as another user. */
function closeDirectories(directory: string): void {
  keepPrivate(directory, process.getuid?.() === 0 ? 0o011 : 0)
  for (const name of ['v3', 'registry', 'logs', 'config']) {
    makeDirectories(join(directory, name))
    keepPrivate(join(directory, name))
  }
}

/** SQLite's error codes SQLITE_BUSY, SQLITE_CORRUPT and SQLITE_NOTADB. */
const BUSY = 5
const DAMAGED = [11, 26]

/** Opens and locks the file. Throws an error that names the file. */
function openLock(path: string): DatabaseSync {
  try {
    return lockFile(path)
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number }
    // SQLite reads the file only after it got the lock, so no process holds a damaged file. It is not replaced by another file, because the lock of a
    // process that starts at the same time would be lost.
    if (DAMAGED.includes(errcode!)) {
      print(`${path} was damaged. No process holds it, so it is emptied.`)
      truncateSync(path)
      return lockFile(path)
    }
    throw errcode === BUSY ? error : new Error(`${path}: ${message}`, { cause: error })
  }
}

function lockFile(path: string): DatabaseSync {
  const file = new DatabaseSync(path)
  try {
    file.exec('pragma locking_mode = exclusive; begin exclusive')
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

const lockedMessage = (directory: string, owner: Owner | undefined) =>
  `Tonearm already runs on ${directory}${owner ? `: ${owner.base_url} (process ${owner.pid})` : ''}.
Stop that one, or give this one another port and other data: PORT=9000 STATE_DIR=.wrangler/other npm start`

function readOwner(path: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(path, 'utf8')) as Partial<Owner> | null
    return owner?.pid && owner.base_url ? (owner as Owner) : undefined
  } catch {
    return undefined
  }
}
