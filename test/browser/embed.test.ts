import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { embedHeight } from '../../src/contract/embed.ts'
import { EmbeddedPlayer } from '../../src/elements/embed/index.ts'
import { connectFrame } from '../../src/elements/frame/index.ts'
import type { TonearmPlayer } from '../../src/elements/player/element.ts'

/** A page and the embedded player, connected by messages between two fake windows. */

class FakeWindow extends EventTarget {
  origin: string
  parent!: FakeWindow
  /** The origins of the enclosing pages, which only some browsers expose. */
  location: { ancestorOrigins?: string[] } = {}
  innerWidth = 480
  constructor(origin: string) {
    super()
    this.origin = origin
  }
  /** Delivers a message from another window. */
  from(source: FakeWindow, data: unknown): void {
    this.dispatchEvent(
      Object.assign(new Event('message'), { source, origin: source.origin, data: structuredClone(data) }),
    )
  }
  /** The window at the other end. Each window has one peer. */
  peer!: FakeWindow
  postMessage(data: unknown, origin: string): void {
    if (origin === '*' || origin === this.origin) this.from(this.peer, data)
  }
}

let page: FakeWindow
let frame: FakeWindow
let element: ReturnType<typeof aPlayer>
let leave: () => void

function aPlayer() {
  const tracks = ['one', 'two', 'three'].map((id) => ({ id }))
  return Object.assign(new EventTarget(), {
    tracks,
    track: tracks[0],
    volume: 1,
    rate: 1,
    paused: true,
    layout: null as string | null,
    getAttribute(name: string) {
      return name === 'layout' ? this.layout : null
    },
    play: vi.fn<TonearmPlayer['play']>(),
    pause: vi.fn<TonearmPlayer['pause']>(),
    seek: vi.fn<TonearmPlayer['seek']>(),
    next: vi.fn<TonearmPlayer['next']>(),
    previous: vi.fn<TonearmPlayer['previous']>(),
    select: vi.fn<TonearmPlayer['select']>(),
  })
}
const happens = (name: string, detail: object = {}) =>
  element.dispatchEvent(new CustomEvent(`tonearm-${name}`, { detail }))
const anIframe = () =>
  ({ src: 'https://audio.example/embed/x', contentWindow: frame, height: '100' }) as unknown as HTMLIFrameElement
const load = (origins: string[] | null = null) =>
  (leave = connectFrame(element as unknown as TonearmPlayer, origins, frame as unknown as Window))

beforeEach(() => {
  page = new FakeWindow('https://band.example')
  frame = new FakeWindow('https://audio.example')
  Object.assign(page, { peer: frame, parent: page })
  Object.assign(frame, { peer: page, parent: page })
  element = aPlayer()
  leave = () => {}
  vi.stubGlobal('window', page)
})
afterEach(() => {
  leave()
  vi.unstubAllGlobals()
})

test('a page controls the player, even before its frame has loaded', () => {
  const player = new EmbeddedPlayer(anIframe())
  player.play()
  player.seek(30)
  load()
  expect(element.play).not.toHaveBeenCalled()
  happens('ready', {})
  expect(element.play).toHaveBeenCalledOnce()
  expect(element.seek).toHaveBeenCalledWith(30)
  player.pause()
  player.next()
  player.previous()
  player.select(2)
  player.setVolume(0.3)
  player.setRate(1.5)
  for (const name of ['pause', 'next', 'previous'] as const) expect(element[name], name).toHaveBeenCalledOnce()
  expect(element.select).toHaveBeenCalledWith('2')
  expect([element.volume, element.rate]).toEqual([0.3, 1.5])
})

test.each(['before the frame has loaded', 'after'])('calls keep their order: %s', (when) => {
  if (when === 'after') load()
  const player = new EmbeddedPlayer(anIframe())
  player.next()
  player.select(3)
  player.seek(7)
  player.play()
  player.pause()
  if (when !== 'after') load()
  happens('trackchange', { track: null, index: 0 })
  const order = (['next', 'select', 'seek', 'play', 'pause'] as const).map(
    (name) => element[name].mock.invocationCallOrder[0]!,
  )
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  player.close()
})

test('a player that loaded earlier responds at once', () => {
  load()
  const player = new EmbeddedPlayer(anIframe())
  player.play()
  expect(element.play).toHaveBeenCalledOnce()
})

test('a page receives events until it unsubscribes', () => {
  load()
  const player = new EmbeddedPlayer(anIframe())
  const [times, ends] = [vi.fn<(detail: object) => void>(), vi.fn<(detail: object) => void>()]
  const off = player.on('timeupdate', times)
  player.on('ended', ends)
  happens('timeupdate', { currentTime: 3, duration: 9 })
  expect(times).toHaveBeenCalledWith({ currentTime: 3, duration: 9 })
  off()
  happens('timeupdate', { currentTime: 4, duration: 9 })
  expect(times).toHaveBeenCalledOnce()
  player.close()
  happens('ended', { last: true })
  expect(ends).not.toHaveBeenCalled()
})

test('a frame grows with its number of rows if the page sets autoHeight', () => {
  load()
  const [still, growing] = [anIframe(), anIframe()]
  const players = [new EmbeddedPlayer(still), new EmbeddedPlayer(growing, { autoHeight: true })]
  happens('ready', {})
  expect([still.height, growing.height]).toEqual(['100', String(embedHeight('collection', 3, 12))])
  // The layout `cover` is a square.
  element.layout = 'cover'
  happens('ready', {})
  expect(growing.height).toBe('480')
  for (const player of players) player.close()
  expect(embedHeight('collection', 1)).toBe(embedHeight('track', 5))
  expect([embedHeight('playlist', 2), embedHeight('playlist', 99), embedHeight('playlist', 0)]).toEqual([400, 480, 480])
})

