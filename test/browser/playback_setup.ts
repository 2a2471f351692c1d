import { afterEach, beforeEach, expect, vi } from 'vitest'

import { Playback } from '../../src/client/playback/playback.ts'
import type { PlaybackOptions, Session, StartOptions } from '../../src/client/playback/state.ts'
// Loaded first, because the time of the tests does not pass while the engine loads it.
import '../../src/client/playback/take_over.ts'
import { FakeAudio } from './fake_audio.ts'

/** The playback engine with a fake service and a fake media element. */

const END = '2030-01-01T00:00:00.000Z'
const TRACKS = ['one', 'two', 'three']
/** Behavior of the fake service. */
export const service = {
  /** Lifetime of the service's URLs in seconds. The player relies on only three fifths of this lifetime, because the rest may have elapsed. */
  ttl: 3600,
  signed: 0,
  /** Responses that replace a play view, by the id of a track or session, or `all`. */
  refusals: {} as Record<string, { status: number; code: string } | 'away'>,
  preliminary: false,
  /** The time on the test's clock at which the first session and its URLs expire. */
  endsAt: null as number | null,
  tracks: TRACKS,
  /** Maximum number of play views in a response. */
  views: 5,
  /** Tracks that are missing from a renewed session. */
  removed: [] as string[],
  /** Loudness of the tracks, for sessions that include the analysis. */
  analysis: null as Promise<object> | null,
}
/** The fake storage: its response to a probe of a file, and the number of probes. */
export const storage = {
  answer: 206 as number | 'away',
  retryAfter: '',
  requests: 0,
  /** Called before each response. */
  onAsk: (_url: string): unknown => undefined,
}
/** Starts an outage: storage serves no media and responds to probes with `answer`. */
export function outage(answer: number | 'away') {
  FakeAudio.refused = ['r2']
  storage.answer = answer
}
export function endOutage() {
  FakeAudio.refused = []
  storage.answer = 206
}
export const hooks = {
  onEvent: (_name: string): unknown => undefined,
  resumeAt: (_id: string) => 0,
  isReporting: () => true,
}
export let playback: Playback
export let events: { name: string; detail: Record<string, unknown> }[]
export let requests: string[]
/** Options passed to the engine. A page changes them in place. */
export let sourceOptions: PlaybackOptions

/** The response of the service to a request for a session, with `count` play views from the track `from` on. */
export const session = (id: string, count = 0, from: string | null = null) => ({
  ok: true,
  play_session_id: id,
  play_session: { id, variants: ['aac-160'], is_downloadable: false, expires_at: END },
  tracks: service.tracks
    .filter((track) => !isRemoved(id, track))
    .map((track) => ({
      id: track,
      player_title: track,
      duration: 100,
    })),
  // The session includes a play view of the first track if it is playable.
  first_track: service.refusals.one ? null : view(id, service.tracks[0]!),
  ...(count > 0 && {
    views: following(id, from)
      .slice(0, Math.min(count, service.views))
      .map((track) => view(id, track)),
  }),
})
const following = (session_id: string, from: string | null) =>
  service.tracks
    .slice(from === null ? 0 : service.tracks.indexOf(from))
    .filter((track) => !isRemoved(session_id, track) && !service.refusals[track])
const isRemoved = (session_id: string, track_id: string) =>
  session_id === 'renewed' && service.removed.includes(track_id)
const isEnding = (session_id: string) => session_id === 'first' && service.endsAt !== null
const lifeOf = (session_id: string) =>
  isEnding(session_id) ? Math.floor((service.endsAt! - Date.now()) / 1000) : service.ttl

function view(session_id: string, id: string) {
  const url = (name: string) =>
    `https://r2/${session_id}/${id}/${name}?X-Amz-Expires=${lifeOf(session_id)}&n=${++service.signed}`
  const entry = (index: string, ending: string) => ({
    path: `${id}/${index}.${ending}`,
    url: url(index),
    variant: { index },
  })
  return {
    ok: true,
    play_session_id: session_id,
    play_session: { id: session_id, variants: ['aac-160'], is_downloadable: false, expires_at: END },
    track_id: id,
    track: { player_title: id, duration: 100, is_preliminary: service.preliminary },
    levels: { levels: [] },
    cover_image: {},
    variants: service.preliminary
      ? [entry('early', 'mp3')]
      : [entry('aac-160', 'm4a'), entry('mp3-128', 'mp3'), ...(service.analysis ? [entry('analysis', 'json')] : [])],
  }
}

function answerOfStorage(url: URL): Response {
  storage.requests++
  storage.onAsk(url.href)
  if (storage.answer === 'away') throw new TypeError('Failed to fetch')
  return new Response('x', { status: storage.answer, headers: { 'retry-after': storage.retryAfter } })
}

