import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { noise } from '../support/audio.ts'
import { type NetworkProxy, openNetworkProxy } from '../support/network_proxy.ts'
import { expire } from './expired.ts'
import { type Album, names, type Opened, PATIENCE, setUp, type Workspace } from './player_setup.ts'
import { must, untilEnded } from './steps.ts'

/** Playback continues past the end of URLs, sessions and connections. The tests that wait longest start first, and the others run while they wait. */

let workspace: Workspace
let album: Album

beforeAll(async () => {
  workspace = await setUp()
  // A lossless file of noise is larger than the browser's memory cache, so seeking needs the network. Mono at twice the
  // sample rate has as many bytes as stereo, but is encoded in two thirds of the time.
  album = await workspace.anAlbum({ Long: { seconds: 130, rate: 88_200, channels: 1, expression: noise } })
})
afterAll(() => workspace?.dispose())

/** A session with the minimum lifetime of one minute. */
const SHORT = { expires_in: 60, variants: ['lossless'] }
const source = async () => {
  const key = { title: 'Web', type: 'player' as const, collection_id: album.collection_id }
  const { secret } = await must(workspace.server.post('/v1/api_key', { body: key }))
  return { 'api-key': secret, scope: 'collection', 'resource-id': album.collection_id }
}
const urlOf = ({ page }: Opened) =>
  page.evaluate(() => document.querySelector('tonearm-player')!.shadowRoot!.querySelector('audio')!.src)
/** Waits until storage rejects a URL. */
const untilRefused = (url: string) =>
  expect
    .poll(async () => (await fetch(url, { headers: { range: 'bytes=0-1' } })).status, {
      ...PATIENCE,
      interval: 1000,
    })
    .toBe(403)
describe.concurrent('a session of one minute', () => {
  test('is renewed with the key when a paused player seeks and resumes after the session has ended', async () => {
    const session = await workspace.aSession(album, SHORT)
    const opened = await workspace.open({ 'play-session-id': session, ...(await source()), variants: 'lossless' })
    await opened.until('ready')
    await opened.call('play')
    await opened.untilTime(1)
    await opened.call('pause')
    const before = await opened.state()
    await untilRefused(await urlOf(opened))
    await untilEnded(workspace.server, session)
    expect(await names(opened)).not.toContain('sessionrefresh')
    await opened.call('seek', 80)
    expect(await opened.state()).toMatchObject({ paused: true, variant: before.variant })
    await opened.call('play')
    await opened.untilTime(80.5)
    const [renewal] = await opened.events('sessionrefresh')
    expect(renewal?.detail).toMatchObject({ renewed: true })
    expect(renewal?.detail.playSessionId).not.toBe(session)
    expect(await names(opened)).not.toContain('error')
    expect(opened.problems).toEqual([])
    await opened.close()
  })

  test('is renewed before its end during continuous playback', async () => {
    const opened = await workspace.open({ ...(await source()), 'expires-in': '60', variants: 'lossless', autoplay: '' })
    await opened.untilTime(1)
    const first = await urlOf(opened)
    await untilRefused(first)
    expect(await urlOf(opened)).not.toBe(first)
    await opened.untilTime((await opened.state()).time + 1)
    expect((await opened.events('sessionrefresh')).some(({ detail }) => detail.renewed)).toBe(true)
    expect(await names(opened)).not.toContain('pause')
    const times = (await opened.events('timeupdate')).map(({ detail }) => detail.currentTime as number)
    const steps = times.slice(1).map((value, i) => value - times[i]!)
    expect(Math.min(...steps)).toBeGreaterThan(-0.3)
    expect(opened.problems).toEqual([])
    await opened.close()
  })

  test('cannot be renewed by its id alone: the page gets an event and continues with another session', async () => {
    const opened = await workspace.open({ 'play-session-id': await workspace.aSession(album, SHORT) })
    await opened.until('ready')
    await opened.call('play')
    await opened.untilTime(1)
    await opened.until('sessionexpired')
    await opened.call('seek', 124)
    await opened.page.getByRole('status').getByText('has expired').waitFor(PATIENCE)
    expect(await opened.events('sessionexpired')).toHaveLength(1)
    const next = await workspace.aSession(album, { variants: ['lossless'] })
    await opened.page
      .locator('tonearm-player')
      .evaluate((player, id) => player.setAttribute('play-session-id', id), next)
    await opened.untilTime(124.3)
    expect((await opened.state()).paused).toBe(false)
    await opened.close()
  })
})

describe.concurrent('a network outage', () => {
  let network: NetworkProxy
  beforeAll(async () => {
    network = await openNetworkProxy()
  })
  afterAll(() => network?.close())

  test('that outlasts all attempts for every variant does not end playback, which resumes by itself at the same position', async ({
    expect,
  }) => {
    const session = await workspace.aSession(album, { variants: ['lossless'] })
    const opened = await workspace.open({ 'play-session-id': session }, { proxy: { server: network.server } })
    await opened.until('ready')
    await opened.call('play')
    await opened.untilTime(1)
    let unanswered = 0
    opened.page.on('requestfailed', (request) => {
      if (request.url().includes('/v1/play/')) unanswered++
    })
    network.cut()
    await opened.call('seek', 85)
    // Each call makes three requests, so this number shows that the player has tried several calls.
    await expect.poll(() => unanswered, PATIENCE).toBeGreaterThanOrEqual(10)
    await opened.page.getByRole('status').getByText('connection is lost').waitFor(PATIENCE)
    expect(await opened.state()).toMatchObject({ paused: false, time: 85 })
    network.restore()
    await opened.untilTime(85.5)
    expect((await opened.state()).time).toBeLessThan(95)
    expect((await names(opened)).filter((name) => name === 'pause' || name === 'error')).toEqual([])
    await opened.close()
  })
})

