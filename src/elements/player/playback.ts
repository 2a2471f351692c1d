import { createAnnouncer } from './announce.ts'
import { createDeck } from './deck.ts'
import { createGain } from './gain.ts'
import { createLoading } from './loading.ts'
import { createQueue } from './queue.ts'
import { createService, type Source, type View } from './service.ts'
import { type Beginning, emptyState, sessionDetail, type Told, type Wishes } from './state.ts'
import { createTimers } from './timers.ts'
import { createTurns } from './turn.ts'
import { createUpkeep } from './upkeep.ts'
import { candidates } from './variants.ts'

export type Playback = ReturnType<typeof createPlayback>

/**
 * Plays a session. Everything that the listener and the page ask for comes in here. It begins with the first of the beginnings whose
 * track is in the session; play, pause and seek change them until there is one.
 */
export function createPlayback(source: Source, wishes: Wishes, beginnings: readonly Beginning[], told: Told) {
  const ended = new AbortController()
  const { signal } = ended
  const state = emptyState('loading')
  const announcer = createAnnouncer(state, told)
  const { set, setPlaying, tell } = announcer
  const timers = createTimers(signal)
  const turns = createTurns(signal)
  const queue = createQueue(state, wishes)
  const { track, following } = queue

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
      onError: () => void loading.recover(),
      onInterrupted: () => setPlaying(false),
      onSwap: told.onSwap,
    },
    signal,
  )
  const gain = createGain(deck, wishes, signal)
  const duration = () => deck.duration() || state.view?.track.duration || track()?.duration || 0
  const canPlay = (type: string) => deck.audio.canPlayType(type) !== ''
  const filesOf = (view: View) => candidates(view.variants, wishes.variants, canPlay)
  const upkeep = createUpkeep({
    service,
    deck,
    timers,
    state,
    loaded: () => loading.loaded(),
    following: () => (wishes.loop === 'one' ? undefined : following()),
    duration,
    best: (view) => filesOf(view)[0],
    gainOf: gain.of,
    onLoaded: (now) => loading.onLoaded(now),
    onBetter: (timed) => loading.onBetter(timed),
    async onFinal(view) {
      set({ view })
      await gain.follow(view, turns.now())
    },
    onExpired: () => told.onEvent('sessionexpired', { play_session_id: state.session?.play_session.id ?? null }),
  })
  const loading = createLoading({
    state,
    beginnings,
    service,
    deck,
    gain,
    queue,
    upkeep,
    timers,
    turns,
    filesOf,
    announcer,
    told,
  })

  function begins(change: Partial<Beginning>): void {
    for (const beginning of beginnings) Object.assign(beginning, change)
  }

  function isStale(): boolean {
    const now = loading.loaded()
    return now === null || now.until <= Date.now() + 1000
  }

  async function play(): Promise<void> {
    begins({ play: true })
    setPlaying(true)
    // Whoever heard of it may have paused again.
    if (!state.playing || state.status === 'processing' || state.status === 'loading') return
    if (deck.ended()) deck.seek(0)
    if (state.status !== 'ready' || (isStale() && !deck.has(deck.time(), duration()))) return await loading.reload()
    upkeep.plan()
    await loading.start()
  }

  function pause(): void {
    begins({ play: false })
    setPlaying(false)
    deck.pause()
  }

  async function seek(seconds: number): Promise<void> {
    // A little before the end, so that a seek to the right edge does not end the track.
    const last = state.session ? Math.max(0, duration() - 0.05) : Infinity
    const position = Math.min(Math.max(0, seconds), last)
    if (!state.session) {
      begins({ position })
      deck.clear(position)
    } else if (state.status === 'ready' && isStale() && !deck.has(position, position + 1)) {
      deck.clear(position)
      await loading.reload()
    } else deck.seek(position)
    told.onTime()
  }

  async function next(): Promise<void> {
    const place = following()
    if (place !== undefined) await loading.select(place)
  }

  async function previous(): Promise<void> {
    const place = following(-1)
    if (deck.time() > 3 || place === undefined) await seek(0)
    else await loading.select(place)
  }

  function onTime(): void {
    loading.progress()
    told.onEvent('timeupdate', { current_time: deck.time(), duration: duration() })
    told.onTime()
    upkeep.prepareNext(duration() - deck.time())
  }

  function onEnded(): void {
    const place = wishes.loop === 'one' ? state.place : following()
    const current = turns.now()
    tell('ended', { last: place === undefined })
    // Whoever heard of it may have paused, or gone somewhere else.
    if (!state.playing || !current()) return
    if (place === undefined) setPlaying(false)
    else if (place === state.place) void seek(0).then(play)
    else void loading.goOn(place)
  }

  /** Something in `wishes` has changed. */
  function wish(change: Partial<Wishes>): void {
    deck.setRate(wishes.rate)
    gain.apply()
    if ('shuffle' in change) queue.reorder()
    if (!('normalize' in change) || !state.view) return
    upkeep.prepareAgain()
    void gain.follow(state.view, turns.now())
  }

  /** Where another playback goes on with the same track. */
  function whereItIs(): Beginning {
    const { id } = track() ?? {}
    return id ? { track: id, position: deck.time(), play: state.playing } : beginnings[0]!
  }

  wish({})
  return {
    state,
    deck,
    open: loading.open,
    play,
    pause,
    seek,
    next,
    previous,
    select: (place: number) => loading.select(place, 0, true),
    retry: loading.reload,
    download: (variant: string) => service.download(track()?.id ?? '', variant || (loading.loaded()?.index ?? '')),
    hasNext: () => following() !== undefined,
    duration,
    wish,
    whereItIs,
    variant: () => loading.loaded()?.index ?? null,
    close() {
      ended.abort()
      timers.clear()
      loading.end()
      deck.clear(0)
    },
  }
}
