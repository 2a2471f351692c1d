import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { chmod, chown, mkdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from './fault.ts'

/** Names of the directories that belong to this service, so that cleaning touches nothing else. */
export const JOB_PREFIX = 'job-'
export const COVER_PREFIX = 'cover-'

/** Makes the work directory, and lets other users through it (not list it): ffmpeg may be one. */
export function openWorkDir(workDir: string): void {
  mkdirSync(workDir, { recursive: true })
  if (process.getuid?.() === 0) chmodSync(workDir, statSync(workDir).mode | 0o011)
}

/** Makes an empty directory for one job, which `owner` may write to beside the service. */
export async function makeDirectory(path: string, owner: number | null): Promise<void> {
  await mkdir(path, { mode: 0o770 })
  if (owner === null) return
  await chown(path, owner, process.getgid?.() ?? 0)
  // The mode again: what mkdir takes is cut by the umask.
  await chmod(path, 0o770)
}

/** Removes every job's directory, and nothing else; synchronous, because it is also the last thing before exit. */
export function cleanWorkDir(workDir: string): void {
  if (!existsSync(workDir)) return
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
