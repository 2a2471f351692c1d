import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

import * as z from 'zod'

import { CoverJob, type JobEvent, TranscodeJob } from '../src/contract/job.ts'
import { coverStatus, type createCovers } from './covers.ts'
import type { createJobs } from './jobs.ts'

export type Routes = {
  jobs: ReturnType<typeof createJobs>
  covers: ReturnType<typeof createCovers>
  version: string
  /** What ffmpeg may not do here, as `confine` says. */
  confined: string[]
  secret: string | undefined
  /** Aborts when the service ends at once. */
  signal: AbortSignal
}

const MAX_BODY = 1024 * 1024
const PING_MS = 4000

/** Answers one request; the whole interface of the service. */
export async function route(request: IncomingMessage, response: ServerResponse, routes: Routes): Promise<void> {
  const path = (request.url ?? '/').split('?')[0]!
  const asked = `${request.method} ${path}`
  if (asked === 'GET /health') {
    return answer(response, 200, {
      ok: true,
      ...routes.jobs.counts(),
      ffmpeg: routes.version,
      confined: routes.confined,
    })
  }
  if (!isAllowed(request, routes.secret))
    return refuse(response, 401, 'unauthorized', 'The secret is missing or wrong.')
  const jobId = /^\/jobs\/([0-9a-fA-F-]{36})$/.exec(path)?.[1]
  if (jobId && request.method === 'POST') return postJob(jobId, request, response, routes)
  if (jobId && request.method === 'DELETE') {
    const found = routes.jobs.cancel(jobId)
    return found ? answer(response, 200, { ok: true }) : refuse(response, 404, 'not_found', 'There is no such job.')
  }
  if (asked === 'POST /covers') return postCover(request, response, routes)
  return refuse(response, 404, 'not_found', 'There is no such path.')
}

async function postJob(jobId: string, request: IncomingMessage, response: ServerResponse, routes: Routes) {
  const job = await readBody(request, response, TranscodeJob)
  if (!job) return
  if (job.job_id !== jobId) return refuse(response, 400, 'invalid', 'job_id is not the one of the path.')
  let write = (event: JobEvent) => void early.push(event)
  const early: JobEvent[] = []
  const detach = routes.jobs.attach(job, (event) => write(event))
  if (!detach) {
    response.setHeader('retry-after', '30')
    return refuse(response, 503, 'busy', 'The queue is full.')
  }
  response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' })
  response.socket?.setNoDelay(true)
  response.flushHeaders()
  const ping = setInterval(() => write({ type: 'ping' }), PING_MS)
  write = (event) => {
    response.write(`${JSON.stringify(event)}\n`)
    if (event.type === 'result' || event.type === 'error') response.end()
  }
  early.forEach(write)
  // A consumer that goes away does not stop the job: it comes back for it.
  response.on('close', () => {
    clearInterval(ping)
    detach()
  })
}

async function postCover(request: IncomingMessage, response: ServerResponse, routes: Routes) {
  const job = await readBody(request, response, CoverJob)
  if (!job) return
  const result = await routes.covers(job, routes.signal)
  answer(response, coverStatus(result), result)
}

async function readBody<T extends z.ZodType>(request: IncomingMessage, response: ServerResponse, schema: T) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= MAX_BODY) chunks.push(chunk)
  }
  if (size > MAX_BODY) return refuse(response, 413, 'too_large', 'The body is larger than 1 MB.')
  const parsed = schema.safeParse(parseJson(Buffer.concat(chunks).toString()))
  if (parsed.success) return parsed.data
  return refuse(response, 400, 'invalid', z.prettifyError(parsed.error))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Hashes have one length, so the comparison tells nothing about the secret's.
function isAllowed(request: IncomingMessage, secret: string | undefined): boolean {
  if (!secret) return true
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(request.headers.authorization ?? ''), hash(`Bearer ${secret}`))
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, status: number, code: string, message: string): undefined {
  answer(response, status, { ok: false, code, message })
}
