import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import type { HandBack, TranscodeJob } from '../../src/contract/job.ts'
import { makeAudio } from '../support/audio.ts'
import { withoutFlacLength } from '../support/damage.ts'
import { collect, post, type Service } from './service.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

/** Files whose audio is longer than their slot is for (docs/decisions/0079). */

/** The slot for 20 MB is for 40 seconds of audio, that for 2 MB is for 10 seconds. The buffers of a pipe hold a few seconds more. */
const SLOT_SECONDS = '40,10'
/** The length of the silence in seconds. */
const LENGTH = 60

let silence: Buffer
let workspace: Workspace
let service: Service

beforeAll(async () => {
  silence = withoutFlacLength(await makeAudio('flac', { seconds: LENGTH, rate: 8000, channels: 1, expression: '0' }))
})
beforeEach(async () => {
  workspace = await createWorkspace(silence)
  service = await workspace.start({ SLOT_SECONDS })
})
afterEach(() => workspace.dispose())

/** Runs a job of a Worker that accepts `HandBack`s. */
async function run(job: TranscodeJob, known_seconds = 0, on = service) {
  const { events, result } = await collect(await post(on, { ...job, known_seconds }, job.job_id))
  const last = events.at(-1)
  return { result, error: last?.type === 'error' ? last : null }
}
async function handBack(job: TranscodeJob, known_seconds = 0, on = service): Promise<HandBack> {
  const { error } = await run(job, known_seconds, on)
  expect(error).toMatchObject({ error: { code: 'cancelled', retryable: true } })
  return error!.hand_back!
}
const uploads = ({ job_id }: TranscodeJob) =>
  workspace.storage.requests.filter(({ method, path }) => method === 'PUT' && path.includes(job_id)).length
const startedIn = (on = service) => on.logs.filter(({ event }) => event === 'job_started').map(({ slot }) => slot)

describe('audio that is longer than its slot is for', () => {
  it('is handed back to the next larger slot each time, and completed in the largest', async () => {
    const job = workspace.newLightJob()
    const first = await handBack(job)
    expect(first.slot).toBe(1)
    expect(first.seconds).toBeGreaterThan(10)
    expect(first.seconds).toBeLessThan(40)
    const second = await handBack(job, first.seconds)
    expect(second.slot).toBe(0)
    expect(second.seconds).toBeGreaterThan(40)
    expect(uploads(job)).toBe(0)
    const { result } = await run(job, second.seconds)
    expect(result?.duration).toBe(LENGTH)
    expect(uploads(job)).toBe(job.variants.length)
    expect(startedIn()).toEqual([2, 1, 0])
    expect(await service.leftovers()).toEqual([])
  })

  it('is handed back before it is decoded if its header states the length', async () => {
    const stated = await createWorkspace(await makeAudio('m4a', { seconds: 50, expression: '0' }))
    const job = stated.newLightJob()
    expect(await handBack(job)).toEqual({ seconds: expect.closeTo(50, 1), slot: 0 })
    await stated.dispose()
  })

  it('counts several times if it has many channels or a high sample rate', async () => {
    const wide = await createWorkspace(await makeAudio('flac', { seconds: 3, rate: 192_000, channels: 2 }))
    expect(await handBack(wide.newLightJob())).toEqual({ seconds: 12, slot: 1 })
    await wide.dispose()
  })

  it('is not handed back to a Worker that does not know how', async () => {
    const job = workspace.newLightJob()
    const { result, events } = await collect(await post(service, job, job.job_id))
    expect(result?.duration).toBe(LENGTH)
    expect(events.at(-1)?.type).toBe('result')
  })

  it('is rejected as too long at the maximum duration, whatever the slot', async () => {
    const job = { ...workspace.newLightJob(), max_duration: 1 }
    expect((await run(job)).error).toMatchObject({ error: { code: 'too_long' } })
  })
})

describe('a job that was handed back', () => {
  /** Runs a job until it is handed back, while no consumer listens. */
  async function handedBack() {
    const { job, go } = workspace.heldJob()
    const consumer = new AbortController()
    await post(service, { ...job, known_seconds: 0 }, job.job_id, consumer.signal)
    consumer.abort()
    go()
    const events = () => service.logs.map(({ event }) => event)
    await expect.poll(events, { timeout: 60_000 }).toContain('job_handed_back')
    return job
  }

  it('starts in the larger slot even if its outcome has not been fetched', async () => {
    const job = await handedBack()
    expect((await run(job, LENGTH)).result?.duration).toBe(LENGTH)
  })

  it('is handed back again to a consumer that has missed the outcome', async () => {
    const job = await handedBack()
    expect((await handBack(job)).slot).toBe(1)
    expect(startedIn()).toEqual([2])
  })

  it('is handed back again after the service was killed at that moment', async () => {
    const job = workspace.newLightJob()
    const dying = await workspace.start({ SLOT_SECONDS, FAILPOINTS: 'handed_back=kill' })
    await expect(run(job, 0, dying)).rejects.toThrow()
    expect(await dying.exited).toBeNull()
    const next = await workspace.start({ SLOT_SECONDS, WORK_DIR: dying.workDir })
    expect((await handBack(job, 0, next)).slot).toBe(1)
    expect((await run(job, LENGTH, next)).result?.duration).toBe(LENGTH)
    expect(uploads(job)).toBe(job.variants.length)
  })

  it('uses the slot for its length, and short files use the others meanwhile', async () => {
    const held = workspace.heldJob()
    const long = await post(service, { ...held.job, known_seconds: LENGTH }, held.job.job_id)
    const waiting = workspace.heldJob()
    await post(service, { ...waiting.job, known_seconds: LENGTH }, waiting.job.job_id)
    const short = await createWorkspace(await makeAudio('mp3', { seconds: 1 }))
    expect((await run(short.newLightJob())).result).toBeDefined()
    expect(startedIn()).toEqual([0, 2])
    held.go()
    expect((await collect(long)).result?.duration).toBe(LENGTH)
    waiting.go()
    await short.dispose()
  })
})