async function answer(url: URL, { method = 'GET', body }: RequestInit): Promise<Response> {
  if (url.host === 'r2') {
    const response = answerOfStorage(url)
    return response.ok && url.pathname.endsWith('/analysis') ? Response.json(await service.analysis) : response
  }
  const [, , noun, session_id = '', track] = url.pathname.split('/')
  requests.push(`${method} ${url.pathname}${url.search}`)
  const from = url.searchParams.get('from')
  const named = track ?? from ?? ''
  const refused = service.refusals[named]
  // A list of views may start at a track that is not ready, but not at a deleted one.
  const isSkipped = !track && typeof refused === 'object' && refused.status === 409
  const refusal = (isSkipped ? undefined : refused) ?? service.refusals[session_id] ?? service.refusals.all
  if (isEnding(session_id) && service.endsAt! <= Date.now())
    return Response.json({ ok: false, message: 'Over', code: 'session_expired' }, { status: 410 })
  if (refusal === 'away') throw new TypeError('Failed to fetch')
  if (refusal) return Response.json({ ok: false, message: 'No', code: refusal.code }, { status: refusal.status })
  if (named && isRemoved(session_id, named))
    return Response.json({ ok: false, message: 'No', code: 'not_found' }, { status: 404 })
  const count = Number(url.searchParams.get('views'))
  if (noun === 'play_session')
    return Response.json(session('renewed', (JSON.parse(body as string) as { views?: number }).views))
  return Response.json(track ? view(session_id, track) : session(session_id, count, from))
}

const OPTIONS: PlaybackOptions = {
  variants: [],
  loop: 'none',
  shuffle: false,
  normalize: false,
  volume: 1,
  muted: false,
  rate: 1,
}

export function create(
  wanted: {
    apiKey?: string
    session?: Session
    options?: Partial<PlaybackOptions>
    start?: Partial<StartOptions>
  } = {},
) {
  const source = {
    baseUrl: 'https://service',
    playSessionId: 'first',
    apiKey: wanted.apiKey ?? null,
    scope: wanted.apiKey ? 'collection' : null,
    resourceId: wanted.apiKey ? 'c' : null,
    variants: [],
    isDownloadable: false,
    normalize: false,
    expiresIn: null,
    ...(wanted.session && { session: wanted.session }),
  }
  sourceOptions = { ...OPTIONS, ...wanted.options }
  playback = new Playback(
    source,
    sourceOptions,
    [{ track: null, position: 0, play: false, ...wanted.start }],
    {
      onChange: () => {},
      onTime: () => {},
      onEvent: (name, detail) => {
        events.push({ name, detail: detail as unknown as Record<string, unknown> })
        hooks.onEvent(name)
      },
      onSwap: () => {},
      resumeAt: ({ id }) => hooks.resumeAt(id),
      isReporting: () => hooks.isReporting(),
    },
    () => new FakeAudio() as unknown as HTMLAudioElement,
  )
  return playback
}
export const audio = () => playback.audio as unknown as FakeAudio
/** Completes pending work without advancing time. */
export const settle = () => vi.advanceTimersByTimeAsync(0)
export const names = () => events.map(({ name }) => name).filter((name) => name !== 'timeupdate')
export async function open(wanted: Parameters<typeof create>[0] = {}) {
  create(wanted)
  await playback.open()
  await settle()
}
/** Opens a session that is playing and has reached the first second. */
export async function openPlaying(wanted: Parameters<typeof create>[0] = {}) {
  await open(wanted)
  await playback.play()
  audio().advance(1)
  await settle()
  events.length = 0
  requests.length = 0
}
/** The number of requests for the play view of a track. */
export const views = (id: string) => requests.filter((request) => /\w+$/.exec(request)?.[0] === id).length

beforeEach(() => {
  vi.useFakeTimers()
  Object.assign(service, {
    ttl: 3600,
    signed: 0,
    tracks: TRACKS,
    views: 5,
    refusals: {},
    preliminary: false,
    endsAt: null,
    analysis: null,
    removed: [],
  })
  Object.assign(FakeAudio, { refused: [], held: false, gestureOnly: false, started: null, seconds: 100 })
  Object.assign(storage, { answer: 206, retryAfter: '', requests: 0, onAsk: () => undefined })
  Object.assign(hooks, { onEvent: () => undefined, resumeAt: () => 0, isReporting: () => true })
  events = []
  requests = []
  vi.stubGlobal('fetch', (url: string, init: RequestInit = {}) =>
    init.signal?.aborted ? Promise.reject(new DOMException('', 'AbortError')) : answer(new URL(url), init),
  )
})
afterEach(() => {
  playback.close()
  expect(vi.getTimerCount(), 'timers that are left').toBe(0)
  vi.unstubAllGlobals()
  vi.useRealTimers()
})