test.concurrent('after storage has answered 503 for some seconds, the same file resumes at the same position, with few requests', async ({
  expect,
}) => {
  const session = await workspace.aSession(album, { variants: ['lossless', 'aac-160'] })
  const opened = await workspace.open({ 'play-session-id': session })
  await opened.until('ready')
  await opened.call('play')
  await opened.untilTime(1)
  const requests = { refused: 0, probes: 0, views: 0 }
  opened.page.on('request', (request) => {
    if (request.url().includes('/v1/play/')) requests.views++
  })
  await opened.page.route(/\/s3\//, async (route) => {
    if (route.request().headers().range === 'bytes=0-0') requests.probes++
    // The player probes the file immediately, after 2 seconds, and after 3 more seconds. The third probe succeeds.
    if (requests.probes > 2) return await route.continue()
    requests.refused++
    await route.fulfill({ status: 503, body: '<Error/>', headers: { 'access-control-allow-origin': '*' } })
  })
  await opened.call('seek', 85)
  await opened.page.getByRole('status').getByText('connection is lost').waitFor(PATIENCE)
  expect(await opened.state()).toMatchObject({ paused: false, time: 85, variant: 'lossless' })
  await opened.untilTime(85.5)
  expect((await opened.state()).time).toBeLessThan(95)
  expect(await opened.state()).toMatchObject({ paused: false, variant: 'lossless' })
  expect((await names(opened)).filter((name) => name === 'pause' || name === 'error')).toEqual([])
  expect(requests.refused).toBeLessThanOrEqual(6)
  expect(requests.views).toBeLessThanOrEqual(2)
  await opened.close()
})

test.concurrent('after a 403 during playback, a fresh play view continues at the same position', async () => {
  // URLs of a session with this lifetime change every 16 seconds (docs/decisions/0028).
  const play_session_id = await workspace.aSession(album, { variants: ['lossless'], expires_in: 95 })
  const opened = await workspace.open({ 'play-session-id': play_session_id })
  await opened.until('ready')
  await opened.call('play')
  await opened.untilTime(1)
  const [first, params] = [await urlOf(opened), { play_session_id, play_track_id: album.track_ids[0]! }]
  const readView = () => must(workspace.server.get('/v1/play/{play_session_id}/{play_track_id}', { params }))
  await expect.poll(async () => (await readView()).variants[0]!.url, { timeout: 30_000, interval: 500 }).not.toBe(first)
  // From now on storage rejects this URL as if it had expired.
  await opened.page.route(
    (url) => url.href === first,
    (route) => route.fulfill({ status: 403, body: '<Error/>' }),
  )
  await opened.call('seek', 90)
  await opened.untilTime(90.5)
  expect(await urlOf(opened)).not.toBe(first)
  const { time, paused } = await opened.state()
  expect([paused, time < 100]).toEqual([false, true])
  expect((await opened.events('sessionrefresh')).map(({ detail }) => detail.renewed)).toEqual([false])
  expect((await names(opened)).filter((name) => name === 'pause' || name === 'error')).toEqual([])
  await opened.close()
})

test.concurrent('a session that expired long ago is renewed with the key, and the list keeps the focus', async () => {
  const { collection_id, track_ids } = await workspace.anAlbum({ One: { seconds: 2 }, Two: { seconds: 3 } })
  const { secret } = await must(
    workspace.server.post('/v1/api_key', { body: { title: 'Web', type: 'player', collection_id } }),
  )
  const key = { 'api-key': secret, scope: 'collection', 'resource-id': collection_id }
  const session = await workspace.aSession({ collection_id, track_ids })
  const opened = await workspace.open({ 'play-session-id': session, ...key })
  const plain = await workspace.open({ 'play-session-id': session })
  for (const each of [opened, plain]) await each.until('ready')
  // The session ended more than a day ago, so the service no longer knows it.
  await expire(workspace.stack, 'play_sessions', session, 25)
  for (const { page } of [opened, plain]) {
    await page.evaluate(() => {
      const now = Date.now.bind(Date)
      Date.now = () => now() + 26 * 3600_000
    })
  }
  await opened.page.getByRole('listitem').getByRole('button', { name: /Two/ }).click()
  await opened.untilTime(0.3)
  expect(await opened.state()).toMatchObject({ title: 'Two', paused: false })
  expect((await opened.events('sessionrefresh'))[0]?.detail).toMatchObject({ renewed: true })
  expect(await names(opened)).not.toContain('error')
  expect(
    await opened.page.evaluate(
      () => document.querySelector('tonearm-player')!.shadowRoot!.activeElement?.textContent ?? null,
    ),
  ).toContain('Two')
  await opened.close()
  // Without a key, the player asks the page for another session.
  await plain.call('next')
  await plain.page.getByRole('status').getByText('has expired').waitFor(PATIENCE)
  expect(await names(plain)).toEqual(expect.arrayContaining(['sessionexpired']))
  expect(await names(plain)).not.toContain('error')
  // A session can also be renewed if it has already expired when the page opens it.
  const late = await workspace.open({ 'play-session-id': session, ...key })
  await late.until('ready')
  expect((await late.events('sessionrefresh'))[0]?.detail).toMatchObject({ renewed: true })
  await late.close()
  await plain.close()
})
