import { describe, expect, test, vi } from 'vitest'

// Loaded first, because the time of the tests does not pass while the engine loads it.
import { reportHeard } from '../../src/client/playback/report.ts'
import type { Session, State, Store } from '../../src/client/playback/state.ts'
import { FakeAudio } from './fake_audio.ts'
import { audio, type create, hooks, open, playback, service, session, settle } from './playback_setup.ts'

/** The reports of the engine about the seconds that were heard, with a fake media element. heard.test.ts tests the measurement itself. */

interface Report {
  visit: string
  sequence: number
  listens: { track: string; ranges: [number, number][]; muted?: number; fast?: number; again?: [number, number][] }[]
}
let reports: { url: string; body: Report; init: RequestInit }[]
let status: number | 'away'

const withToken = (): Session => ({ ...session('first', 5), heard_token: 'token' }) as unknown as Session

/** Opens a session whose service accepts reports. */
async function start(options: Parameters<typeof create>[0] = {}) {
  reports = []
  status = 204
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (url: string, init: RequestInit = {}) => {
    if (!url.includes('/v1/heard/')) return fetch(url, init)
    reports.push({ url, init, body: JSON.parse(init.body as string) as Report })
    return status === 'away' ? Promise.reject(new TypeError()) : Promise.resolve(new Response(null, { status }))
  })
  await open({ session: withToken(), ...options })
}

/** Plays for some seconds, with an event every quarter of a second. */
async function run(seconds: number, only?: FakeAudio) {
  for (let left = seconds; left > 0; left -= 0.25) {
    await vi.advanceTimersByTimeAsync(250)
    const element = only ?? audio()
    element.advance(0.25 * element.playbackRate)
    await settle()
    await vi.dynamicImportSettled()
  }
}
/** The module without an engine: `observe` starts it. */
async function aModule() {
  const element = new FakeAudio()
  element.src = 'https://r2/two'
  await settle()
  const ended = new AbortController()
  const pair = { audio: element, both: [element], delay: 0 }
  const state = { session: withToken() } as State
  const store: Partial<Store> = { state, track: () => ({ id: 'two' }) as never }
  const core = { source: { baseUrl: 'https://service' }, store, audio: pair, signal: ended.signal } as never
  const observe = (position: number, since: number) => reportHeard(core, position, since)
  return { element, pair, store, observe, end: () => ended.abort() }
}
const ranges = () => reports.at(-1)!.body.listens.map((listen) => listen.ranges)

