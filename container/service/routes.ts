import { createHash, timingSafeEqual } from 'node:crypto'

import type { HttpBindings } from '@hono/node-server'
import { zValidator } from '@hono/zod-validator'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import * as z from 'zod'

import {
  CoverJob,
  ImportJob,
  type JobEvent,
  type Refusal,
  TranscodeJob,
  type TranscoderHealth,
} from '../../src/contract/job.ts'
import { log } from '../log.ts'
import { coverStatus, type createCovers } from './covers.ts'
import type { JobRequest } from './job.ts'
import type { Jobs, RefusalReason } from './jobs.ts'

type Service = {
  jobs: Jobs<TranscodeJob>
  imports: Jobs<ImportJob>
  covers: ReturnType<typeof createCovers>
  version: string
  /** The year of ffmpeg's build; null if it does not print one. */
  year: number | null
  /** Names of the restrictions that `confine` applied to ffmpeg. */
  confined: string[]
  secret: string | undefined
  /** Aborted when the service exits without waiting for jobs. */
  signal: AbortSignal
}

/** The events that end a stream. */
const ENDS = ['result', 'imported', 'error']
const MAX_BODY = 1024 * 1024
const PING_MS = 4000

/** Error code, `Retry-After` in seconds, and message of the response for each reason. */
const REFUSALS: Record<RefusalReason, [code: Refusal['code'], seconds: string, message: string]> = {
  busy: ['busy', '10', 'Every place is taken.'],
  disk_full: ['unavailable', '60', 'The transcoder has not enough free disk.'],
  stopping: ['unavailable', '5', 'The transcoder is stopping.'],
}

/** Creates all routes of the service (src/contract/job.ts). */
export function createRoutes({ jobs, imports, covers, version, year, confined, secret, signal }: Service) {
  const app = new Hono<{ Bindings: HttpBindings }>()
  const health = (): TranscoderHealth => ({ ok: true, ...jobs.state() })
  // Every client may check whether the service is running, but only a client with the secret gets the details.
  const details = { ffmpeg: version, ffmpeg_year: year, confined }
  app.get('/health', (c) => c.json(knowsSecret(c, secret) ? { ...health(), ...details } : { ok: true }))
  app.use((c, next) => {
    if (knowsSecret(c, secret)) return next()
    return Promise.resolve(refuse(c, 401, 'unauthorized', 'The secret is missing or wrong.'))
  })
  app.use(
    bodyLimit({ maxSize: MAX_BODY, onError: (c) => refuse(c, 413, 'too_large', 'The body is larger than 1 MB.') }),
  )

  app.post('/jobs/:id', body(TranscodeJob), (c) => follow(c, jobs, c.req.valid('json')))
  app.post('/imports/:id', body(ImportJob), (c) => follow(c, imports, c.req.valid('json')))
  app.delete('/jobs/:id', async (c) => {
    const cancelled = await Promise.all([jobs, imports].map((kind) => kind.cancel(c.req.param('id'))))
    if (cancelled.includes(true)) return c.json({ ok: true })
    return refuse(c, 404, 'not_found', 'There is no such job.')
  })
  app.post('/covers', body(CoverJob), async (c) => {
    if (jobs.state().stopping) return refuse(c, 503, 'unavailable', 'The transcoder is stopping.')
    const answer = await covers(c.req.valid('json'), signal)
    return c.json(answer, coverStatus(answer))
  })
  app.onError((error, c) => {
    if (error instanceof HTTPException) return refuse(c, 400, 'invalid', error.message)
    log('request_failed', { detail: error.name })
    return refuse(c, 500, 'internal', 'The transcoder failed.')
  })
  app.notFound((c) => refuse(c, 404, 'not_found', 'There is no such path.'))
  return app
}

/** Starts a job, or attaches to it, and streams its events. */
function follow<Request extends JobRequest>(
  c: Context<{ Bindings: HttpBindings }>,
  jobs: Jobs<Request>,
  job: Request,
): Response {
  if (job.job_id !== c.req.param('id')) return refuse(c, 400, 'invalid', 'job_id is not the one of the path.')
  const refusal = jobs.refusal(job)
  if (refusal) {
    const [code, seconds, message] = REFUSALS[refusal]
    c.header('retry-after', seconds)
    return refuse(c, 503, code, message)
  }
  // The event `finish` means that the complete stream was sent.
  c.env.outgoing.once('finish', () => jobs.fetched(job.job_id))
  return c.body(
    eventStream((listener) => jobs.attach(job, listener)),
    200,
    {
      'content-type': 'application/x-ndjson',
      'cache-control': 'no-store',
      // With this header, the response headers are sent before the first line is ready.
      'transfer-encoding': 'chunked',
    },
  )
}

const body = <Schema extends z.ZodType>(schema: Schema) =>
  zValidator('json', schema, (parsed, c) => {
    if (!parsed.success) return refuse(c, 400, 'invalid', z.prettifyError(parsed.error))
  })

// Compares hashes, which have a fixed length, so that the comparison does not reveal the length of the secret. Hono's bearerAuth is not
// used, because it does not accept all characters.
function knowsSecret({ req }: Context, secret?: string): boolean {
  if (!secret) return true
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(req.header('authorization') ?? ''), hash(`Bearer ${secret}`))
}

function refuse(c: Context, status: 400 | 401 | 404 | 413 | 500 | 503, code: string, message: string) {
  return c.json({ ok: false, code, message }, status)
}

/** Streams a job's events as NDJSON until it ends. A client that disconnects does not stop the job and can fetch the outcome later. */
function eventStream(attach: (listener: (event: JobEvent) => void) => () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let leave = () => {}
  return new ReadableStream({
    start(controller) {
      const write = (event: JobEvent) => {
        controller.enqueue(encoder.encode(`${JSON.stringify(event)}\n`))
        if (!ENDS.includes(event.type)) return
        leave()
        controller.close()
      }
      const ping = setInterval(() => write({ type: 'ping' }), PING_MS)
      let detach = () => {}
      leave = () => {
        clearInterval(ping)
        detach()
      }
      detach = attach(write)
    },
    cancel: () => leave(),
  })
}
