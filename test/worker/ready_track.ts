import { createExecutionContext, createMessageBatch, getQueueResult } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { vi } from 'vitest'

import { CoverAnswer, CoverJob, JobEvent, type JobResult, TranscodeJob } from '../../src/contract/job.ts'
import worker from '../../src/index.ts'
import { eventually } from './fixtures.ts'
import { anOrganization, ok, quiet } from './support.ts'

export { eventually, runSweep as sweep, storedFiles } from './fixtures.ts'

/** One value or all rows straight from D1: for what the interface does not show, and for time that has passed. */
export const query = async <T = Record<string, unknown>>(text: string, ...values: unknown[]) =>
  (
    await env.DB.prepare(text)
      .bind(...values)
      .all<T>()
  ).results

/** An organization with a collection. */
export async function aShop() {
  const { id: organization_id, key } = await anOrganization()
  const { collection_id } = await ok('POST', '/v1/collection', { key, body: { title: 'Kind of Blue' } })
  return { organization_id, key, collection_id: collection_id as string }
}

/** A track that waits for its upload. */
export async function aWaitingTrack(key: string, collection_id: string, body: object = {}) {
  const { track_id } = await ok('POST', '/v1/track', {
    key,
    body: { collection_id, file_name: 'So What.mp3', ...body },
  })
  return track_id as string
}

/** Changes of many tracks at once. */
export const changeTracks = (key: string, changes: object[], headers = {}) =>
  ok('POST', '/v1/track/batch', { key, body: { changes }, headers })

/** What the transcoder answers when all went well. */
export const made = (job: TranscodeJob, changes: Partial<JobResult> = {}): JobEvent => ({
  type: 'result',
  result: {
    duration: 12.5,
    levels: Array.from({ length: 320 }, () => 0.5),
    info: { codec: 'mp3', bitrate: 192 },
    warnings: [],
    variants: job.variants.map(({ index }) => ({ index, size: 5, bitrate: 128, duration: 12.5 })),
    skipped: [],
    failed: [],
    cover: null,
    ...changes,
  },
})

/** Where in the bucket a presigned URL leads. */
export const objectOf = (url: string) => decodeURIComponent(new URL(url).pathname.split(`/${env.S3_BUCKET}/`)[1]!)

/** Answers in the transcoder's place, with what it made put into R2; everything sent either way is held to the protocol. */
export function serveTranscoder(answer: (job: TranscodeJob) => JobEvent | Promise<JobEvent> = made) {
  const seen: TranscodeJob[] = []
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    if (!request.url.startsWith(env.TRANSCODER_URL)) throw new TypeError(`nobody expects a request to ${request.url}`)
    if (new URL(request.url).pathname === '/covers') {
      const { outputs } = CoverJob.parse(await request.json())
      await Promise.all(Object.values(outputs).map((url) => env.MEDIA.put(objectOf(url), 'jpeg')))
      return Response.json(CoverAnswer.parse({ ok: true, result: { image_colors: [] } }))
    }
    if (request.method === 'DELETE') return Response.json({ ok: true })
    const job = TranscodeJob.parse(await request.json())
    seen.push(job)
    const event = JobEvent.parse(await answer(job))
    const variants = event.type === 'result' ? event.result.variants.map(({ index }) => index) : []
    for (const { index, url } of job.variants) if (variants.includes(index)) await env.MEDIA.put(objectOf(url), 'audio')
    return new Response(`${JSON.stringify(event)}\n`)
  })
  return seen
}

/** Puts the bytes where the track's newest handle leads, says so, and waits for the transcoder's answer to be written down. */
export async function upload(key: string, track_id: string, until = 'ready') {
  const [row] = await query<{ upload_path: string }>('select upload_path from tracks where id = ?', track_id)
  await env.MEDIA.put(row!.upload_path, 'RIFF\0audio')
  await ok('POST', `/v1/track/${track_id}/upload_complete`, { key })
  // Not through the interface: the queues take 0.4 s, and every look would cost the cores as much as a test's own calls.
  await eventually(async () => (await query('select status from tracks where id = ?', track_id))[0]?.status === until)
}

/** A track that went all the way; needs `serveTranscoder`. */
export async function aReadyTrack(key: string, collection_id: string, body: object = {}) {
  const track_id = await aWaitingTrack(key, collection_id, body)
  await upload(key, track_id)
  return track_id
}

/** Lets hours pass for the Worker, which runs in this isolate; `vi.useRealTimers()` ends it. */
export function laterBy(hours: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3600_000 })
}

/** Hands one message to a queue's consumer; answers what became of it. */
export async function deliver(queue: 'task' | 'transcode' | 'dead', body: unknown) {
  const message = { id: 'message', timestamp: new Date(), attempts: 1, body }
  const batch = createMessageBatch(`tonearm-${queue}`, [message])
  await worker.queue(batch, quiet)
  const result = await getQueueResult(batch, createExecutionContext())
  const retried = result.retryMessages.length > 0
  return { acknowledged: result.explicitAcks.includes('message'), retried }
}
