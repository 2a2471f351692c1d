import type { Failure } from '../../client/index.ts'
import type { Announcer } from './announce.ts'
import { createAttempts } from './attempts.ts'
import type { Deck } from './deck.ts'
import type { Gain } from './gain.ts'
import type { Queue } from './queue.ts'
import type { Service, Timed, View } from './service.ts'
import { type Beginning, pollDelay, type State, statusAfter, type Told } from './state.ts'
import type { Timers } from './timers.ts'
import type { Current, Turns } from './turn.ts'
import type { Loaded, Upkeep } from './upkeep.ts'
import type { Entry } from './variants.ts'

interface Parts {
  state: State
  /** Where to begin: the first whose track is in the session counts, else the last. */
  beginnings: readonly Beginning[]
  service: Service
  deck: Deck
  gain: Gain
  queue: Queue
  upkeep: Upkeep
  timers: Timers
  turns: Turns
  /** The files of a track that this browser can play, best first. */
  filesOf: (view: View) => Entry[]
  announcer: Announcer
  told: Told
}

/** Gets what is to be heard into the deck: opens the session, changes tracks, and recovers from what goes wrong. */
export function createLoading(parts: Parts) {
  const { state, service, deck, gain, queue, upkeep, timers, turns, told } = parts
  const { set, setPlaying, tell } = parts.announcer
  const attempts = createAttempts()
  let loaded: Loaded | null = null
  let polls = 0
  let isReady = false

  /** Something else is to be heard: what was asked for before, or is to be asked again, is not wanted any more. */
  function newTurn(): Current {
    timers.stop('poll')
    return turns.next()
  }

  async function open(): Promise<void> {
    const current = newTurn()
    if (state.status !== 'offline') set({ status: 'loading', code: null })
    const answer = await service.open()
    if (!current()) return
    if (!answer.ok) return trouble(answer, () => void open())
    if (answer.tracks.length === 0) return set({ status: 'empty' })
    const beginning = (parts.beginnings.find(({ track }) => queue.has(track)) ?? parts.beginnings.at(-1))!
    queue.goTo(beginning.track, answer.first_track?.track_id)
    await select(state.place, beginning.position, beginning.play)
  }

  /** Changes to a track. When it is the player's own idea, what cannot be played is passed over. */
  async function select(place: number, position = 0, play = state.playing, passOver = 0): Promise<void> {
    const id = queue.track(place)?.id
    if (id === undefined) return
    const current = leave()
    const changed = state.place !== place || !isReady
    const starts = play && !state.playing
    polls = 0
    loaded = null
    deck.clear(position)
    set({ place, status: 'loading', code: null, ...(changed && { view: null }) })
    if (changed) tell('trackchange')
    if (!current()) return
    if (starts) setPlaying(true)
    const answer = await service.view(id)
    if (!current()) return
    if (answer.ok) return await begin(answer, current)
    const next = queue.following()
    const passable = answer.code === 'track_not_ready' || answer.code === 'not_found'
    if (passable && passOver > 0 && next !== undefined) return await select(next, 0, state.playing, passOver - 1)
    trouble(answer, () => void reload())
  }

  /** Goes on with the track that follows: in the other element, if that has loaded it ahead. */
  async function goOn(place: number): Promise<void> {
    const ready = upkeep.prepared(place)
    if (!ready || !deck.takePreloaded(ready.url)) return await select(place, 0, true, queue.length())
    const current = leave()
    gain.take(ready.gain)
    const started = deck.play()
    set({ place, view: ready.view, status: 'ready' })
    onLoaded(ready)
    tell('trackchange')
    if ((await started) !== 'blocked' || !current()) return
    // Only the element that a gesture has started may play (iOS).
    deck.giveBack()
    await select(place)
  }

  /** Leaves a track for another one. */
  function leave(): Current {
    timers.clear()
    attempts.reset()
    return newTurn()
  }

  /** Shows a play view and loads its best file, where the listener is by now; plays it when that is wanted. */
  async function begin({ view, until }: Timed, current: Current): Promise<void> {
    set({ view })
    const known = await gain.soon(view)
    if (!current()) return
    gain.take(known)
    const entry = parts.filesOf(view)[attempts.skipped()]
    if (!entry) return fail('no_playable_variant', 'This browser can play none of the variants')
    deck.load(entry.url, deck.time(), state.playing)
    onLoaded({ track_id: view.track_id, index: entry.variant.index, url: entry.url, until })
    polls = 0
    set({ status: 'ready', code: null })
    if (!isReady) {
      isReady = true
      tell('ready', { tracks: state.session?.tracks ?? [] })
    }
    if (state.playing && current()) await start()
  }

  function onLoaded(now: Loaded): void {
    loaded = now
    upkeep.plan()
  }

  async function start(): Promise<void> {
    // Without a gesture of the listener browsers may refuse; the play button is there for that.
    if ((await deck.play()) === 'blocked') setPlaying(false)
  }

  /** Loads the track again where it is, with URLs that are good now. */
  async function reload(): Promise<void> {
    const id = queue.track()?.id
    if (id === undefined) return await open()
    const current = newTurn()
    // After trouble only a fresh answer shows that it is over.
    const answer = await (state.status === 'ready' ? service.view(id) : service.refresh(id))
    if (!current()) return
    if (!answer.ok) return trouble(answer, () => void reload())
    await begin(answer, current)
  }

  /** The file failed: its URL may have ended, so there is a fresh one first, then the next variant. */
  async function recover(): Promise<void> {
    const id = queue.track()?.id
    if (id === undefined || loaded === null) return
    const current = newTurn()
    const answer = await service.refresh(id)
    if (!current()) return
    if (!answer.ok) return trouble(answer, () => void reload())
    // Counted only now: without a connection there is nothing wrong with any file.
    attempts.fail(deck.time())
    await begin(answer, current)
  }

  /** The service said no, or nothing. Asks again where that may help. */
  function trouble(failure: Failure, again: () => void): void {
    const status = statusAfter(failure)
    if (status === null) return
    if (status === 'failed') return fail(failure.code, failure.message)
    set({ status, code: failure.code })
    if (status === 'expired') return upkeep.expire()
    timers.after('poll', pollDelay(polls++), again, status === 'offline')
  }

  function fail(code: string, message: string): void {
    // Whoever tries again begins with the best file.
    attempts.reset()
    set({ status: 'failed', code })
    setPlaying(false)
    told.onEvent('error', { code, message })
  }

  return {
    open,
    select,
    goOn,
    reload,
    recover,
    start,
    loaded: () => loaded,
    onLoaded,
    /** A better file came while nothing plays. */
    onBetter: (timed: Timed) => void begin(timed, newTurn()),
    progress: () => attempts.progress(deck.time()),
    end: () => (loaded = null),
  }
}
