import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

import worker from '../../../src/index.ts'
import { countRows } from './row_counter.ts'

/** Reads play sessions with several play views. */

export const caching: Env = { ...env, REUSE_ANSWERS: 'true' }

interface Body {
  code?: string
  message: string
  tracks: object[]
  views?: { track_id: string }[]
}

/** Reads a URL; returns the ids of the tracks in `views`, and the number of database statements and trips. */
export async function readViews(url: string, bindings = caching, method = 'GET', client = '192.0.2.1') {
  const headers = { 'cf-connecting-ip': client }
  const request = new Request(new URL(url, 'https://tonearm.test'), { method, headers })
  const { result, statements, trips } = await countRows(async () =>
    worker.fetch(request, bindings, createExecutionContext()),
  )
  const text = await result.text()
  const body = (text ? JSON.parse(text) : {}) as Body
  return {
    status: result.status,
    code: body.code,
    body,
    ids: body.views?.map(({ track_id }) => track_id),
    statements,
    trips,
  }
}
