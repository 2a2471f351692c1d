import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

import worker from '../../../src/index.ts'
import { aPlaySession } from './api.ts'
import { aReadyTrack, aTenant } from './fixtures.ts'
import { countRows } from './row_counter.ts'

/** Reads play sessions with several play views. */

export const caching: Env = { ...env, REUSE_ANSWERS: 'true' }

interface Body {
  code?: string
  message: string
  tracks: object[]
  views?: { track_id: string }[]
}

/** Creates a collection of three tracks; returns its tenant, the tracks' `ids`, the `path` of a session, and `pathOf`, which creates other sessions. */
export async function anAlbum() {
  const tenant = await aTenant()
  const ids: string[] = []
  for (const player_title of ['One', 'Two', 'Three'])
    ids.push(await aReadyTrack(tenant.key, tenant.collection_id, { player_title }))
  const pathOf = async (scope: 'collection' | 'track' | 'playlist', id: string, body: object = {}) =>
    `/v1/play/${(await aPlaySession(tenant.key, scope, id, body)).play_session_id}`
  return { tenant, ids, path: await pathOf('collection', tenant.collection_id), pathOf }
}

/** Reads a URL; returns the ids of the tracks in `views`, and the number of database statements, trips and rows read. */
export async function readViews(url: string, bindings = caching, method = 'GET', client = '192.0.2.1') {
  const headers = { 'cf-connecting-ip': client }
  const request = new Request(new URL(url, 'https://tonearm.test'), { method, headers })
  const { result, statements, trips, read } = await countRows(async () =>
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
    read,
  }
}
