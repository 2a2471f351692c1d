import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Number of bytes that must be free, in addition to those that the tests write. */
const NEED = 4 * 1024 ** 3
const MEMORY = '/dev/shm'
const NAME = 'tonearm-test-'

/**
 * Returns the directory for the tests' files. On Linux, the directory is in memory if enough memory is free and
 * programs can run from there: D1 waits for the disk on every write, which would be a quarter of the run time of the
 * Worker's tests.
 */
export function scratchDirectory(): string {
  if (!existsSync(MEMORY)) return tmpdir()
  for (const name of readdirSync(MEMORY)) {
    // A run that was killed has left its directory, which contains the process id.
    const isOver = name.startsWith(NAME) && !existsSync(`/proc/${name.slice(NAME.length)}`)
    if (isOver) rmSync(join(MEMORY, name), { recursive: true, force: true })
  }
  if (!hasRoom()) return tmpdir()
  const directory = join(MEMORY, NAME + process.pid)
  mkdirSync(directory, { recursive: true })
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

function hasRoom(): boolean {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === MEMORY)
    const { bavail, bsize } = statfsSync(MEMORY)
    return !!mount && !mount.includes('noexec') && bavail * bsize > NEED && freemem() > 2 * NEED
  } catch {
    return false
  }
}
