import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the tests leave while they run, and must be there beside it, in bytes. */
const NEED = 4 * 1024 ** 3
const MEMORY = '/dev/shm'
const NAME = 'tonearm-test-'

/**
 * Where the tests put their files. D1 waits for the disk with every write, so a quarter of the Worker's tests is waiting: Linux has
 * memory to write to instead, if there is plenty and programs may be started there.
 */
export function scratchDirectory(): string {
  if (!existsSync(MEMORY)) return tmpdir()
  for (const name of readdirSync(MEMORY)) {
    // Of a run that was killed.
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
