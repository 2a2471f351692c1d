import { env } from 'cloudflare:workers'
import { vi } from 'vitest'

import { CATALOG } from '../../../src/contract/catalog.ts'
import { CoverAnswer, CoverJob, ImportJob, JobEvent, type JobResult, TranscodeJob } from '../../../src/contract/job.ts'
import { signedParts } from './signature.ts'

/**
 * The transcoder is an external process that workerd cannot run, so a stub answers for it in these tests. Each request and each event is checked
 * against `src/contract/job.ts`, so that the stub cannot differ from the real transcoder, which `test/e2e` runs.
 */

type Reply = (request: Request, signal: AbortSignal | undefined) => Response | Promise<Response>

const unreachable: Reply = () => {
  throw new TypeError('connection refused')
}

/** Replaces `fetch`. A request to any address other than the transcoder's throws. */
function serve(answer: Reply): void {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    if (!request.url.startsWith(env.TRANSCODER_URL)) throw new TypeError(`no test expects a request to ${request.url}`)
    return answer(request, init?.signal ?? undefined)
  })
}

/** Makes the transcoder unreachable. */
export const stopTranscoder = () => serve(unreachable)

/** The signal of the current request. When it is aborted, the stream of the response ends. */
let asking: AbortSignal | undefined

const refusal = (request: Request) =>
  request.headers.get('authorization') === `Bearer ${env.TRANSCODER_SECRET}`
    ? null
    : new Response('forbidden', { status: 403 })

type TranscodeReply = (job: TranscodeJob, call: number) => Response | Promise<Response>
type ImportReply = (job: ImportJob, call: number) => Response | Promise<Response>
type CoverReply = (job: CoverJob, call: number) => CoverAnswer | Response | Promise<CoverAnswer | Response>

/** Starts a transcoder with these replies; returns the jobs that it receives. */
export function startTranscoder(answers: {
  transcode?: TranscodeReply
  fetchSource?: ImportReply
  cover?: CoverReply
  health?: () => Response
  cancel?: (() => Response) | undefined
}) {
  const transcodes: TranscodeJob[] = []
  const imports: ImportJob[] = []
  const covers: CoverJob[] = []
  const cancelled: string[] = []
  serve(async (request, signal) => {
    const refused = refusal(request)
    if (request.method === 'GET' && answers.health && request.url.endsWith('/health'))
      return refused ? Response.json({ ok: true }) : answers.health()
    if (refused) return refused
    const { pathname } = new URL(request.url)
    if (request.method === 'DELETE') {
      cancelled.push(pathname.replace('/jobs/', ''))
      return answers.cancel?.() ?? Response.json({ ok: true })
    }
    if (pathname === '/covers' && answers.cover) {
      const job = CoverJob.parse(await request.json())
      const answer = await answers.cover(job, covers.push(job))
      return answer instanceof Response ? answer : Response.json(CoverAnswer.parse(answer))
    }
    if (pathname.startsWith('/imports/') && answers.fetchSource) {
      const job = ImportJob.parse(await request.json())
      if (pathname !== `/imports/${job.job_id}`) return new Response('not found', { status: 404 })
      asking = signal
      return answers.fetchSource(job, imports.push(job))
    }
    const job = TranscodeJob.parse(await request.json())
    if (pathname !== `/jobs/${job.job_id}` || !answers.transcode) return new Response('not found', { status: 404 })
    asking = signal
    return answers.transcode(job, transcodes.push(job))
  })
  return { transcodes, imports, covers, cancelled }
}

/** Starts a transcoder that stores its output in R2; returns the jobs that it receives. */
export function serveTranscoder(
  answer: (job: TranscodeJob) => JobEvent | Promise<JobEvent> = completeResult,
): TranscodeJob[] {
  const cover: CoverReply = async ({ outputs }) => {
    await Promise.all(Object.values(outputs).map((url) => env.MEDIA.put(signedParts(url).key, 'jpeg')))
    return { ok: true, result: { image_colors: [] } }
  }
  const transcode: TranscodeReply = async (job) => {
    const event = await answer(job)
    const variants = event.type === 'result' ? event.result.variants.map(({ index }) => index) : []
    for (const { index, url } of job.variants)
      if (variants.includes(index)) await env.MEDIA.put(signedParts(url).key, 'audio')
    return eventStream(event)
  }
  return startTranscoder({ cover, transcode }).transcodes
}

const line = (event: JobEvent) => new TextEncoder().encode(`${JSON.stringify(JobEvent.parse(event))}\n`)

/** A response that streams these events and then ends. Without a final `result` or `error`, the stream counts as interrupted. */
export const eventStream = (...list: JobEvent[]) =>
  new Response(new Blob(list.map(line)), { headers: { 'content-type': 'application/x-ndjson' } })

/**
 * A stream whose events are sent one by one by the test. The reader polls for them, because a Durable Object (including that of the test) must not
 * call into the stream of another one.
 */
export function openStream() {
  const sent: JobEvent[] = []
  let ended = false
  const stream = () => {
    const signal = asking
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const isQuiet = () => sent.length === 0 && !ended && !signal?.aborted
        while (isQuiet()) await scheduler.wait(5)
        if (signal?.aborted) return controller.error(new DOMException('aborted', 'AbortError'))
        const event = sent.shift()
        return event ? controller.enqueue(line(event)) : controller.close()
      },
    })
  }
  return {
    get response() {
      return new Response(stream())
    },
    send: (event: JobEvent) => void sent.push(event),
    end: () => void (ended = true),
  }
}

export const errorEvent = (
  code: Extract<JobEvent, { type: 'error' }>['error']['code'],
  message: string,
  retryable = false,
): JobEvent => ({ type: 'error', error: { code, message, retryable } })

/** The transcoder's result for a valid source of 12.3456 s. It contains all variants except the FLAC, which is not generated for a lossy source. */
export function lossyResult(changes: Partial<JobResult> = {}): JobEvent {
  const lossy = CATALOG.filter(({ index }) => index !== 'original' && index !== 'lossless')
  return {
    type: 'result',
    result: {
      duration: 12.3456,
      levels: Array.from({ length: 320 }, (_, at) => at / 319),
      info: { codec: 'mp3', sample_rate: 44100, channels: 2, bitrate: 191.6 },
      warnings: [],
      variants: lossy.map(({ index, bitrate }) => ({ index, size: 1000, bitrate, duration: 12.3456 })),
      skipped: [{ index: 'lossless', reason: 'the source is lossy' }],
      failed: [],
      cover: null,
      ...changes,
    },
  }
}

/** The transcoder's result for a source of 12.5 s when all requested variants were generated. */
export const completeResult = (job: TranscodeJob, changes: Partial<JobResult> = {}): JobEvent => ({
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

export const PALETTE = [{ hex: '#AA3300', area: 0.75, lightness: 0.33, saturation: 1 }]
/** The transcoder's result for a cover that was processed. */
export const coverResult = (): CoverAnswer => ({ ok: true, result: { image_colors: PALETTE } })
