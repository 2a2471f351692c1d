import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'

import type { TranscodeJob } from '../../../src/contract/job.ts'
import { ok } from '../support/api.ts'
import { aTrackWithJob, eventually, fileRows } from '../support/fixtures.ts'
import { early } from '../support/long_track.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'
import { completeResult, errorEvent, eventStream, openStream, startTranscoder } from '../support/transcoder.ts'

/** Large files of a transcode are uploaded in parts, which the Worker joins (docs/decisions/0077). */

const MB = 1_000_000
/** Minimum bytes of a part in R2. */
const LEAST = 5 * 1024 * 1024
const [FIRST, SECOND] = [new Uint8Array(LEAST).fill(1), new Uint8Array(100).fill(2)]
const SIZE = FIRST.length + SECOND.length

const variantOf = (job: TranscodeJob, index: string) => job.variants.find((variant) => variant.index === index)!
const uploadOf = (url: string) => {
  const { key } = signedParts(url)
  return { key, upload: env.MEDIA.resumeMultipartUpload(key, new URL(url).searchParams.get('uploadId')!) }
}

/** Uploads two parts of a variant's file, as the transcoder does with the signed URLs. Returns their ETags. */
async function uploadParts(job: TranscodeJob, index = 'lossless') {
  const urls = variantOf(job, index).parts!.urls.slice(0, 2)
  const etags: string[] = []
  for (const [at, bytes] of [FIRST, SECOND].entries()) {
    const { searchParams } = new URL(urls[at]!)
    expect([searchParams.get('partNumber'), await isSignedFor('PUT', urls[at]!)]).toEqual([`${at + 1}`, true])
    etags.push(`"${(await uploadOf(urls[at]!).upload.uploadPart(at + 1, bytes)).etag}"`)
  }
  return etags
}

/** The complete result of a job, with a large FLAC. */
const resultWith = (job: TranscodeJob, parts: string[] | undefined, size = SIZE) =>
  completeResult(job, {
    variants: job.variants.map(({ index }) => ({
      index,
      size: index === 'lossless' ? size : 5,
      bitrate: 128,
      duration: 12.5,
      ...(index === 'lossless' && parts && { parts }),
    })),
  })

/** Whether a multipart upload accepts no more parts. */
const hasEnded = (url: string) =>
  uploadOf(url)
    .upload.uploadPart(1, SECOND)
    .then(
      () => false,
      () => true,
    )
const firstUrls = (job: TranscodeJob) => job.variants.flatMap(({ parts }) => parts?.urls[0] ?? [])

it('the files that may be large get URLs for parts, which are as large as necessary', async () => {
  const { transcodes } = startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
  for (const size of [90 * MB, 110 * MB, 5000 * MB]) await (await aTrackWithJob({ size })).run()
  const partsOf = (job: TranscodeJob) =>
    Object.fromEntries(
      job.variants.flatMap(({ index, parts }) => (parts ? [[index, [parts.size, parts.urls.length]]] : [])),
    )
  expect(transcodes.map(partsOf)).toEqual([
    { 'aac-160': [100 * MB, 2], 'mp3-128': [100 * MB, 2], 'opus-96': [100 * MB, 2] },
    { 'aac-160': [100 * MB, 3], 'mp3-128': [100 * MB, 3], 'opus-96': [100 * MB, 3], lossless: [100 * MB, 2] },
    {
      'aac-160': [100 * MB, 9],
      'mp3-128': [100 * MB, 7],
      'opus-96': [100 * MB, 6],
      lossless: [171_875_000, 32],
    },
  ])
})

it('a file that was uploaded in parts is joined before the track is ready, and the unused uploads are aborted', async () => {
  const work = await aTrackWithJob({ size: 150 * MB })
  const { transcodes } = startTranscoder({
    transcode: async (job) => eventStream(resultWith(job, await uploadParts(job))),
  })
  expect(await work.run()).toEqual({ ended: true })
  expect((await work.read()).status).toBe('ready')
  const [job] = transcodes
  const file = (await env.MEDIA.head(signedParts(variantOf(job!, 'lossless').url).key))!
  expect([file.size, file.httpMetadata]).toMatchObject([
    SIZE,
    { contentType: 'audio/flac', cacheControl: 'private, max-age=31536000, immutable' },
  ])
  expect(await Promise.all(firstUrls(job!).map(hasEnded))).toEqual([true, true, true, true])
})

it('an early file that was uploaded in parts is joined before it plays, and joining it again changes nothing', async () => {
  const work = await aTrackWithJob({ size: 150 * MB })
  const stream = openStream()
  const { transcodes } = startTranscoder({ transcode: () => stream.response })
  const running = work.run()
  await eventually(async () => transcodes.length === 1)
  const [job] = transcodes
  const parts = await uploadParts(job!)
  stream.send(early({ index: 'lossless', size: SIZE, parts }))
  await eventually(async () => (await fileRows(work.track_id)).length > 0)
  const [file] = await fileRows(work.track_id)
  expect((await env.MEDIA.head(file!.path))?.size).toBe(SIZE)
  stream.send(resultWith(job!, parts))
  stream.end()
  expect(await running).toEqual({ ended: true })
  expect((await work.read()).status).toBe('ready')
})

it('a job whose parts cannot be joined is cancelled and made again, with the same uploads', async () => {
  const work = await aTrackWithJob({ size: 150 * MB })
  const { transcodes, cancelled } = startTranscoder({
    transcode: async (job, call) => {
      const parts = await uploadParts(job)
      return eventStream(resultWith(job, call === 1 ? parts.toReversed() : parts))
    },
  })
  expect(await work.run()).toEqual({ ended: false, retried_in: 5 })
  expect([cancelled, (await work.read()).status, (await work.job()).attempt]).toEqual([[work.job_id], 'processing', 1])
  await work.changeJob({ lease_until: 0 })
  expect(await work.run()).toEqual({ ended: true })
  expect((await work.read()).status).toBe('ready')
  const uploadIds = transcodes.map((job) => firstUrls(job).map((url) => new URL(url).searchParams.get('uploadId')))
  expect(uploadIds[1]).toEqual(uploadIds[0])
})

it.each([
  ['fails', async (work: Awaited<ReturnType<typeof aTrackWithJob>>) => work.read()],
  [
    'is cancelled',
    (work: Awaited<ReturnType<typeof aTrackWithJob>>) => ok('DELETE', `/v1/track/${work.track_id}`, { key: work.key }),
  ],
])('the parts of a job that %s are deleted', async (name, end) => {
  const work = await aTrackWithJob({ size: 150 * MB })
  const stream = openStream()
  const { transcodes } = startTranscoder({ transcode: () => stream.response })
  const running = work.run()
  await eventually(async () => transcodes.length === 1)
  await uploadParts(transcodes[0]!)
  await end(work)
  if (name === 'fails') stream.send(errorEvent('decode_failed', 'The audio is damaged.'))
  stream.end()
  await running
  await eventually(async () => (await Promise.all(firstUrls(transcodes[0]!).map(hasEnded))).every(Boolean))
})
