import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { TranscodeJob } from '../../src/contract/job.ts'
import { decode, makeAudio, makeImage, noise } from '../support/audio.ts'
import { catalogue, JSON_BODY, lightVariants, newJob, runJob, type Service, startService, succeed } from './service.ts'
import { startStorage, type Storage } from './storage.ts'

let storage: Storage
let service: Service
/** A service with short source timeouts. */
let impatient: Service
let audio: Buffer

beforeAll(async () => {
  storage = await startStorage()
  service = await startService()
  impatient = await startService({ SOURCE_STALL_SECONDS: '1', SOURCE_LEAST_RATE: '20000', SOURCE_RATE_SECONDS: '3' })
  audio = await makeAudio('wav', { seconds: 2, expression: noise })
})

afterAll(async () => {
  await service.stop()
  await impatient.stop()
  await storage.close()
})

let names = 0

function jobFor(trouble: Parameters<Storage['serve']>[2] = {}, source = audio): TranscodeJob {
  const job = newJob(storage, storage.serve(`source-${names++}`, source, trouble))
  return { ...job, variants: lightVariants(storage, job.job_id) }
}

const requestsFor = (job: TranscodeJob) =>
  storage.requests.filter((request) => storage.url(request.path) === job.source.url)
/** Returns the start offset of each request for the source of a job. A broken connection may lose the last chunks that were sent. */
const starts = (job: TranscodeJob) =>
  requestsFor(job).map(({ range }) => (range === undefined ? 0 : Number(/^bytes=(\d+)-$/.exec(range)?.[1])))

describe('a download', () => {
  it('resumes where the connection was cut', async () => {
    // The file is larger than one write.
    const long = await makeAudio('wav', { seconds: 30, expression: noise })
    const job = jobFor({ cuts: [1_200_000, 50_000] }, long)
    job.variants = catalogue(storage, job.job_id).filter((variant) => variant.index === 'lossless')
    await succeed(service, job)
    const [first, second, third] = starts(job) as [number, number, number]
    expect(starts(job)).toHaveLength(3)
    expect([first, second > 0, second <= 1_200_000, third > second, third <= second + 50_000]).toEqual([
      0,
      ...Array(4).fill(true),
    ])
    const samples = async (file: Buffer) => Buffer.from((await decode(file)).buffer)
    const made = await samples(storage.files.get(`${job.job_id}/lossless`)!)
    expect(made.equals(await samples(long))).toBe(true)
  })

  it('starts over if the object was replaced meanwhile, and contains only bytes of the new object', async () => {
    const replacement = await makeAudio('wav', { seconds: 2 })
    expect(replacement).toHaveLength(audio.length)
    const job = jobFor({ cuts: [100_000], replacement })
    job.variants = catalogue(storage, job.job_id).filter((variant) => variant.index === 'lossless')
    await succeed(service, job)
    expect(starts(job)).toEqual([0, expect.toSatisfy((start) => start > 0 && start <= 100_000)])
    expect(await decode(storage.files.get(`${job.job_id}/lossless`)!)).toEqual(await decode(replacement))
  })

  // These tests run concurrently, because they mostly wait between attempts.
  it.concurrent.each([
    ['cuts every connection', { cuts: [0, 0, 0, 0, 0, 0] }, 'source_unavailable', true, 4],
    ['answers 101', { status: 101 }, 'source_stalled', true, 4],
    ['answers 500', { status: 500 }, 'source_unavailable', true, 4],
    ['answers 404', { status: 404 }, 'source_unavailable', false, 1],
    ['answers 410', { status: 410 }, 'source_unavailable', false, 1],
    ['answers 401', { status: 401 }, 'source_forbidden', true, 1],
    ['answers 403', { status: 403 }, 'source_forbidden', true, 1],
    ['is silent from the start', { silentAfter: 0 }, 'source_stalled', true, 4],
    ['falls silent midway', { silentAfter: 1000 }, 'source_stalled', true, 5],
    ['sends too slowly', { drip: 100 }, 'source_too_slow', true, 1],
  ] as const)('fails if the source %s', async (_, trouble, code, retryable, requests) => {
    const job = jobFor({ ...trouble, cuts: 'cuts' in trouble ? [...trouble.cuts] : [] })
    const stalls = code === 'source_stalled' || code === 'source_too_slow'
    const { error } = await runJob(stalls ? impatient : service, job)
    expect(error).toMatchObject({ code, retryable, message: expect.stringMatching(/^[A-Z].*\.$/) })
    expect(requestsFor(job)).toHaveLength(requests)
  })

  it('fails with a retryable source_unavailable if the host is unreachable', async () => {
    const job = jobFor()
    const gone = await startStorage()
    job.source.url = gone.url('source')
    await gone.close()
    expect((await runJob(service, job)).error).toMatchObject({ code: 'source_unavailable', retryable: true })
  })

  it.each([
    ['longer', false, -10],
    ['shorter', false, 10],
    ['longer', true, -10],
    ['shorter', true, 10],
  ])('fails if the object is %s than the job states (without Content-Length: %s)', async (_, chunked, more) => {
    const job = jobFor({ chunked })
    job.source.size += more
    const { error } = await runJob(service, job)
    expect(error).toMatchObject({ code: 'source_length', retryable: false })
  })

  it('does not start if the file is larger than any disk', async () => {
    const job = jobFor()
    job.source.size = 1e15
    const { error } = await runJob(service, job)
    expect(error).toMatchObject({ code: 'file_too_large', retryable: false })
    expect(requestsFor(job)).toEqual([])
  })
})

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('of the source (%i) is not followed', async (status) => {
    const elsewhere = await startStorage()
    const job = jobFor({ status, location: elsewhere.serve('x', audio).url })
    expect((await runJob(service, job)).error).toMatchObject({ code: 'source_unavailable' })
    expect(elsewhere.requests).toEqual([])
    await elsewhere.close()
  })

  it('of a variant, an early file or a cover square is not followed', async () => {
    const elsewhere = await startStorage()
    const job = jobFor()
    storage.redirect(`${job.job_id}/mp3-128`, elsewhere.url('x'))
    expect((await runJob(service, job)).error).toMatchObject({ code: 'upload_failed' })

    const image = storage.serve('picture', await makeImage('png'))
    const [icon, small, regular] = ['icon', 'small', 'regular'].map((name) => storage.url(`squares/${name}`))
    storage.redirect('squares/small', elsewhere.url('x'))
    const ask = (source: { url: string; size: number }) =>
      fetch(`${service.url}/covers`, {
        method: 'POST',
        headers: JSON_BODY,
        body: JSON.stringify({ version: 1, source, outputs: { icon, small, regular } }),
      })
    expect(await (await ask(image)).json()).toMatchObject({ ok: false, error: { code: 'upload_failed' } })
    const moved = storage.serve('moved', audio, { status: 302, location: elsewhere.url('x') })
    const answer = await ask(moved)
    expect(answer.status).toBe(502)
    expect(await answer.json()).toMatchObject({ ok: false, error: { code: 'source_unavailable' } })

    const early = newJob(storage, storage.serve('song', await makeAudio('mp3', { seconds: 1 })))
    early.early = { url: storage.url('early'), from_duration: 0 }
    storage.redirect('early', elsewhere.url('x'))
    await succeed(service, early)
    expect(storage.requests).toContainEqual(expect.objectContaining({ method: 'PUT', path: 'early' }))
    expect(elsewhere.requests).toEqual([])
    await elsewhere.close()
  })
})