describe('the seconds that were heard', () => {
  test('are reported after thirty seconds, and when the playback is closed', async () => {
    await start()
    await playback.play()
    await run(31)
    expect(reports).toHaveLength(1)
    const [{ url, init, body }] = reports as [(typeof reports)[0]]
    expect(url).toBe('https://service/v1/heard/token')
    expect(init).toMatchObject({ method: 'POST', keepalive: true, credentials: 'omit' })
    expect(body).toMatchObject({ sequence: 1, listens: [{ track: 'one', ranges: [[0, 30]] }] })
    await run(9)
    playback.close()
    expect(reports[1]!.body).toMatchObject({ visit: body.visit, sequence: 2, listens: [{ ranges: [[0, 40]] }] })
  })
  test('include those before the module has loaded', async () => {
    await start()
    const { element, observe, end } = await aModule()
    element.currentTime = 20
    await settle()
    await element.play()
    await vi.advanceTimersByTimeAsync(500)
    element.advance(0.5)
    observe(20, performance.now() - 500)
    await run(5, element)
    end()
    expect(ranges()).toEqual([[[20, 25.5]]])
  })
  test('include the start of a track that had to load, and whose first event is late', async () => {
    await start()
    const { element, pair, store, observe, end } = await aModule()
    const next = new FakeAudio()
    pair.both.push(next)
    await element.play()
    observe(0, performance.now())
    await run(2, element)
    pair.audio = next
    store.onEvent!('trackchange')
    next.src = 'https://r2/three'
    await settle()
    next.paused = false
    await vi.advanceTimersByTimeAsync(200)
    next.advance(0.2)
    await run(3, next)
    end()
    expect(ranges()).toEqual([[[0, 2]], [[0, 3.2]]])
  })
  test('exclude skipped and restored positions, and pauses', async () => {
    await start({ start: { position: 20 } })
    await playback.play()
    await settle()
    await run(2)
    // The last event is a fifth of a second before the seek.
    await vi.advanceTimersByTimeAsync(200)
    await playback.seek(50)
    await settle()
    await run(3)
    playback.pause()
    await vi.advanceTimersByTimeAsync(60_000)
    await playback.play()
    await settle()
    await run(1)
    playback.close()
    expect(ranges()).toEqual([
      [
        [20, 22.2],
        [50, 54],
      ],
    ])
  })
  test('continue with the preloaded track, and end with the last one', async () => {
    await start()
    await playback.play()
    await settle()
    await run(301)
    playback.close()
    const { listens } = reports.at(-1)!.body
    const heard = new Map(reports.flatMap(({ body }) => body.listens).map(({ track, ranges }) => [track, ranges]))
    expect([...heard]).toEqual(['one', 'two', 'three'].map((track) => [track, [[0, 100]]]))
    expect(listens.length).toBeLessThan(4)
  })
  test('belong to another listen after the end in a loop', async () => {
    service.tracks = ['one']
    await start({ options: { loop: 'one' } })
    await playback.play()
    await settle()
    await run(103)
    playback.close()
    expect(reports.at(-1)!.body.listens.map(({ track, ranges }) => [track, ranges])).toEqual([
      ['one', [[0, 100]]],
      ['one', [[0, 3]]],
    ])
  })
  test('are marked if they were muted or fast', async () => {
    await start()
    await playback.play()
    await settle()
    await run(2)
    audio().muted = true
    audio().dispatchEvent(new Event('volumechange'))
    await run(3)
    audio().muted = false
    audio().dispatchEvent(new Event('volumechange'))
    audio().playbackRate = 2
    audio().dispatchEvent(new Event('ratechange'))
    await run(4)
    playback.close()
    expect(reports.at(-1)!.body.listens).toEqual([
      {
        track: 'one',
        ranges: [
          [0, 2],
          [5, 13],
        ],
        muted: 3,
        fast: 8,
      },
    ])
  })
  test('follow the sound, which is later than the element after a joined track', async () => {
    await start()
    const { element, pair, store, observe, end } = await aModule()
    pair.audio = new FakeAudio()
    observe(0, performance.now())
    // The element started 0.2 s before its first sound.
    await element.play()
    element.advance(0.2)
    pair.audio = element
    store.onEvent!('trackchange')
    pair.delay = 0.2
    await run(10, element)
    end()
    expect(ranges()).toEqual([[[0, 10]]])
  })
  test.each(['away', 429, 503] as const)(
    'are repaired by the next report after one that failed: %s',
    async (failure) => {
      await start()
      await playback.play()
      await settle()
      status = failure
      await run(31)
      status = 204
      await run(30)
      expect(reports.map(({ body }) => body.sequence)).toEqual([1])
      await run(31)
      expect(reports.map(({ body }) => [body.sequence, Math.round(body.listens[0]!.ranges[0]![1])])).toEqual([
        [1, 30],
        [2, 90],
      ])
    },
  )
  test('belong to new visits of the same session after refused reports, at most one a minute', async () => {
    service.tracks = ['one']
    await start({ options: { loop: 'one' } })
    await playback.play()
    await settle()
    await run(31)
    status = 400
    await run(800)
    playback.close()
    const visits = new Set(reports.map(({ body }) => body.visit))
    expect([visits.size, reports.length]).toEqual([3, 4])
    expect(new Set(reports.map(({ url }) => url)).size).toBe(1)
  })
})

describe('nothing is reported', () => {
  test('if the session has no token', async () => {
    await start({ session: session('first', 5) as unknown as Session })
    await playback.play()
    await run(40)
    playback.close()
    expect(reports).toEqual([])
  })
  test('if the browser sends Sec-GPC', async () => {
    vi.stubGlobal('navigator', { globalPrivacyControl: true })
    await start()
    await playback.play()
    await run(40)
    playback.close()
    expect(reports).toEqual([])
  })
  test('if the page does not want it', async () => {
    hooks.isReporting = () => false
    await start()
    await playback.play()
    await run(40)
    expect(reports).toEqual([])
    hooks.isReporting = () => true
    await run(10)
    playback.close()
    // The seconds before remain unreported.
    expect(ranges()).toEqual([[[40.3, 50]]])
  })
  test('if nothing was played', async () => {
    await start()
    await playback.seek(40)
    await settle()
    playback.close()
    expect(reports).toEqual([])
  })
})
