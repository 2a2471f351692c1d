import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { chmod, chown, mkdir, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { CODECS } from '../src/contract/facts.ts'
import type { TranscodeJob } from '../src/contract/job.ts'
import { JobError } from './job_error.ts'

/** Prefixes of the names of directories that this service creates, so that the cleanup removes no other directories. */
export const JOB_PREFIX = 'job-'
export const COVER_PREFIX = 'cover-'
export const IMPORT_PREFIX = 'import-'

/**
 * Creates a directory and its parents. Node's `recursive` option is not used, because it loops forever where mkdir always fails with
 * ENOENT, such as below /proc.
 */
export function makeDirectories(path: string): void {
  const exists = () => statSync(path, { throwIfNoEntry: false })?.isDirectory()
  if (exists()) return
  if (dirname(path) !== path) makeDirectories(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process created it in the meantime.
    if (!exists()) throw error
  }
}

/** Creates the work directory. Other users may traverse it, but not list it, because ffmpeg may run as another user. */
export function openWorkDir(workDir: string): void {
  try {
    makeDirectories(workDir)
  } catch (error) {
    throw new Error(`WORK_DIR cannot be used: ${workDir} (${(error as Error).message})`, {
      cause: error,
    })
  }
  if (process.getuid?.() === 0) chmodSync(workDir, statSync(workDir).mode | 0o011)
}

/** Creates an empty directory for one job, which only `owner` and the service can use. */
export async function makeDirectory(path: string, owner: number | null): Promise<void> {
  await mkdir(path, { mode: 0o700 })
  if (owner === null) return
  await chown(path, owner, process.getgid?.() ?? 0)
  // The mode is set again, because mkdir applies the umask.
  await chmod(path, 0o770)
}

/** Removes the directories of all jobs. It is synchronous, because it also runs immediately before the process exits. */
export function cleanWorkDir(workDir: string): void {
  if (!existsSync(workDir)) return
  for (const name of readdirSync(workDir)) {
    const isOurs = [JOB_PREFIX, COVER_PREFIX, IMPORT_PREFIX].some((prefix) => name.startsWith(prefix))
    if (isOurs) rmSync(join(workDir, name), { recursive: true, force: true })
  }
}

/** Returns the maximum number of bytes that the files of a job need at the same time, plus a margin. */
export const requiredSpace = (job: TranscodeJob) => bytesOf(job) + MARGIN

const MARGIN = 1024 ** 3

/** Adds up the sizes of the source, of a copy for early playback, and of every variant at its maximum. */
function bytesOf({ source, variants, early, max_duration }: TranscodeJob): number {
  const made = variants.map((variant) => {
    if (variant.kind !== 'audio' && variant.kind !== 'preview') return 0
    const seconds = variant.kind === 'preview' ? Math.min(variant.length, max_duration) : max_duration
    // A FLAC file is at most as large as its source (for noise). A lossy file is larger than its source only if the source is very small.
    return CODECS[variant.codec].lossless ? source.size : Math.min(source.size, (variant.bitrate * 1000 * seconds) / 8)
  })
  return made.reduce((sum, bytes) => sum + bytes, source.size * (early ? 2 : 1))
}

/**
 * When a job's files will fit on the disk: `now`; `later`, after the running jobs have ended; `not`, while other data uses the disk; or
 * `never`.
 */
export type DiskSpace = 'now' | 'later' | 'not' | 'never'

/** Checks whether there is enough free space for a job, in addition to the space that the running jobs still need. */
export function checkSpace(workDir: string, job: TranscodeJob, running: TranscodeJob[], imported = 0): DiskSpace {
  const { blocks, bavail, bsize } = statfsSync(workDir)
  const free = bavail * bsize
  const needed = requiredSpace(job)
  if (needed > blocks * bsize) return 'never'
  const used = running.map((other) => usedBy(join(workDir, `${JOB_PREFIX}${other.job_id}`)))
  const outstanding = running.map((other, i) => Math.max(0, bytesOf(other) - used[i]!))
  if (needed + sum(outstanding) + imported <= free) return 'now'
  return needed <= free + sum(used) ? 'later' : 'not'
}

const sum = (numbers: number[]) => numbers.reduce((all, value) => all + value, 0)

/** Returns the total size of the files in a job's directory, in bytes. A file that disappears during the scan counts as 0. */
function usedBy(directory: string): number {
  const names = orUndefined(() => readdirSync(directory)) ?? []
  return sum(names.map((name) => orUndefined(() => statSync(join(directory, name)).size) ?? 0))
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Throws when the disk cannot hold a job's files. */
export async function reserveSpace(directory: string, needed: number): Promise<void> {
  const disk = await statfs(directory)
  if (needed > disk.blocks * disk.bsize) throw tooLarge()
  if (needed > disk.bavail * disk.bsize)
    throw new JobError('disk_full', 'The transcoder has not enough free disk.', true)
}

const tooLarge = () => new JobError('file_too_large', 'The file is too large for the transcoder.')

/**
 * Converts the error of a failed write to a job error if the disk or a quota is full, or if the file has reached the size limit. Returns
 * null for other errors.
 */
export function diskError(thrown: unknown): JobError | null {
  const code = thrown instanceof Error && 'code' in thrown && thrown.code
  if (code === 'EFBIG') return tooLarge()
  return code === 'ENOSPC' || code === 'EDQUOT' ? new JobError('disk_full', 'The disk is full.', true) : null
}
