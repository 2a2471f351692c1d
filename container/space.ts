import { readdirSync, rmSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from './fault.ts'

/** Names of the directories that belong to this service, so that cleaning touches nothing else. */
export const JOB_PREFIX = 'job-'
export const COVER_PREFIX = 'cover-'

/** Removes every job's directory, and nothing else; synchronous, because it is also the last thing before exit. */
export function cleanWorkDir(workDir: string): void {
  for (const name of readdirSync(workDir)) {
    const ours = name.startsWith(JOB_PREFIX) || name.startsWith(COVER_PREFIX)
    if (ours) rmSync(join(workDir, name), { recursive: true, force: true })
  }
}

/** Fails when the disk cannot take a source of `size` bytes and everything made of it (reference/audio.md §3). */
export async function reserveSpace(directory: string, size: number): Promise<void> {
  const disk = await statfs(directory)
  const needed = size * 2.2 + 1024 ** 3
  if (needed > disk.blocks * disk.bsize) throw new Fault('file_too_large', 'The file is too large for the transcoder.')
  if (needed > disk.bavail * disk.bsize) throw new Fault('disk_full', 'The transcoder has not enough free disk.', true)
}
