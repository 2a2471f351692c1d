import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { TranscodeJob } from '../../src/contract/job.ts'
import { decode, makeAudio, noise } from '../support/audio.ts'
import { catalogue, lightVariants, newJob, runJob, type Service, startService, succeed } from './service.ts'
import { startStorage, type Storage } from './storage.ts'

let storage: Storage
let service: Service
let audio: Buffer

beforeAll(async () => {
  storage = await startStorage()
  service = await startService()
  audio = await makeAudio('wav', { seconds: 2, expression: noise })
})

afterAll(async () => {
  await service.stop()
  await storage.close()
})

let names = 0

function jobFor(trouble: Parameters<Storage['serve']>[2] = {}): TranscodeJob {
  const job = newJob(storage, storage.serve(`source-${names++}`, audio, trouble))
  return { ...job, variants: lightVariants(storage, job.job_id) }
}

const requestsFor = (job: TranscodeJob) =>
  storage.requests.filter((request) => storage.url(request.path) === job.source.url)

describe('a download', () => {
  it('goes on where the connection was cut', async () => {
    const job = jobFor({ cuts: [100_000, 50_000] })
    job.variants = catalogue(storage, job.job_id).filter((variant) => variant.index === 'lossless')
    await succeed(service, job)
    expect(requestsFor(job).map((request) => request.range)).toEqual([undefined, 'bytes=100000-', 'bytes=150000-'])
    expect(await decode(storage.files.get(`${job.job_id}/lossless`)!)).toEqual(await decode(audio))
  })

  it('gives up on a source that sends nothing, and the job may be tried again', async () => {
    const { error } = await runJob(service, jobFor({ cuts: [0, 0, 0, 0, 0, 0] }))
    expect(error).toMatchObject({ code: 'source_unavailable', retryable: true })
  })

  it.each([
    [403, true],
    [404, false],
  ])('of a source that answers %i fails at once, retryable: %s', async (status, retryable) => {
    const job = jobFor({ status })
    const { error } = await runJob(service, job)
    expect(error).toMatchObject({ code: 'source_unavailable', retryable })
    expect(error?.message).toContain(String(status))
    expect(requestsFor(job)).toHaveLength(1)
  })

  it('of another length than the job says fails', async () => {
    for (const difference of [-10, 10]) {
      const job = jobFor()
      job.source.size += difference
      const { error } = await runJob(service, job)
      expect(error).toMatchObject({ code: 'source_unavailable', retryable: false })
    }
  })

  it('of a file that no disk takes is not begun', async () => {
    const job = jobFor()
    job.source.size = 1e15
    const { error } = await runJob(service, job)
    expect(error).toMatchObject({ code: 'file_too_large', retryable: false })
    expect(requestsFor(job)).toEqual([])
  })
})

describe('an upload', () => {
  it('is tried again after a server error', async () => {
    const job = jobFor()
    storage.refuse(`${job.job_id}/mp3-128`, 500, 503)
    await succeed(service, job)
    expect(storage.files.has(`${job.job_id}/mp3-128`)).toBe(true)
  })

  it('that is refused fails the job, which may be tried again', async () => {
    const job = jobFor()
    storage.refuse(`${job.job_id}/waveform`, 403)
    const { error } = await runJob(service, job)
    expect(error).toMatchObject({ code: 'upload_failed', retryable: true })
    const attempts = storage.requests.filter((request) => request.path === `${job.job_id}/waveform`)
    expect(attempts).toHaveLength(1)
  })
})

it('leaves no file behind, whatever went wrong', async () => {
  expect(await service.leftovers()).toEqual([])
})
