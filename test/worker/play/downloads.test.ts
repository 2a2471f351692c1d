import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'

import worker from '../../../src/index.ts'
import { aPlaySession, ok } from '../support/api.ts'
import { aReadyTrack, aTenant, fileRows } from '../support/fixtures.ts'

/** Tests that downloads are counted (docs/counting.md). */

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36'
const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

async function aDownload(scope: 'collection' | 'track') {
  const { key, collection_id, organization_id } = await aTenant()
  const track_id = await aReadyTrack(key, collection_id)
  for (const { path, size } of await fileRows(track_id)) await env.MEDIA.put(path, new Uint8Array(size))
  const id = scope === 'track' ? track_id : collection_id
  const { play_session_id } = await aPlaySession(key, scope, id, { is_downloadable: true })
  const send = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const context = createExecutionContext()
    const request = new Request(`https://tonearm.test${path}`, {
      method,
      headers: { 'user-agent': BROWSER, ...headers },
    })
    const response = await worker.fetch(request, env, context)
    await response.arrayBuffer()
    await waitOnExecutionContext(context)
    return response.status
  }
  const today = new Date(Date.now()).toISOString().slice(0, 10)
  const downloads = async (scope: string, id: string) =>
    (await ok('GET', `/v1/stats/${scope}/${id}?from=${today}`, { key })).totals.downloads
  const file = `/v1/play/${play_session_id}/${track_id}/mp3-128/download`
  const counted = async () => [
    await downloads('organization', organization_id),
    await downloads('collection', collection_id),
    await downloads('track', track_id),
  ]
  return { send, counted, file, zip: `/zip/${play_session_id}` }
}

it('each URL of a file and each ZIP is a download, but the ZIP of a collection does not count for its tracks', async () => {
  const { send, counted, file, zip } = await aDownload('collection')
  expect([await send(file), await send(file), await send(zip)]).toEqual([200, 200, 200])
  expect(await counted()).toEqual([3, 3, 2])
})

it('the ZIP of a single track is a download of the track', async () => {
  const { send, counted, zip } = await aDownload('track')
  await send(zip)
  expect(await counted()).toEqual([1, 0, 1])
})

it('bots, listeners who have opted out, HEAD requests and refused downloads are not counted', async () => {
  const { send, counted, file, zip } = await aDownload('collection')
  expect(await send(file, { 'user-agent': BOT })).toBe(200)
  expect(await send(zip, { 'user-agent': 'curl/8.5.0' })).toBe(200)
  expect(await send(file, { 'sec-gpc': '1' })).toBe(200)
  for (const path of [file, zip]) expect(await send(path, {}, 'HEAD')).toBe(200)
  expect(await send(file.replace('mp3-128', 'mp3-999'))).toBe(404)
  expect(await counted()).toEqual([0, 0, 0])
})
