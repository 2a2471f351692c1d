import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { createClient } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { type HostPage, startHostPage } from '../support/host_page.ts'
import { copyTrack, SONG } from './library.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { openTab } from './studio_steps.ts'

/** Tests links to the files of a share as podcast apps and pages of other sites use them (docs/share.md#links-to-files). */

let stack: Shared
let browser: Browser
let host: HostPage

beforeAll(async () => {
  ;[stack, browser, host] = await Promise.all([joinStack(), joinBrowser(), startHostPage()])
})
afterAll(async () => {
  await closePages()
  await host?.close()
  await stack?.dispose()
})

test('a link to a file answers HEAD, ranges and 304, and plays and seeks on a page of another origin', async () => {
  const client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Night bus' } }))
  const { track_id } = await copyTrack(stack, collection_id, 'Depot.mp3', SONG)
  const body = { scope: 'collection', id: collection_id, is_downloadable: true } as const
  const { share } = await must(client.post('/v1/share', { body }))
  const file = `${share.url}/${track_id}`
  const link = `${file}.mp3`
  const { headers: head } = await fetch(link, { method: 'HEAD' })
  const etag = head.get('etag')!
  // The headers of HEAD are those with which the storage sends the file.
  const described = ({ headers }: Response) =>
    ['etag', 'content-type', 'content-length', 'last-modified', 'accept-ranges'].map((name) => headers.get(name))
  for (const type of ['mp3', 'm4a', 'opus']) {
    const address = `${file}.${type}`
    const [asked, whole] = [await fetch(address, { method: 'HEAD' }), await fetch(address)]
    expect([asked.status, asked.redirected, whole.status, whole.redirected]).toEqual([200, false, 200, true])
    expect(described(asked)).toEqual(described(whole))
    expect((await whole.arrayBuffer()).byteLength).toBe(Number(asked.headers.get('content-length')))
  }
  const part = await fetch(link, { headers: { range: 'bytes=0-99', 'if-range': etag } })
  expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 100])
  expect((await fetch(link, { headers: { 'if-none-match': etag } })).status).toBe(304)
  const { page, problems } = await openTab(browser)
  host.show('<!doctype html><html lang="en"><title>Blog</title>')
  await page.goto(host.origin)
  const heard = await page.evaluate(async (src) => {
    const audio = Object.assign(new Audio(), { crossOrigin: 'anonymous', src, preload: 'auto' })
    const on = (event: string) => new Promise((resolve) => audio.addEventListener(event, resolve, { once: true }))
    await on('canplay')
    audio.currentTime = 8
    await on('seeked')
    const samples = await new AudioContext().decodeAudioData(await (await fetch(src)).arrayBuffer())
    return [audio.duration, audio.currentTime, samples.duration].map(Math.round)
  }, link)
  expect([heard, problems]).toEqual([[12, 8, 12], []])
  await page.context().close()
})
