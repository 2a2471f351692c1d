import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { TranscodeJob } from '../../src/contract/job.ts'
import { fixtureTools, tools } from '../support/audio.ts'
import { lightVariants, newJob, type Service, startService } from './service.ts'
import { startStorage } from './storage.ts'

/** A fake ffmpeg that runs at real-time speed in the strict pass, so a test can act mid-job. */
export const SLOW = 'case "$*" in *-xerror*) exec "$REAL" -re "$@";; esac; exec "$REAL" "$@"'

/** The ffprobe that starts fastest, because these tests do not depend on what it reads. */
const FAST_PROBE = { FFPROBE_PATH: process.env.FFPROBE_PATH ?? fixtureTools.ffprobe }

/** A storage, a scratch directory and any number of services; `dispose` ends all of them. */
export async function createWorkspace(audio: Buffer) {
  const storage = await startStorage()
  const scratch = await mkdtemp(join(tmpdir(), 'tonearm-stage-'))
  // ffmpeg may run as another user, who must be able to read the directory.
  await chmod(scratch, 0o755)
  const services: Service[] = []
  let names = 0

  function newLightJob(ready: Promise<void> = Promise.resolve()): TranscodeJob {
    const job = newJob(storage, storage.serve(`source-${names++}`, audio, { ready }))
    return { ...job, variants: lightVariants(storage, job.job_id) }
  }

  return {
    storage,
    scratch,
    newLightJob,
    /** A job whose download does not finish until `go` is called. */
    heldJob() {
      const { promise, resolve } = Promise.withResolvers<void>()
      return { job: newLightJob(promise), go: resolve }
    },
    async start(environment: Record<string, string> = {}, wrap?: (command: string[]) => string[]): Promise<Service> {
      const service = await startService({ ...FAST_PROBE, ...environment }, wrap)
      services.push(service)
      return service
    },
    /** Environment for an ffmpeg that runs the shell script; `$REAL` is the real one. */
    async fakeFfmpeg(script: string): Promise<Record<string, string>> {
      const path = join(scratch, `ffmpeg-${names++}`)
      await writeFile(path, `#!/bin/sh\nREAL='${process.env.FFMPEG_PATH ?? tools.ffmpeg}'\n${script}\n`)
      await chmod(path, 0o755)
      return { FFMPEG_PATH: path, ...FAST_PROBE }
    },
    async dispose() {
      for (const service of services) await service.stop()
      await storage.close()
      await rm(scratch, { recursive: true, force: true })
    },
  }
}

export type Workspace = Awaited<ReturnType<typeof createWorkspace>>
