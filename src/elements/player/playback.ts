import type { Failure } from '../../client/index.ts'
import { createAttempts } from './attempts.ts'
import { createDeck } from './deck.ts'
import { effectiveVolume, readGain } from './gain.ts'
import { createQueue } from './queue.ts'
import { createService, type Source, type Timed, type View } from './service.ts'
import { type Beginning, pollDelay, sessionDetail, type State, statusAfter, type Told, type Wishes } from './state.ts'
import { createTimers } from './timers.ts'
import { createUpkeep, type Loaded } from './upkeep.ts'
import { candidates } from './variants.ts'

/** Milliseconds for which a track waits for the loudness that it is to be played at. */
const GAIN_PATIENCE = 800

export type Playback = ReturnType<typeof createPlayback>

/** Plays a session: chooses, loads, recovers. Everything that the listener asks for comes in here. */
export function createPlayback(source: Source, wishes: Wishes, told: Told) {
  const ended = new AbortController()
  const { signal } = ended
  const state: State = { status: 'loading', code: null, session: null, place: 0, view: null, playing: false }
  const timers = createTimers(signal)
  const attempts = createAttempts()
  let loaded: Loaded | null = null
  let gain = 1
  /** Counts the changes of what is to be heard, so that a late answer to an earlier wish is dropped. */
  let turns = 0
  let polls = 0
  let isReady = false

  const service = createService(
    source,
    {
      onSession(session, renewed) {
        queue.adopt(session)
        upkeep.renewed()
        told.onChange()
        if (renewed) told.onEvent('sessionrefresh', sessionDetail(session, true))
      },
      onRefresh: (view) => told.onEvent('sessionrefresh', sessionDetail(view, false)),
    },
    signal,
  )
  const deck = createDeck(
    {
      onTime,
      onState: told.onChange,
      onEnded,
      onError: () => void recover(),
      onInterrupted: () => setPlaying(false),
      onSwap: told.onSwap,
    },
    signal,
  )
  const upkeep = createUpkeep({
    service,
    deck,
    timers,
    state,
    loaded: () => loaded,
    following: () => (wishes.loop === 'one' ? undefined : following()),
    duration: () => duration(),
    best: (view) => candidates(view.variants, wishes.variants, canPlay)[0],
    gainFor: (view) => gainFor(view),
    onLoaded: (now) => onLoaded(now),
    onBetter: (timed) => void begin(timed, ++turns),
    async onFinal(view) {
      set({ view })
      const turn = turns
      const known = await gainFor(view)
      if (turn !== turns) return
      gain = known
      applyVolume()
    },
    onExpired: () => told.onEvent('sessionexpired', { play_session_id: state.session?.play_session.id ?? null }),
  })

  const queue = createQueue(state, wishes)
  const { track, following } = queue
  const duration = () => deck.duration() || state.view?.track.duration || track()?.duration || 0

  function set(change: Partial<State>): void {
    Object.assign(state, change)
    told.onChange()
  }

  function setPlaying(playing: boolean): void {
    if (state.playing === playing) return
    set({ playing })
    told.onEvent(playing ? 'play' : 'pause', trackDetail())
  }

  const trackDetail = () => ({ track: track() ?? null, index: state.place })

  async function open(beginning: Beginning): Promise<void> {
    set({ status: 'loading', code: null })
    const answer = await service.open()
    if (!answer.ok) return trouble(answer, () => void open(beginning))
    if (answer.tracks.length === 0) return set({ status: 'empty' })
    queue.goTo(beginning.track, answer.first_track?.track_id)
    // Play may have been pressed meanwhile.
    await select(state.place, beginning.position, beginning.play || state.playing)
  }

  /** Changes to a track. When it is the player's own idea, what cannot be played is passed over. */
  async function select(place: number, position = 0, play = state.playing, passOver = 0): Promise<void> {
    const turn = ++turns
    const id = track(place)?.id
    if (id === undefined) return
    const changed = state.place !== place || !isReady
    timers.clear()
    loaded = null
    polls = 0
    attempts.reset()
    deck.clear(position)
    set({ place, status: 'loading', code: null, ...(changed && { view: null }) })
    if (changed) told.onEvent('trackchange', trackDetail())
    setPlaying(play)
    const answer = await service.view(id)
    if (turn !== turns) return
    if (!answer.ok) {
      const next = following()
      const passable = answer.code === 'track_not_ready' || answer.code === 'not_found'
      if (passable && passOver > 0 && next !== undefined) return select(next, 0, state.playing, passOver - 1)
      return trouble(answer, () => void reload())
    }
    await begin(answer, turn)
  }

  /** Shows a play view and loads its best file, where the listener is by now; plays it when that is wanted. */
  async function begin(timed: Timed, turn: number): Promise<void> {
    set({ view: timed.view })
    gain = await Promise.race([
      gainFor(timed.view),
      new Promise<number>((resolve) => setTimeout(resolve, GAIN_PATIENCE, 1)),
    ])
    if (turn !== turns) return
    applyVolume()
    const entry = candidates(timed.view.variants, wishes.variants, canPlay)[attempts.skipped()]
    if (!entry) return fail('no_playable_variant', 'This browser can play none of the variants')
    deck.load(entry.url, deck.time(), state.playing)
    onLoaded({ track_id: timed.view.track_id, index: entry.variant.index, url: entry.url, until: timed.until })
    set({ status: 'ready', code: null })
    if (!isReady) {
      isReady = true
      told.onEvent('ready', { ...trackDetail(), tracks: state.session?.tracks ?? [] })
    }
    if (state.playing) await start()
  }

  const gainFor = async (view: View) =>
    wishes.normalize ? await readGain(view.variants.find((v) => v.variant.index === 'analysis')?.url, signal) : 1
  const canPlay = (type: string) => deck.audio.canPlayType(type) !== ''
  const applyVolume = () => deck.setVolume(effectiveVolume(wishes.volume, gain), wishes.muted)

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
    const turn = ++turns
    const id = track()?.id
    if (id === undefined) return await open({ track: null, position: deck.time(), play: state.playing })
    const answer = await service.view(id)
    if (turn !== turns) return
    if (!answer.ok) return trouble(answer, () => void reload())
    await begin(answer, turn)
  }

  const isStale = () => loaded === null || loaded.until <= Date.now() + 1000

  async function play(): Promise<void> {
    setPlaying(true)
    if (state.status === 'processing' || state.status === 'loading') return
    if (deck.ended()) deck.seek(0)
    if (state.status !== 'ready' || (isStale() && !deck.has(deck.time(), duration()))) return await reload()
    upkeep.plan()
    await start()
  }

  function pause(): void {
    setPlaying(false)
    deck.pause()
  }

  async function seek(seconds: number): Promise<void> {
    // A little before the end, so that a seek to the right edge does not end the track.
    const position = Math.min(Math.max(0, seconds), Math.max(0, duration() - 0.05))
    if (state.status === 'ready' && isStale() && !deck.has(position, position + 1)) {
      deck.clear(position)
      await reload()
    } else deck.seek(position)
    told.onTime()
  }

  async function next(): Promise<void> {
    const place = following()
    if (place !== undefined) await select(place)
  }

  async function previous(): Promise<void> {
    const place = following(-1)
    if (deck.time() > 3 || place === undefined) await seek(0)
    else await select(place)
  }

  function onTime(): void {
    attempts.progress(deck.time())
    told.onEvent('timeupdate', { current_time: deck.time(), duration: duration() })
    told.onTime()
    upkeep.prepareNext(duration() - deck.time())
  }

  function onEnded(): void {
    const place = wishes.loop === 'one' ? state.place : following()
    told.onEvent('ended', { ...trackDetail(), last: place === undefined })
    if (place === undefined) return setPlaying(false)
    if (place === state.place) return void seek(0).then(play)
    const ready = upkeep.prepared(place)
    if (!ready || !deck.takePreloaded(ready.url)) return void select(place, 0, true, queue.length())
    turns++
    timers.clear()
    attempts.reset()
    gain = ready.gain
    applyVolume()
    void start()
    set({ place, view: ready.view, status: 'ready' })
    onLoaded(ready)
    told.onEvent('trackchange', trackDetail())
  }

  /** The file failed: its URL may have ended, so there is a fresh one first, then the next variant. */
  async function recover(): Promise<void> {
    const turn = ++turns
    const id = track()?.id
    if (id === undefined || loaded === null) return
    attempts.fail(deck.time())
    const answer = await service.refresh(id)
    if (turn !== turns) return
    if (!answer.ok) return trouble(answer, () => void reload())
    await begin(answer, turn)
  }

  /** The service said no, or nothing. Asks again where that may help. */
  function trouble(failure: Failure, again: () => void): void {
    const status = statusAfter(failure)
    if (status === null) return
    if (status === 'failed') return fail(failure.code, failure.message)
    set({ status, code: failure.code })
    if (status === 'expired') return upkeep.expire()
    timers.after('poll', pollDelay(polls++), again)
    if (status === 'offline') timers.online(again)
  }

  function fail(code: string, message: string): void {
    set({ status: 'failed', code })
    setPlaying(false)
    told.onEvent('error', { code, message })
  }

  return {
    state,
    deck,
    open,
    play,
    pause,
    seek,
    next,
    previous,
    select: (place: number) => select(place, 0, true),
    retry: () => reload(),
    download: (variant: string) => service.download(track()?.id ?? '', variant || (loaded?.index ?? '')),
    hasNext: () => following() !== undefined,
    duration,
    reorder: queue.reorder,
    applyVolume,
    variant: () => loaded?.index ?? null,
    close() {
      ended.abort()
      timers.clear()
      deck.clear(0)
    },
  }
}
