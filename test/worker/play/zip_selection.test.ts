import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'

import { signZipGrant, verifyZipGrant } from '../../../src/adapters/crypto/token.ts'
import worker from '../../../src/index.ts'
import { aWaitingTrack, call, ok, UNKNOWN_ID } from '../support/api.ts'
import { aReadyTrack, aTenant, fileRows } from '../support/fixtures.ts'
import { unzip } from '../support/unzip.ts'

let key: string
let organization_id: string
let collection_id: string
let first: string
let second: string

beforeEach(async () => {
  ;({ key, organization_id, collection_id } = await aTenant())
  first = await aReadyTrack(key, collection_id, { player_title: 'So What? 東京/1' })
  second = await aReadyTrack(key, collection_id, { file_name: 'Blue in Green.FLAC' })
  for (const { path, size } of [...(await fileRows(first)), ...(await fileRows(second))])
    await env.MEDIA.put(path, new TextEncoder().encode(path.slice(-size)))
})
const fetchPath = (path: string, init: RequestInit<IncomingRequestCfProperties> = {}) =>
  worker.fetch(new Request(`https://tonearm.test${path}`, init), env, createExecutionContext())

describe('a ZIP of selected tracks', () => {
  const select = (body: object) => call('POST', '/v1/zip', { key, body })
  const pathOf = (url: string) => new URL(url).pathname

  it('contains the files as they were uploaded, in the requested order, with a name', async () => {
    const { status, body } = await select({ track_ids: [second, first, second], title: 'For: the radio' })
    expect([status, body.files]).toEqual([200, 2])
    const response = await fetchPath(pathOf(body.url))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-disposition')).toContain('For_ the radio.zip')
    const names = unzip(new Uint8Array(await response.arrayBuffer())).map(({ name }) => name)
    expect(names).toEqual(['01 Blue in Green.flac', '02 So What_ 東京_1.mp3'])
  })

  it('has a variant if it is wanted, and the whole length for HEAD', async () => {
    const { body } = await select({ track_ids: [first], variant: 'mp3-128' })
    const zip = await fetchPath(pathOf(body.url))
    const bytes = await zip.arrayBuffer()
    const head = await fetchPath(pathOf(body.url), { method: 'HEAD' })
    expect(Number(head.headers.get('content-length'))).toBe(bytes.byteLength)
  })

  it('has a URL for 300 tracks that is shorter than 16,000 characters', async () => {
    const track_ids = Array.from({ length: 300 }, () => crypto.randomUUID())
    const grant = { organization_id, track_ids, variant: 'original', title: '🎷'.repeat(255) }
    const token = await signZipGrant(env, grant, Date.now() + 60_000)
    expect(token.length).toBeLessThan(12_000)
    expect(await verifyZipGrant(env, token)).toMatchObject(grant)
  })

  it('is refused for tracks of others, unknown tracks, too many tracks and tracks without a file', async () => {
    const other = await aTenant()
    expect((await call('POST', '/v1/zip', { key: other.key, body: { track_ids: [first] } })).status).toBe(404)
    expect((await select({ track_ids: [UNKNOWN_ID] })).status).toBe(404)
    expect((await select({ track_ids: [] })).status).toBe(400)
    expect((await select({ track_ids: Array.from({ length: 301 }, () => crypto.randomUUID()) })).status).toBe(400)
    const waiting = await aWaitingTrack(key, collection_id)
    const { status, body } = await select({ track_ids: [first, waiting] })
    expect([status, body.code]).toEqual([409, 'track_not_ready'])
  })

  it('has a URL that expires, that cannot be changed, and that plays nothing deleted', async () => {
    const { body } = await select({ track_ids: [first] })
    const path = pathOf(body.url)
    const [head, payload, signature] = path.split('/').at(-1)!.split('.')
    const changed = btoa(atob(payload!).replace('"zip"', '"zap"')).replaceAll('=', '')
    for (const token of ['x', `${head}.${changed}.${signature}`, `${head}.${payload}.`])
      expect((await fetchPath(`/zip/selection/${token}`)).status).toBe(404)
    const old = await signZipGrant(env, { organization_id, track_ids: [first] }, Date.now() - 60_000)
    expect((await fetchPath(`/zip/selection/${old}`)).status).toBe(410)
    await ok('DELETE', `/v1/track/${first}`, { key })
    expect((await fetchPath(path)).status).toBe(404)
  })
})
