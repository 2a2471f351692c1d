import { open, type FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import type * as z from 'zod'

import type { JobSource } from '../src/contract/job.ts'
import { Fault } from './fault.ts'

type Source = z.infer<typeof JobSource>

export type DownloadOptions = {
  signal: AbortSignal
  /** Told the fraction that has arrived, 0–1. */
  onProgress?: (fraction: number) => void
  /** Seconds without a byte after which the connection counts as dead. */
  stallSeconds?: number
}

/** Attempts in a row that may bring no byte. */
const FRUITLESS = 4
const ATTEMPTS = 30

type Download = { source: Source; file: FileHandle; have: number; version: string | null }

/** Streams a source to a file, resuming where a connection was cut, and makes sure that every byte came. */
export async function download(source: Source, path: string, options: DownloadOptions): Promise<void> {
  const file = await open(path, 'w')
  const state: Download = { source, file, have: 0, version: null }
  try {
    let fruitless = 0
    for (let attempt = 1; attempt <= ATTEMPTS && fruitless < FRUITLESS; attempt++) {
      const before = state.have
      try {
        await receive(state, options)
        if (state.have === source.size) return
      } catch (error) {
        options.signal.throwIfAborted()
        if (error instanceof Fault || isDiskError(error)) throw error
      }
      fruitless = state.have > before ? 0 : fruitless + 1
      await sleep(250 * 2 ** fruitless, undefined, { signal: options.signal })
    }
    throw new Fault('source_unavailable', 'The source could not be downloaded in several attempts.', true)
  } finally {
    await file.close()
  }
}

async function receive(state: Download, options: DownloadOptions): Promise<void> {
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(), (options.stallSeconds ?? 30) * 1000)
  try {
    const headers: Record<string, string> = { 'accept-encoding': 'identity' }
    // Without a validator the object could have changed in between, so the download starts over.
    if (state.have > 0 && state.version) {
      headers.range = `bytes=${state.have}-`
      headers['if-range'] = state.version
    }
    const signal = AbortSignal.any([options.signal, stalled.signal])
    const response = await fetch(state.source.url, { headers, signal, redirect: 'error' })
    await accept(response, state)
    for await (const chunk of response.body ?? []) {
      timer.refresh()
      if (state.have + chunk.length > state.source.size) throw lied()
      await state.file.write(chunk, 0, chunk.length, state.have)
      state.have += chunk.length
      options.onProgress?.(state.have / state.source.size)
    }
  } finally {
    clearTimeout(timer)
    stalled.abort()
  }
}

async function accept(response: Response, state: Download): Promise<void> {
  const { status, headers } = response
  if (status >= 500 || status === 408 || status === 429) throw new Error(`source answered ${status}`)
  if (status !== 200 && status !== 206) {
    const gone = status === 404 || status === 410
    throw new Fault('source_unavailable', `The source URL answered ${status}.`, !gone)
  }
  if (status === 200) state.have = 0
  else if (!headers.get('content-range')?.startsWith(`bytes ${state.have}-`)) throw lied()
  const length = headers.get('content-length')
  if (length !== null && Number(length) !== state.source.size - state.have) throw lied()
  const etag = headers.get('etag')
  state.version = etag && !etag.startsWith('W/') ? etag : headers.get('last-modified')
}

function lied(): Fault {
  return new Fault('source_unavailable', 'The source has another length than the job says.')
}

function isDiskError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOSPC'
}