test('messages from other windows and origins are ignored', () => {
  load()
  const player = new EmbeddedPlayer(anIframe())
  const onPlay = vi.fn<() => void>()
  player.on('play', onPlay)
  const stranger = new FakeWindow('https://evil.example')
  const event = { protocol: 'tonearm-1', event: 'play', detail: {} }
  page.from(stranger, event)
  // The frame may have navigated to another origin.
  frame.origin = 'https://evil.example'
  page.from(frame, event)
  for (const odd of [null, 'tonearm-1', { protocol: 'other', event: 'play' }]) page.from(frame, odd)
  expect(onPlay).not.toHaveBeenCalled()
  frame.from(stranger, { protocol: 'tonearm-1', command: 'play' })
  for (const odd of [
    null,
    7,
    { command: 'play' },
    { protocol: 'tonearm-1', command: 'seek', value: 'x' },
    { protocol: 'tonearm-1', command: 'remove' },
  ])
    frame.from(page, odd)
  expect(element.play).not.toHaveBeenCalled()
  expect(element.seek).not.toHaveBeenCalled()
})

describe('the frame of a share', () => {
  const track = { id: 'one', player_title: 'Secret' }
  const EVENTS = {
    ready: { track, index: 0, tracks: [track] },
    play: { track, index: 0 },
    ended: { track, index: 0, last: false },
    timeupdate: { currentTime: 3, duration: 9 },
    error: { code: 'not_found', message: 'No track one' },
    sessionrefresh: { playSessionId: 'one', expiresAt: '2100-01-01T00:00:00Z', renewed: true },
    sessionexpired: { playSessionId: 'one' },
  }
  /** Emits all of `EVENTS` in the frame and returns the details that the page receives. */
  function received(): unknown[] {
    const details: unknown[] = []
    page.addEventListener('message', (event) => details.push((event as MessageEvent<{ detail: unknown }>).data.detail))
    for (const [name, detail] of Object.entries(EVENTS)) happens(name, detail)
    return details.filter((detail) => !Object.hasOwn(detail as object, 'height'))
  }

  test('sends neither titles nor ids to a page that is not allowed, even after a hello message', () => {
    frame.location.ancestorOrigins = [page.origin, 'https://a.example']
    load(['https://audio.example', 'https://a.example'])
    const player = new EmbeddedPlayer(anIframe())
    const changes = vi.fn<(detail: object) => void>()
    player.on('trackchange', changes)
    frame.from(page, { protocol: 'tonearm-1', command: 'hello' })
    expect(changes).toHaveBeenCalledWith({ track: null, index: 0 })
    expect(received()).toEqual([
      { track: null, index: 0, tracks: [] },
      { track: null, index: 0 },
      { track: null, index: 0, last: false },
      { currentTime: 3, duration: 9 },
      { code: 'not_found', message: null },
      { playSessionId: null, expiresAt: '2100-01-01T00:00:00Z', renewed: true },
      { playSessionId: null },
    ])
  })

  test('sends everything to an allowed page once that page has identified itself', () => {
    load([page.origin])
    expect(received()[1]).toEqual({ track: null, index: 0 })
    const player = new EmbeddedPlayer(anIframe())
    expect(received()).toEqual(Object.values(EVENTS))
    player.close()
    // Messages that are addressed to the allowed page do not reach another origin.
    page.origin = 'https://evil.example'
    expect(received()).toEqual([])
  })

  test.each([undefined, 'null', ''])('sends no titles to a page with the origin %j', (origin) => {
    frame.location.ancestorOrigins = origin === undefined ? [] : [origin]
    load(['https://audio.example', ''])
    expect(received()[1]).toEqual({ track: null, index: 0 })
  })
})

/** Connects two players, each in its own frame; `leave` disconnects both. */
function twoFrames() {
  const players = [aPlayer(), aPlayer()] as const
  const ends = players.map((player) =>
    connectFrame(player as unknown as TonearmPlayer, null, frame as unknown as Window),
  )
  leave = () => ends.forEach((end) => end())
  return players
}
const start = (player: EventTarget) => player.dispatchEvent(new CustomEvent('tonearm-play', { detail: {} }))

test('only one of several frames that start at the same time plays', async () => {
  const [first, second] = twoFrames()
  for (let i = 1; i <= 5; i++) {
    start(first)
    start(second)
    await vi.waitFor(() => expect(first.pause.mock.calls.length + second.pause.mock.calls.length).toBe(i))
  }
})

test('a frame that was not started keeps its autoplay when another one starts', async () => {
  const [first, second] = twoFrames()
  // The first player is paused when the first start message arrives, and is playing when the second message arrives.
  const paused = [true, false]
  Object.defineProperty(first, 'paused', { get: () => paused.shift() })
  start(second)
  start(second)
  await vi.waitFor(() => expect(paused).toEqual([]))
  expect(first.pause).toHaveBeenCalledOnce()
})

test.each([
  ['that still loads after a click', true, false],
  ['that was started before it listened', false, false],
  ['whose session ended while it played', true, true],
])('a frame %s is paused when another one starts', async (_, isStarted, paused) => {
  const [first, second] = twoFrames()
  // If two frames start within the same millisecond, a random number decides which one was later.
  if (isStarted) vi.spyOn(Date, 'now').mockReturnValueOnce(1)
  if (isStarted) start(first)
  first.paused = paused
  start(second)
  await vi.waitFor(() => expect(first.pause).toHaveBeenCalledOnce())
})
