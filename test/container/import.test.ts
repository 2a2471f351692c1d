import { randomUUID } from 'node:crypto'

import { afterAll, expect, it, onTestFinished } from 'vitest'

import type { ImportJob, JobEvent } from '../../src/contract/job.ts'
import { noise, makeAudio } from '../support/audio.ts'
import { eventsOf, JSON_BODY, type Service, startService } from './service.ts'
import { etagOf, startStorage, type Storage } from './storage.ts'

/** Imports: the service fetches a file from another server and uploads it in parts (docs/decisions/0127). */

const storage = await startStorage()
const closed = await startStorage()
const SETTINGS = { SOURCE_LOCAL: 'true', SOURCE_CLOSED_PORTS: new URL(closed.url('')).port }
const service = await startService(SETTINGS)
const audio = await makeAudio('wav', { seconds: 5, expression: noise })
const PART = 200_000

afterAll(async () => {
  expect(await service.leftovers()).toEqual([])
  await service.stop()
  await Promise.all([storage.close(), closed.close()])
})

function importOf(trouble: Parameters<Storage['serve']>[2] = {}, changes: Partial<ImportJob> = {}) {
  const job_id = randomUUID()
  const paths = Array.from({ length: 9 }, (_, at) => `${job_id}/source?partNumber=${at + 1}`)
  const job: ImportJob = {
    version: 1,
    job_id,
    source_url: storage.serve(`secret-${job_id}`, audio, trouble).url,
    hosts: { own: [], bucket: null },
    max_size: 1e6,
    parts: { size: PART, urls: paths.map(storage.url) },
    ...changes,
  }
  return { job, stored: () => paths.flatMap((path) => storage.files.get(path) ?? []) }
}

const post = (job: ImportJob, to: Service = service) =>
  fetch(`${to.url}/imports/${job.job_id}`, { method: 'POST', headers: JSON_BODY, body: JSON.stringify(job) })

async function run(job: ImportJob, to?: Service): Promise<JobEvent | undefined> {
  let last: JobEvent | undefined
  for await (const event of eventsOf(await post(job, to))) last = event
  return last
}

const fetches = (job: ImportJob) => storage.requests.filter(({ path }) => job.source_url.endsWith(path)).length

it('a file is fetched and uploaded in parts, once for all requests', async () => {
  const { job, stored } = importOf({ cuts: [300_000] })
  const imported = await run(job)
  expect(imported).toEqual({ type: 'imported', size: audio.length, parts: stored().map(etagOf), file_name: null })
  expect(stored().map(({ length }) => length)).toEqual([PART, PART, PART, PART, audio.length - 4 * PART])
  expect(Buffer.concat(stored()).equals(audio)).toBe(true)
  expect([await run(job), fetches(job)]).toEqual([imported, 2])
})

it.each([
  ['a closed port', { source_url: closed.serve('source', audio).url }, 'source_refused'],
  [
    'the own bucket',
    {
      source_url: 'https://a.0123.r2.cloudflarestorage.com/',
      hosts: { own: [], bucket: '0123.r2.cloudflarestorage.com' },
    },
    'source_refused',
  ],
  ['a large file', { max_size: 100_000 }, 'source_too_large'],
] as const)('an import from %s fails, and stores nothing', async (_, changes, code) => {
  const { job, stored } = importOf({}, changes as Partial<ImportJob>)
  expect(await run(job)).toMatchObject({ type: 'error', error: { code, retryable: false } })
  expect([stored(), closed.requests]).toEqual([[], []])
})

it('an empty file fails', async () => {
  const { job } = importOf()
  storage.serve(`secret-${job.job_id}`, Buffer.alloc(0))
  expect(await run(job)).toMatchObject({ type: 'error', error: { code: 'empty_file', retryable: false } })
})

it('without SOURCE_LOCAL, nothing on this machine is fetched', async () => {
  const strict = await startService()
  onTestFinished(() => strict.stop())
  const { job } = importOf()
  expect(await run(job, strict)).toMatchObject({ type: 'error', error: { code: 'source_refused' } })
  expect(fetches(job)).toBe(0)
})

it('an import that is canceled stops, and stores nothing', async () => {
  const { job, stored } = importOf({ silentAfter: 1000 })
  const events = run(job)
  await expect.poll(() => fetches(job)).toBe(1)
  const answer = await fetch(`${service.url}/jobs/${job.job_id}`, { method: 'DELETE' })
  expect(answer.status).toBe(200)
  expect(await events).toMatchObject({ type: 'error', error: { code: 'cancelled', retryable: true } })
  expect([stored(), await service.leftovers()]).toEqual([[], []])
})

it.each(['source_fetched', 'source_uploaded', 'result_ready'])(
  'an import whose service is killed at %s starts again',
  async (point) => {
    const killed = await startService({ ...SETTINGS, FAILPOINTS: `${point}=kill` })
    const { job, stored } = importOf()
    await expect(run(job, killed)).rejects.toThrow()
    await killed.exited
    const next = await startService({ ...SETTINGS, WORK_DIR: killed.workDir })
    onTestFinished(() => next.stop())
    expect(await run(job, next)).toMatchObject({ type: 'imported', size: audio.length, parts: stored().map(etagOf) })
    expect(Buffer.concat(stored()).equals(audio)).toBe(true)
    expect((await next.leftovers()).filter((name) => name.startsWith('import-'))).toEqual([])
  },
)

it('no line of the log contains a URL', () => {
  expect(service.logs.some(({ event }) => event === 'job_failed')).toBe(true)
  expect(JSON.stringify(service.logs)).not.toMatch(/secret-|http:|0123/)
})
