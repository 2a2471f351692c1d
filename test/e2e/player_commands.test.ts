import { afterAll, beforeAll, expect, test } from 'vitest'

import { tone } from '../support/audio.ts'
import { expire } from './expired.ts'
import { type Album, button, type Opened, openReady, PATIENCE, setUpAlbum, type Workspace } from './player_setup.ts'
import { must } from './steps.ts'

/** Commands from the listener or the page take effect at any time: before there is a session, during playback, and in an event handler. */

let stage: Workspace
let album: Album
let play_session_id: string

beforeAll(async () => {
  ;({
    workspace: stage,
    album,
    play_session_id,
  } = await setUpAlbum({
    First: { seconds: 10, expression: tone(330, -3) },
    Second: { seconds: 3, expression: tone(440, -3) },
    Third: { seconds: 3, expression: tone(550, -3) },
  }))
})
afterAll(() => stage?.dispose())

const open = (attributes: Record<string, string> = {}) => openReady(stage, play_session_id, attributes)
const aKey = async () => {
  const key = { title: 'Web', type: 'player' as const, allowed_origins: [stage.host.origin] }
  return (await must(stage.server.post('/v1/api_key', { body: key }))).secret
}
const set = ({ page }: Opened, attributes: Record<string, string>) =>
  page.locator('tonearm-player').evaluate((player, attributes) => {
    for (const [name, value] of Object.entries(attributes)) player.setAttribute(name, value)
  }, attributes)
const audioOf = ({ page }: Opened) =>
  page.evaluate(() => {
    const { paused, volume } = document.querySelector('tonearm-player')!.shadowRoot!.querySelector('audio')!
    return { paused, volume }
  })

/** Opens a page whose player waits for its session until `flow` is called. */
async function openHeld(attributes: Record<string, string>) {
  let flow = () => {}
  const flowing = new Promise<void>((resolve) => (flow = resolve))
  const opened = await stage.open({})
  await opened.page.route(/\/v1\/play\/[^/]+$/, async (route) => {
    await flowing
    await route.continue()
  })
  const requested = opened.page.waitForRequest(/\/v1\/play\/[^/]+$/, PATIENCE)
  await set(opened, { ...attributes, 'play-session-id': play_session_id })
  await requested
  return { opened, flow }
}

test('play and seek take effect if they are called while the session is opening or before there is one', async () => {
  const { opened, flow } = await openHeld({ track: '1' })
  await opened.call('seek', 4)
  expect((await opened.state()).time).toBe(4)
  await opened.call('play')
  flow()
  await opened.untilTime(4.2)
  expect(await opened.state()).toMatchObject({ title: 'First', paused: false })
  await opened.close()
  const empty = await stage.open({})
  await empty.call('seek', 5)
  await empty.call('play')
  await set(empty, { 'play-session-id': play_session_id })
  await empty.untilTime(5.2)
  await empty.close()
})

