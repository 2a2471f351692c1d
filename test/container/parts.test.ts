import { expect, it } from 'vitest'

import type { TranscodeJob } from '../../src/contract/job.ts'
import { decode, makeAudio, noise } from '../support/audio.ts'
import { catalogue, newJob, runJob } from './service.ts'
import { shareService } from './shared.ts'
import { etagOf } from './storage.ts'

/** Large files are uploaded in parts (docs/decisions/0077). Here, a part is small. */

const { storage, service } = await shareService()
const audio = await makeAudio('wav', { seconds: 12, expression: noise })

const PART = 300_000

/** A job for a FLAC of about 2 MB and an AAC, both of which may be uploaded in parts. */
function jobInParts({ size = PART, count = 10 }, changes: Partial<TranscodeJob> = {}) {
  const job = newJob(storage, storage.serve(`source-${storage.requests.length}`, audio))
  const partsOf = (index: string) =>
    Array.from({ length: count }, (_, at) => `${job.job_id}/${index}?partNumber=${at + 1}`)
  const variants = catalogue(storage, job.job_id)
    .filter(({ index }) => ['lossless', 'aac-160', 'analysis'].includes(index))
    .map((variant) => ({ ...variant, parts: { size, urls: partsOf(variant.index).map(storage.url) } }))
  return { job: { ...job, variants, ...changes }, partsOf, whole: (index: string) => `${job.job_id}/${index}` }
}

/** Runs a job; returns the file `lossless` of its result, and the events. */
async function run(job: TranscodeJob) {
  const { result, events } = await runJob(service, job)
  return { events, result: result!, lossless: result!.variants.find(({ index }) => index === 'lossless')! }
}

it('a file that is larger than a part is uploaded in parts, and their ETags are reported', async () => {
  const { job, partsOf, whole } = jobInParts({})
  const paths = partsOf('lossless')
  storage.refuse(paths[1]!, 500, 503)
  storage.cutUploads(paths[2]!, 1)
  const { result, lossless } = await run(job)
  const parts = paths.flatMap((path) => storage.files.get(path) ?? [])
  expect(parts.length).toBeGreaterThan(3)
  expect(parts.map(({ length }) => length)).toEqual([
    ...Array.from({ length: parts.length - 1 }, () => PART),
    lossless.size % PART,
  ])
  expect(lossless.parts).toEqual(parts.map(etagOf))
  expect(await decode(Buffer.concat(parts))).toEqual(await decode(audio))
  // Files of at most one part, and files for which the job has no parts, are uploaded as a whole.
  expect(storage.files.has(whole('lossless'))).toBe(false)
  expect([storage.files.has(whole('aac-160')), storage.files.has(partsOf('aac-160')[0]!)]).toEqual([true, false])
  expect(result.variants.filter((file) => file.parts).map(({ index }) => index)).toEqual(['lossless'])
})

it('a file that does not fit into the parts is uploaded as a whole', async () => {
  const { job, partsOf, whole } = jobInParts({ count: 2 })
  const { lossless } = await run(job)
  expect([lossless.parts, storage.files.get(whole('lossless'))?.length]).toEqual([undefined, lossless.size])
  expect(partsOf('lossless').filter((path) => storage.files.has(path))).toEqual([])
})

it('a file whose parts are refused is uploaded as a whole', async () => {
  const { job, partsOf, whole } = jobInParts({})
  storage.refuse(partsOf('lossless')[1]!, 404)
  const { lossless } = await run(job)
  expect([lossless.parts, storage.files.get(whole('lossless'))?.length]).toEqual([undefined, lossless.size])
})

it('an early file is uploaded in parts, which its event and the result report', async () => {
  const { job, partsOf } = jobInParts({})
  const { events, lossless } = await run({ ...job, early: { url: storage.url('early'), from_duration: 10 } })
  const parts = partsOf('lossless').flatMap((path) => storage.files.get(path) ?? [])
  expect(parts.length).toBeGreaterThan(3)
  const early = events.find((event) => event.type === 'early')!.file
  expect([early.index, early.parts, lossless.parts]).toEqual(['lossless', parts.map(etagOf), parts.map(etagOf)])
  expect(Buffer.concat(parts)).toHaveLength(lossless.size)
})
