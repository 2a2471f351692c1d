import { once } from 'node:events'
import { open, type FileHandle } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import type * as z from 'zod'

import type { JobSource } from '../../src/contract/job.ts'
import { diskError } from '../disk.ts'
import { JobError } from '../job_error.ts'
import { openRequest } from './http.ts'

type Source = z.infer<typeof JobSource>

/** Limits that abort a download from a slow source. */
export type DownloadLimits = {
  /** Maximum number of seconds without received bytes, after which the connection is closed. */
  stallSeconds: number
  /** Minimum average rate in bytes per second, measured over intervals of `rateSeconds`. */
  leastRate: number
  rateSeconds: number
}

export type DownloadOptions = {
  signal: AbortSignal
  /** Called with the downloaded fraction, 0–1. */
  onProgress?: (fraction: number) => void
  limits?: DownloadLimits
}

/** The minimum rate is 128 KiB/s over a minute, so that a source of the maximum size, 5 GiB, arrives within 11 hours or fails. */
export const DOWNLOAD_LIMITS: DownloadLimits = { stallSeconds: 30, leastRate: 131_072, rateSeconds: 60 }

/** Maximum number of consecutive attempts without any new bytes. */
const MAX_ATTEMPTS_WITHOUT_PROGRESS = 4
const ATTEMPTS = 30
/** Bytes per write to the file. With a write for every 64 KiB received, a download would take a quarter longer. */
const PIECE = 1024 * 1024

type Download = {
  source: Source
  file: FileHandle
  limits: DownloadLimits
  /** Number of bytes received. The last `buffered` bytes are in `piece` and not in the file yet. */
  received: number
  piece: Buffer
  buffered: number
  version: string | null
  /** Whether the last attempt ended because the source stalled. */
  stalled: boolean
  /** The current interval of the rate measurement: its start in milliseconds, and the bytes received since then. */
  stretch: { startedAt: number; bytes: number }
}

/** Streams a source to a file, resumes after a lost connection, and verifies that every byte arrived. */
export async function download(source: Source, path: string, options: DownloadOptions): Promise<void> {
  const file = await open(path, 'w')
  const limits = options.limits ?? DOWNLOAD_LIMITS
  const stretch = { startedAt: performance.now(), bytes: 0 }
  const piece = Buffer.allocUnsafe(PIECE)
  const state: Download = {
    source,
    file,
    limits,
    received: 0,
    piece,
    buffered: 0,
    version: null,
    stalled: false,
    stretch,
  }
  let problem = unreachable()
  try {
    let fruitless = 0
    for (let attempt = 1; attempt <= ATTEMPTS && fruitless < MAX_ATTEMPTS_WITHOUT_PROGRESS; attempt++) {
      if (attempt > 1) await sleep(250 * 2 ** fruitless, undefined, { signal: options.signal })
      const before = state.received
      try {
        await receive(state, options)
        if (state.received === source.size) return
        // The response was complete, but too short.
        problem = wrongLength()
      } catch (error) {
        options.signal.throwIfAborted()
        if (error instanceof JobError || diskError(error)) throw error
        problem = state.stalled ? stalled(limits) : unreachable()
      }
      fruitless = state.received > before ? 0 : fruitless + 1
    }
    throw problem
  } finally {
    await file.close()
  }
}