test('a seek before the file has loaded affects only the current track', async () => {
  const opened = await stage.open({})
  const { page } = opened
  await page.route(/\/s3\//, () => {})
  await set(opened, { 'play-session-id': play_session_id, track: '2' })
  await opened.until('ready')
  await opened.call('seek', 2)
  expect(await opened.state()).toMatchObject({ title: 'Second', time: 2 })
  await page.unroute(/\/s3\//)
  await opened.call('next')
  const hasLoaded = () => document.querySelector('tonearm-player')!.shadowRoot!.querySelector('audio')!.readyState > 0
  await page.waitForFunction(hasLoaded, null, PATIENCE)
  expect(await opened.state()).toMatchObject({ title: 'Third', time: 0 })
  await opened.close()
})

test('play in an expired session takes effect when the page sets the next session', async () => {
  const old = await stage.aSession(album)
  await expire(stage.stack, 'play_sessions', old, 1)
  const opened = await stage.open({ 'play-session-id': old, track: '2' })
  await opened.until('sessionexpired')
  await opened.call('play')
  await set(opened, { 'play-session-id': play_session_id })
  await opened.untilTime(0.2)
  expect(await opened.state()).toMatchObject({ title: 'Second', paused: false })
  await opened.close()
})

test('another resource starts at its beginning, the same track continues at its position, and `start` overrides both', async () => {
  const source = { 'api-key': await aKey(), scope: 'track', 'resource-id': album.track_ids[0]! }
  const opened = await stage.open(source)
  await opened.until('ready')
  await opened.call('seek', 6)
  await set(opened, { 'resource-id': album.track_ids[1]! })
  await opened.until('ready', 2)
  expect(await opened.state()).toMatchObject({ title: 'Second', time: 0, paused: true })
  await opened.call('seek', 2)
  await set(opened, { scope: 'collection', 'resource-id': album.collection_id })
  await opened.until('ready', 3)
  expect(await opened.state()).toMatchObject({ title: 'Second', time: 2 })
  await set(opened, { 'play-session-id': play_session_id, track: '1', start: '3' })
  await opened.until('ready', 4)
  expect(await opened.state()).toMatchObject({ title: 'First', time: 3 })
  await opened.close()
})

test('a pending or active play continues when the page sets another session with a start', async () => {
  const playing = await open()
  await playing.call('play')
  await playing.untilTime(0.2)
  const elsewhere = { 'play-session-id': await stage.aSession(album), track: '2', start: '1' }
  await set(playing, elsewhere)
  await playing.until('ready', 2)
  expect(await playing.state()).toMatchObject({ title: 'Second', paused: false })
  expect((await playing.state()).time).toBeGreaterThanOrEqual(1)
  await playing.close()
  const { opened, flow } = await openHeld({})
  await opened.call('play')
  await set(opened, elsewhere)
  flow()
  await opened.until('ready')
  expect(await opened.state()).toMatchObject({ title: 'Second', paused: false })
  await opened.close()
})

test('normalize, loop and shuffle take effect during playback', async () => {
  const session = await stage.aSession(album, { variants: ['aac-160', 'analysis'] })
  const opened = await open({ 'play-session-id': session, track: '3' })
  expect((await audioOf(opened)).volume).toBe(1)
  await set(opened, { normalize: '' })
  await expect.poll(async () => (await audioOf(opened)).volume, PATIENCE).toBeLessThan(0.5)
  await opened.page.locator('tonearm-player').evaluate((player) => player.removeAttribute('normalize'))
  await expect.poll(async () => (await audioOf(opened)).volume, PATIENCE).toBe(1)
  await opened.call('play')
  await opened.untilTime(0.3)
  expect(await button(opened, 'Next track').isDisabled()).toBe(true)
  await set(opened, { loop: 'one' })
  await opened.until('ended')
  await opened.page.waitForFunction(() => document.querySelector('tonearm-player')!.currentTime < 2, null, PATIENCE)
  expect(await opened.state()).toMatchObject({ title: 'Third', paused: false })
  // Shuffling moves the current track to the start of a new order, so both other tracks follow.
  await set(opened, { loop: 'none', shuffle: '' })
  expect(await button(opened, 'Next track').isDisabled()).toBe(false)
  await opened.call('next')
  await opened.call('next')
  expect(await button(opened, 'Next track').isDisabled()).toBe(true)
  expect((await opened.state()).title).not.toBe('Third')
  await opened.close()
})

test('while a track plays, only the time changes in the DOM', async () => {
  const opened = await open({ autoplay: '' })
  await opened.untilTime(0.5)
  await opened.page.evaluate(() => {
    const root = document.querySelector('tonearm-player')!.shadowRoot!
    const changed: string[] = []
    Object.assign(window, { changed })
    const note = ({ target }: MutationRecord) =>
      changed.push((target instanceof Element ? target : target.parentElement!).className)
    const all = { subtree: true, childList: true, attributes: true, characterData: true }
    new MutationObserver((records) => records.forEach(note)).observe(root, all)
  })
  const { time } = await opened.state()
  await opened.untilTime(time + 2)
  const changed = await opened.page.evaluate(() => (window as unknown as { changed: string[] }).changed)
  expect([...new Set(changed)]).toEqual(['now'])
  await opened.close()
})
