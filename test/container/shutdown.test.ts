import { spawn } from 'node:child_process'
import { mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

import type { Failpoint } from '../../container/failpoint.ts'
import { readSettings } from '../../container/service/settings.ts'
import { Refusal } from '../../src/contract/job.ts'
import { makeAudio, noise } from '../support/audio.ts'
import { encoderOf, isRunning, WAIT } from './processes.ts'
import { collect, post, type Service } from './service.ts'
import { createWorkspace, SLOW, type Workspace } from './workspace.ts'

let workspace: Workspace
let audio: Buffer

beforeAll(async () => {
  audio = await makeAudio('mp3', { seconds: 5, expression: noise })
})

beforeEach(async () => {
  workspace = await createWorkspace(audio)
})

afterEach(() => workspace.dispose())

const stopping = ({ url }: Service) =>
  vi.waitFor(async () => expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ stopping: true }), WAIT)

/** A fake ffmpeg that never ends and does not notice that its output is closed. */
const ENDLESS = 'case "$*" in *filter_complex*) while :; do sleep 0.1; done;; esac; exec "$REAL" "$@"'

/** A grace period that is long enough for a job to end on busy cores. */
const LONG_GRACE = { GRACE_SECONDS: '300' }

describe('shutdown', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('by %s leaves no process and no file', async (signal) => {
    const slow = await workspace.start(await workspace.fakeFfmpeg(SLOW))
    const job = workspace.newLightJob()
    await post(slow, job, job.job_id)
    const encoder = await encoderOf(slow)
    slow.kill(signal)
    // After a second SIGTERM the service does not wait for the job.
    if (signal === 'SIGTERM') {
      await stopping(slow)
      slow.kill(signal)
    }
    expect(await slow.exited).toBe(0)
    await vi.waitFor(async () => expect(await isRunning(encoder)).toBe(false), WAIT)
    expect(await slow.leftovers()).toEqual([])
  })

  it('by SIGTERM waits for running jobs and cancels queued ones', async () => {
    const service = await workspace.start(LONG_GRACE)
    const held = Array.from({ length: 4 }, () => workspace.heldJob())
    const streams: Response[] = []
    for (const { job } of held) streams.push(await post(service, job, job.job_id))
    service.kill('SIGTERM')
    expect((await collect(streams.pop()!)).error).toMatchObject({ code: 'cancelled', retryable: true })
    for (const { go } of held) go()
    for (const stream of streams)
      expect(await collect(stream)).toMatchObject({ result: { duration: expect.any(Number) } })
    expect(await service.exited).toBe(0)
  })

  it('by SIGTERM completes when every result has been fetched, and the service responds until then', async () => {
    const service = await workspace.start(LONG_GRACE)
    const finished = workspace.newLightJob()
    const { job, go } = workspace.heldJob()
    for (const abandoned of [finished, job]) {
      const consumer = new AbortController()
      await post(service, abandoned, abandoned.job_id, consumer.signal)
      consumer.abort()
    }
    await vi.waitFor(() => expect(service.logs).toContainEqual(expect.objectContaining({ event: 'job_done' })), WAIT)
    service.kill('SIGTERM')
    await stopping(service)
    const late = workspace.newLightJob()
    const refused = await post(service, late, late.job_id)
    expect([refused.status, Refusal.parse(await refused.json()).code]).toEqual([503, 'unavailable'])
    const again = await post(service, job, job.job_id)
    go()
    expect((await collect(again)).result).toBeDefined()
    expect((await collect(await post(service, finished, finished.job_id))).result).toBeDefined()
    expect(await service.exited).toBe(0)
  })

  it('by SIGTERM completes some time after the last job if the result is never fetched', async () => {
    const service = await workspace.start({ ...LONG_GRACE, LINGER_SECONDS: '0.1' })
    const job = workspace.newLightJob()
    const consumer = new AbortController()
    await post(service, job, job.job_id, consumer.signal)
    consumer.abort()
    service.kill('SIGTERM')
    expect(await service.exited).toBe(0)
    expect(service.logs).toContainEqual(expect.objectContaining({ event: 'job_done' }))
    expect(workspace.storage.files.has(`${job.job_id}/mp3-128`)).toBe(true)
  })

  it('by SIGTERM cancels a job that takes too long, and the caller can retry it', async () => {
    const slow = await workspace.start({ ...(await workspace.fakeFfmpeg(SLOW)), GRACE_SECONDS: '0.2' })
    const job = workspace.newLightJob()
    const stream = await post(slow, job, job.job_id)
    const encoder = await encoderOf(slow)
    slow.kill('SIGTERM')
    expect((await collect(stream)).error).toMatchObject({ code: 'cancelled', retryable: true })
    expect(await slow.exited).toBe(0)
    expect(await isRunning(encoder)).toBe(false)
    expect(await slow.leftovers()).toEqual([])
  })

  it('by SIGKILL also ends ffmpeg, and the next start cleans up and runs the job', async () => {
    const slow = await workspace.start(await workspace.fakeFfmpeg(ENDLESS))
    const job = workspace.newLightJob()
    const stream = await post(slow, job, job.job_id)
    const encoder = await encoderOf(slow)
    await vi.waitFor(async () => expect(await slow.leftovers()).toEqual([`job-${job.job_id}`]), WAIT)
    slow.kill('SIGKILL')
    await expect(collect(stream)).rejects.toThrow()
    await vi.waitFor(async () => expect(await isRunning(encoder)).toBe(false), WAIT)
    const next = await workspace.start({ WORK_DIR: slow.workDir })
    expect(await next.leftovers()).toEqual([])
    expect((await collect(await post(next, job, job.job_id))).result).toBeDefined()
    expect(await next.leftovers()).toEqual([])
  })

  it('happens when the parent process ends', async () => {
    const parent = spawn('sleep', ['1000'])
    const orphan = await workspace.start({ PARENT_PID: String(parent.pid) })
    parent.kill()
    expect(await orphan.exited).toBe(0)
  })

  it('may leave job files, which the next start deletes without deleting other files', async () => {
    const workDir = await mkdtemp(join(workspace.scratch, 'work-'))
    await writeFile(join(workDir, 'job-left'), '')
    await writeFile(join(workDir, 'precious'), '')
    await workspace.start({ WORK_DIR: workDir })
    expect(await readdir(workDir)).toEqual(['precious'])
  })
})

