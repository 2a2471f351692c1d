import { spawn } from 'node:child_process'
import { mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import { makeAudio, noise } from '../support/audio.ts'
import { encoderOf, isRunning, WAIT } from './processes.ts'
import { collect, post } from './service.ts'
import { setStage, SLOW, type Stage } from './stage.ts'

let stage: Stage
let audio: Buffer

beforeAll(async () => {
  audio = await makeAudio('mp3', { seconds: 5, expression: noise })
})

beforeEach(async () => {
  stage = await setStage(audio)
})

afterEach(() => stage.strike())

describe('the end of the service', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('after %s leaves no process and no file', async (signal) => {
    const slow = await stage.start(await stage.fakeFfmpeg(SLOW))
    const job = stage.newLightJob()
    await post(slow, job, job.job_id)
    const encoder = await encoderOf(slow)
    slow.kill(signal)
    // A second SIGTERM does not wait for the job.
    if (signal === 'SIGTERM') {
      await vi.waitFor(() => expect(fetch(`${slow.url}/health`)).rejects.toThrow(), WAIT)
      slow.kill(signal)
    }
    expect(await slow.exited).toBe(0)
    await vi.waitFor(async () => expect(await isRunning(encoder)).toBe(false), WAIT)
    expect(await slow.leftovers()).toEqual([])
  })

  it('after SIGTERM waits for the running job and ends the waiting ones', async () => {
    const service = await stage.start()
    const [running, waiting] = [stage.heldJob(), stage.heldJob()]
    const first = await post(service, running.job, running.job.job_id)
    const second = await post(service, waiting.job, waiting.job.job_id)
    service.kill('SIGTERM')
    expect((await collect(second)).error).toMatchObject({ retryable: true })
    running.go()
    expect((await collect(first)).result).toBeDefined()
    expect(await service.exited).toBe(0)
  })

  it('after SIGTERM hands back a job that takes too long', async () => {
    const slow = await stage.start({ ...(await stage.fakeFfmpeg(SLOW)), GRACE_SECONDS: '0.2' })
    const job = stage.newLightJob()
    const stream = await post(slow, job, job.job_id)
    const encoder = await encoderOf(slow)
    slow.kill('SIGTERM')
    expect((await collect(stream)).error).toMatchObject({ code: 'cancelled', retryable: true })
    expect(await slow.exited).toBe(0)
    expect(await isRunning(encoder)).toBe(false)
    expect(await slow.leftovers()).toEqual([])
  })

  it('by SIGKILL takes ffmpeg along, and the next start cleans up and does the job', async () => {
    // One that would not notice by its output that nobody reads it.
    const endless = 'case "$*" in *filter_complex*) while :; do sleep 0.1; done;; esac; exec "$REAL" "$@"'
    const slow = await stage.start(await stage.fakeFfmpeg(endless))
    const job = stage.newLightJob()
    const stream = await post(slow, job, job.job_id)
    const encoder = await encoderOf(slow)
    await vi.waitFor(async () => expect(await slow.leftovers()).toEqual([`job-${job.job_id}`]), WAIT)
    slow.kill('SIGKILL')
    await expect(collect(stream)).rejects.toThrow()
    await vi.waitFor(async () => expect(await isRunning(encoder)).toBe(false), WAIT)
    const next = await stage.start({ WORK_DIR: slow.workDir })
    expect(await next.leftovers()).toEqual([])
    expect((await collect(await post(next, job, job.job_id))).result).toBeDefined()
    expect(await next.leftovers()).toEqual([])
  })

  it('comes with the end of its parent', async () => {
    const parent = spawn('sleep', ['1000'])
    const orphan = await stage.start({ PARENT_PID: String(parent.pid) })
    parent.kill()
    expect(await orphan.exited).toBe(0)
  })

  it('cleans up what an earlier run left behind, and nothing else', async () => {
    const workDir = await mkdtemp(join(stage.scratch, 'work-'))
    await writeFile(join(workDir, 'job-left'), '')
    await writeFile(join(workDir, 'precious'), '')
    await stage.start({ WORK_DIR: workDir })
    expect(await readdir(workDir)).toEqual(['precious'])
  })
})