async function receive(state: Download, options: DownloadOptions): Promise<void> {
  const stall = new AbortController()
  state.stalled = false
  const timer = setTimeout(() => {
    state.stalled = true
    stall.abort()
  }, state.limits.stallSeconds * 1000)
  try {
    const headers: Record<string, string> = { 'accept-encoding': 'identity' }
    // The download can be resumed only with a validator. Without one, the object could have changed in the meantime, so the download
    // restarts.
    if (state.received > 0 && state.version) {
      headers.range = `bytes=${state.received}-`
      headers['if-range'] = state.version
    }
    const signal = AbortSignal.any([options.signal, stall.signal])
    const request = openRequest(state.source.url, { headers, signal }).end()
    const [response] = (await once(request, 'response', { signal })) as [IncomingMessage]
    accept(response, state)
    for await (const chunk of response as AsyncIterable<Buffer>) {
      timer.refresh()
      if (state.received + chunk.length > state.source.size) throw wrongLength()
      await append(state, chunk)
      rejectSlow(state.stretch, state.limits, chunk.length, tooSlow)
      options.onProgress?.(state.received / state.source.size)
    }
  } finally {
    clearTimeout(timer)
    // Closes the connection if the response was not read to its end.
    stall.abort()
    // The buffer is also written after a failed attempt, because the next attempt resumes from here.
    await write(state)
  }
}

async function append(state: Download, chunk: Buffer): Promise<void> {
  for (let copied = 0; copied < chunk.length;) {
    const bytes = chunk.copy(state.piece, state.buffered, copied)
    copied += bytes
    state.buffered += bytes
    state.received += bytes
    if (state.buffered === state.piece.length) await write(state)
  }
}

async function write(state: Download): Promise<void> {
  const { file, piece, buffered, received } = state
  const from = received - buffered
  // If the write fails, the file contains only the bytes before `from`.
  state.received = from
  state.buffered = 0
  // If the disk is nearly full, a write may store only a part of the piece.
  for (let done = 0; done < buffered;) {
    done += (await file.write(piece, done, buffered - done, from + done)).bytesWritten
  }
  state.received = received
}

function accept({ statusCode: status = 0, headers }: IncomingMessage, state: Download): void {
  if (status >= 500 || status === 408 || status === 429) throw new Error(`source answered ${status}`)
  if (status === 401 || status === 403) {
    throw new JobError(
      'source_forbidden',
      `The source URL answered ${status}: its signature is wrong or has expired.`,
      true,
    )
  }
  // Status 416 means that the source has no bytes after those already received.
  if (status === 416) throw wrongLength()
  if (status !== 200 && status !== 206) {
    const gone = status === 404 || status === 410
    throw new JobError('source_unavailable', `The source URL answered ${status}.`, !gone)
  }
  if (status === 200) state.received = 0
  else if (headers['content-range'] !== rangeOf(state)) throw wrongLength()
  const length = headers['content-length']
  if (length !== undefined && Number(length) !== state.source.size - state.received) throw wrongLength()
  const { etag } = headers
  state.version = (etag && !etag.startsWith('W/') ? etag : headers['last-modified']) ?? null
}

/** Returns the expected `Content-Range` of a response that resumes the download (RFC 9110 §14.4). */
function rangeOf({ received, source: { size } }: Download): string {
  return `bytes ${received}-${size - 1}/${size}`
}

/** Throws if the average rate of an interval was too low. `error` gets the rate in bytes per second. */
export function rejectSlow(
  stretch: Download['stretch'],
  { rateSeconds, leastRate }: DownloadLimits,
  bytes: number,
  error: (rate: number) => JobError,
): void {
  stretch.bytes += bytes
  const seconds = (performance.now() - stretch.startedAt) / 1000
  if (seconds < rateSeconds) return
  if (stretch.bytes < seconds * leastRate) throw error(Math.round(stretch.bytes / seconds))
  stretch.startedAt = performance.now()
  stretch.bytes = 0
}

const tooSlow = (rate: number) =>
  new JobError('source_too_slow', `The source arrived with only ${rate} bytes per second.`, true)

function stalled({ stallSeconds }: DownloadLimits): JobError {
  return new JobError('source_stalled', `The source sent nothing for ${stallSeconds} seconds, several times.`, true)
}

function unreachable(): JobError {
  return new JobError('source_unavailable', 'The source could not be downloaded in several attempts.', true)
}

function wrongLength(): JobError {
  return new JobError('source_length', 'The source has another length than the job says.')
}
