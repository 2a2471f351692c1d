import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { noise } from '../support/audio.ts'
import { type Line, openLine } from './line.ts'
import { type Album, names, type Opened, PATIENCE, setUp, type Stage } from './player_setup.ts'
import { must } from './steps.ts'

/** Playback outlives what it began with: signed URLs, sessions, connections. */

let stage: Stage
let album: Album

beforeAll(async () => {
  stage = await setUp()
  // Losslessly encoded noise is far more than a browser keeps in memory, so that seeking needs the network.
  album = await stage.anAlbum({ Long: { seconds: 150, expression: noise } })
})
afterAll(() => stage?.dispose())

/** A minute, the shortest life of a session. */
const SHORT = { expires_in: 60, variants: ['lossless'] }
const source = async () => {
  const key = { title: 'Web', type: 'player' as const, collection_id: album.collection_id }
  const { secret } = await must(stage.server.post('/v1/api_key', { body: key }))
  return { 'api-key': secret, scope: 'collection', 'resource-id': album.collection_id }
}
const urlOf = ({ page }: Opened) =>
  page.evaluate(() => document.querySelector('tonearm-player')!.shadowRoot!.querySelector('audio')!.src)
/** Waits until the storage itself refuses a URL. */
const untilRefused = (url: string) =>
  expect
    .poll(async () => (await fetch(url, { headers: { range: 'bytes=0-1' } })).status, {
      timeout: 90_000,
      interval: 1000,
    })
    .toBe(403)
describe.concurrent('a session of one minute', () => {
  test('is renewed with the key: pause, wait past its end, seek, resume', async () => {
    const session = await stage.aSession(album, SHORT)
    const opened = await stage.open({ 'play-session-id': session, ...(await source()), variants: 'lossless' })
    await opened.until('ready')
    await opened.call('play')
    await opened.untilTime(1)
    await opened.call('pause')
    const before = await opened.state()
    await untilRefused(await urlOf(opened))
    expect(await names(opened)).not.toContain('sessionrefresh')
    await opened.call('seek', 120)
    expect(await opened.state()).toMatchObject({ paused: true, variant: before.variant })
    await opened.call('play')
    await opened.untilTime(120.5)
    const [renewal] = await opened.events('sessionrefresh')
    expect(renewal?.detail).toMatchObject({ renewed: true })
    expect(renewal?.detail.play_session_id).not.toBe(session)
    expect(await names(opened)).not.toContain('error')
    expect(opened.problems).toEqual([])
    await opened.close()
  })

  test('is renewed before its end while it plays, and nobody hears it', async () => {
    const opened = await stage.open({ ...(await source()), 'expires-in': '60', variants: 'lossless', autoplay: '' })
    await opened.untilTime(1)
    const first = await urlOf(opened)
    await untilRefused(first)
    expect(await urlOf(opened)).not.toBe(first)
    const { time } = await opened.state()
    await opened.untilTime(time + 1)
    expect((await opened.events('sessionrefresh')).some(({ detail }) => detail.renewed)).toBe(true)
    expect(await names(opened)).not.toContain('pause')
    const times = (await opened.events('timeupdate')).map(({ detail }) => detail.current_time as number)
    const steps = times.slice(1).map((value, i) => value - times[i]!)
    expect(Math.min(...steps)).toBeGreaterThan(-0.3)
    expect(opened.problems).toEqual([])
    await opened.close()
  })

  test('cannot be renewed by its id alone: the page is told, and goes on with another one', async () => {
    const opened = await stage.open({ 'play-session-id': await stage.aSession(album, SHORT) })
    await opened.until('ready')
    await opened.call('play')
    await opened.untilTime(1)
    await opened.until('sessionexpired')
    await opened.call('seek', 140)
    await opened.page.getByRole('status').getByText('has expired').waitFor(PATIENCE)
    expect(await opened.events('sessionexpired')).toHaveLength(1)
    const next = await stage.aSession(album, { variants: ['lossless'] })
    await opened.page
      .locator('tonearm-player')
      .evaluate((player, id) => player.setAttribute('play-session-id', id), next)
    await opened.untilTime(140.3)
    expect((await opened.state()).paused).toBe(false)
    await opened.close()
  })
})

test('a 403 in the middle of playback is healed by a fresh play view, at the same place', async () => {
  const opened = await stage.open({ 'play-session-id': await stage.aSession(album, { variants: ['lossless'] }) })
  await opened.until('ready')
  await opened.call('play')
  await opened.untilTime(1)
  const first = await urlOf(opened)
  // From now on the storage refuses this URL, as if its time were over.
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

test('when the file cannot be had at all, the next variant plays, and then the player says so', async () => {
  const opened = await stage.open({
    'play-session-id': await stage.aSession(album, { variants: ['aac-160', 'mp3-128'] }),
  })
  await opened.until('ready')
  await opened.page.route('**/aac-160.m4a?**', (route) => route.fulfill({ status: 404, body: '' }))
  await opened.call('seek', 145)
  await opened.call('play')
  await opened.untilTime(145.3)
  expect(await opened.state()).toMatchObject({ variant: 'mp3-128', paused: false })
  await opened.close()
})

describe('the network', () => {
  let line: Line
  beforeAll(async () => {
    line = await openLine()
  })
  afterAll(() => line?.close())

  test('goes and comes back: playback goes on by itself where it was', async () => {
    const session = await stage.aSession(album, { variants: ['lossless'] })
    const opened = await stage.open({ 'play-session-id': session }, { proxy: { server: line.server } })
    await opened.until('ready')
    await opened.call('play')
    await opened.untilTime(1)
    line.cut()
    await opened.call('seek', 100)
    await opened.page.getByRole('status').getByText('connection is lost').waitFor(PATIENCE)
    expect(await opened.state()).toMatchObject({ paused: false, time: 100 })
    line.restore()
    await opened.untilTime(100.5)
    expect((await opened.state()).time).toBeLessThan(110)
    expect((await names(opened)).filter((name) => name === 'pause' || name === 'error')).toEqual([])
    await opened.close()
  })
})