describe('an upload', () => {
  it('is retried after its connection was cut', async () => {
    const job = jobFor()
    storage.cutUploads(`${job.job_id}/waveform`, 2)
    storage.cutUploads(`${job.job_id}/mp3-128`, 2)
    await succeed(service, job)
    expect(storage.files.has(`${job.job_id}/mp3-128`)).toBe(true)
    expect(storage.files.has(`${job.job_id}/waveform`)).toBe(true)
  })

  it('fails the job with a retryable error if its connection is always cut', async () => {
    const job = jobFor()
    storage.cutUploads(`${job.job_id}/mp3-128`, 3)
    const { error } = await runJob(service, job)
    expect(error).toMatchObject({ code: 'upload_failed', retryable: true })
    await succeed(service, job)
  })

  it('is retried after a server error', async () => {
    const job = jobFor()
    storage.refuse(`${job.job_id}/mp3-128`, 500, 503)
    await succeed(service, job)
    expect(storage.files.has(`${job.job_id}/mp3-128`)).toBe(true)
  })

  it('fails the job with a retryable error if it is rejected', async () => {
    const job = jobFor()
    storage.refuse(`${job.job_id}/waveform`, 403)
    const { error } = await runJob(service, job)
    expect(error).toMatchObject({ code: 'upload_failed', retryable: true })
    const attempts = storage.requests.filter((request) => request.path === `${job.job_id}/waveform`)
    expect(attempts).toHaveLength(1)
  })
})

it('the service leaves no file behind after failures', async () => {
  expect(await service.leftovers()).toEqual([])
  expect(await impatient.leftovers()).toEqual([])
})
