import type { Deck } from './deck.ts'
import { refreshMargin } from './lifetime.ts'
import type { Service, Timed, View } from './service.ts'
import type { State } from './state.ts'
import type { Timers } from './timers.ts'
import { type Entry, EARLY } from './variants.ts'

/** The file that the deck has, and when its URL ends, by this machine's clock. */
export interface Loaded {
  track_id: string
  index: string
  url: string
  until: number
}
/** The next track, loaded ahead. */
interface Prepared extends Loaded {
  place: number
  view: View
  gain: number
}

interface Parts {
  service: Service
  deck: Deck
  timers: Timers
  state: State
  loaded: () => Loaded | null
  following: () => number | undefined
  duration: () => number
  best: (view: View) => Entry | undefined
  gainOf: (view: View) => Promise<number>
  onLoaded: (now: Loaded) => void
  /** A better file came while nothing plays. */
  onBetter: (timed: Timed) => void
  /** Levels and loudness have come, whichever file plays. */
  onFinal: (view: View) => Promise<void>
  onExpired: () => void
}

/** Seconds before the end of a track at which the next one is loaded. */
const AHEAD = 20
const FIRST_LOOK = 10_000
const LAST_LOOK = 30_000
const RETRY = 5000

export type Upkeep = ReturnType<typeof createUpkeep>

/**
 * What happens by itself while a track plays: URLs are replaced before they end, a preliminary file by the final one, and the next track
 * is loaded ahead. A player that is paused asks for nothing, unless its track is preliminary; it looks when it is to play again.
 */
export function createUpkeep(parts: Parts) {
  const { service, deck, timers, state, loaded, onLoaded } = parts
  let prepared: Prepared | null = null
  /** What was loaded, and which place was to follow, when the next track was last asked for. */
  let preparing: [Loaded | null, number] | null = null
  let look = FIRST_LOOK
  let told = false

  /** Plans the next refresh, from when the present URL ends. */
  function plan(): void {
    const now = loaded()
    if (!now) return
    const left = now.until - Date.now()
    timers.after('refresh', Math.max(1000, left - refreshMargin(left)), () => void refresh(now))
    // Alone, the element changes to a final file when it next loads one.
    if (state.view?.track.is_preliminary || (now.index === EARLY && !deck.alone()))
      timers.after('better', look, () => void lookForBetter(now))
    else look = FIRST_LOOK
  }

  const isCurrent = (now: Loaded) => loaded() === now

  async function refresh(now: Loaded): Promise<void> {
    if (!isCurrent(now) || !state.playing) return
    const answer = await service.refresh(now.track_id)
    if (!isCurrent(now)) return
    const again = (milliseconds: number) => timers.after('refresh', milliseconds, () => void refresh(now))
    if (!answer.ok) return answer.code === 'session_expired' ? expire() : again(RETRY)
    // The session ends with these URLs, and cannot be renewed from here.
    if (answer.until - now.until < RETRY) return again(answer.until - Date.now() + 1000)
    // What is here already needs no URL; a seek to somewhere else takes the new one, and so does an element that must load it itself.
    if (deck.alone() || deck.has(deck.time(), parts.duration())) return
    const url = answer.view.variants.find(({ variant }) => variant.index === now.index)?.url
    if (url && (await deck.handOver(url))) onLoaded({ ...now, url, until: answer.until })
    else if (isCurrent(now) && now.until > Date.now()) again(RETRY)
  }

  async function lookForBetter(now: Loaded): Promise<void> {
    const answer = await service.refresh(now.track_id)
    if (!isCurrent(now)) return
    if (!answer.ok && answer.code === 'session_expired') return expire()
    look = Math.min(LAST_LOOK, look * 1.5)
    if (!answer.ok || answer.view.track.is_preliminary) return plan()
    const best = parts.best(answer.view)
    const isSame = best?.variant.index === now.index
    // Heard by nobody, another file can just be loaded. It also says so when there is none.
    if (!best || (!state.playing && !isSame)) return parts.onBetter(answer)
    await parts.onFinal(answer.view)
    if (!isCurrent(now)) return
    if (isSame) return plan()
    const ready = { ...now, index: best.variant.index, url: best.url, until: answer.until }
    if (await deck.handOver(best.url)) onLoaded(ready)
    else if (isCurrent(now)) plan()
  }

  /** Loads the next track when the end is near, so that albums do not gap. */
  function prepareNext(left: number): void {
    const place = parts.following()
    if (!state.playing || left > AHEAD || place === undefined || place === state.place) return
    const now = loaded()
    if (preparing?.[0] === now && preparing[1] === place) return
    preparing = [now, place]
    prepared = null
    void prepare(place)
  }

  async function prepare(place: number): Promise<void> {
    const before = loaded()
    const id = state.session?.tracks[place]?.id
    const answer = id === undefined ? undefined : await service.view(id)
    if (!answer?.ok) return
    const entry = parts.best(answer.view)
    const gain = await parts.gainOf(answer.view)
    if (!entry || !before || !isCurrent(before)) return
    const { view, until } = answer
    prepared = { track_id: view.track_id, index: entry.variant.index, url: entry.url, until, place, view, gain }
    deck.preload(entry.url, entry.url)
  }

  /** Tells once that the session has ended; what is loaded plays on. */
  function expire(): void {
    if (!told) parts.onExpired()
    told = true
  }

  return {
    plan,
    prepareNext,
    /** The next track, if it is the one that was loaded ahead. */
    prepared: (place: number) => (prepared?.place === place ? prepared : null),
    /** Prepares the next track anew, with the wishes of now. */
    prepareAgain: () => (preparing = prepared = null),
    expire,
    renewed: () => (told = false),
  }
}