describe('a service', () => {
  it.each([
    ['whose ffmpeg does not run', { FFMPEG_PATH: '/bin/false' }, /^\/bin\/false does not run: set FFMPEG_PATH to/],
    ['whose ffprobe does not run', { FFPROBE_PATH: '/bin/false' }, /^\/bin\/false does not run: set FFPROBE_PATH to/],
    ['that is public without a secret', { HOST: '0.0.0.0', TRANSCODER_SECRET: '' }, /^TRANSCODER_SECRET is not set/],
    ['with an invalid setting', { PORT: 'x' }, /PORT/],
    [
      'without a usable work directory',
      { WORK_DIR: '/proc/tonearm/work' },
      /^WORK_DIR cannot be used: \/proc\/tonearm\/work \(/,
    ],
  ])('%s exits at once with a message and a code that prevents restarts', async (_, environment, message) => {
    await expect(workspace.start(environment)).rejects.toMatchObject({
      message: expect.stringMatching(message),
      code: 2,
    })
  })

  it('accepts a public address if it has a secret', () => {
    expect(readSettings({ HOST: '0.0.0.0', TRANSCODER_SECRET: 'secret' })).toMatchObject({ host: '0.0.0.0' })
  })
})

/** Kills a service at a named failpoint, then expects the next service to finish the job and to find no files of the first one. */
describe('a service with a failpoint', () => {
  beforeEach(({ skip }) => skip(Boolean(process.env.SERVICE_COMMAND), 'an image has no failpoints'))
  it.each<Failpoint>(['downloaded', 'encoded', 'file_uploaded', 'early_uploaded', 'uploaded', 'result_ready'])(
    'leaves a job for the next service to finish when it is killed there: %s',
    async (place) => {
      // The encoder must not end, because the service abandons the early file if the encoder ends first, as it may on a fast machine.
      const encoder = place === 'early_uploaded' ? await workspace.fakeFfmpeg(ENDLESS) : {}
      const dying = await workspace.start({ ...encoder, FAILPOINTS: `${place}=kill` })
      const job = { ...workspace.newLightJob(), early: { url: workspace.storage.url('early'), from_duration: 1 } }
      await expect(post(dying, job, job.job_id).then(collect)).rejects.toThrow()
      expect(await dying.exited).toBeNull()
      const next = await workspace.start({ WORK_DIR: dying.workDir, FAILPOINTS: `${place}=kill` })
      expect(await next.leftovers()).toEqual([`failpoint-${place}`])
      expect((await collect(await post(next, job, job.job_id))).result?.variants).toHaveLength(3)
      expect(await next.leftovers()).toEqual([`failpoint-${place}`])
    },
  )

  it('leaves no work when it is killed after the result has been fetched', async () => {
    const dying = await workspace.start({ FAILPOINTS: 'result_fetched=kill' })
    const job = workspace.newLightJob()
    expect((await collect(await post(dying, job, job.job_id))).result).toBeDefined()
    expect(await dying.exited).toBeNull()
  })

  it('ignores the failpoint in production', async () => {
    const service = await workspace.start({ FAILPOINTS: 'downloaded=kill', NODE_ENV: 'production' })
    const job = workspace.newLightJob()
    expect((await collect(await post(service, job, job.job_id))).result).toBeDefined()
  })
})
