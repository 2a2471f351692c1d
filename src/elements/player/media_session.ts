import type { PlayView } from '../../client/playback/state.ts'
import type { Player } from './commands.ts'

/** Seconds. */
const SKIP = 10
const ACTIONS = [
  'play',
  'pause',
  'stop',
  'seekto',
  'seekbackward',
  'seekforward',
  'previoustrack',
  'nexttrack',
] as const
type Handlers = Partial<Record<(typeof ACTIONS)[number], MediaSessionActionHandler | null>>

/** The player that has the lock screen: a page has one, and whoever played last keeps it until it leaves. */
let owner: Player | null = null

/** The lock screen, media keys and headphones of a player (Media Session). */
export class LockScreen {
  readonly #player: Player
  readonly #session = navigator.mediaSession as MediaSession | undefined
  #shown: PlayView | null = null
  #hasNext: boolean | null = null

  constructor(player: Player) {
    this.#player = player
  }

  showPosition(): void {
    if (!this.#session || owner !== this.#player) return
    const { currentTime: position, duration, rate: playbackRate } = this.#player
    // What is out of range would be refused with an exception.
    if (duration > 0 && position <= duration) this.#session.setPositionState?.({ position, duration, playbackRate })
  }

  update(view: PlayView | null, hasNext: boolean): void {
    const [session, player] = [this.#session, this.#player]
    // A player that is not heard leaves the lock screen to others.
    if (!session || !view || (player.paused && owner !== player)) return
    if (owner !== player) this.#shown = this.#hasNext = null
    owner = player
    session.playbackState = player.paused ? 'paused' : 'playing'
    if (this.#shown !== view) {
      this.#shown = view
      session.metadata = new MediaMetadata(metadataOf(view))
    }
    if (this.#hasNext !== hasNext) {
      this.#hasNext = hasNext
      setHandlers(session, handlersOf(player, hasNext))
    }
    this.showPosition()
  }

  leave(): void {
    if (!this.#session || owner !== this.#player) return
    owner = this.#shown = this.#hasNext = null
    this.#session.metadata = null
    this.#session.playbackState = 'none'
    setHandlers(this.#session, {})
  }
}

/** What the lock screen shows of a track. */
function metadataOf({ track, cover_image, list }: PlayView): MediaMetadataInit {
  return {
    title: track.player_title ?? track.file_name,
    artist: track.player_subtitle ?? list?.subtitle ?? '',
    album: list?.title ?? track.tags?.album ?? '',
    artwork: Object.values(cover_image).map(({ url, width, height }) => ({ src: url, sizes: `${width}x${height}` })),
  }
}

function handlersOf(player: Player, hasNext: boolean): Handlers {
  const skip = (sign: number) => (details: MediaSessionActionDetails) =>
    void player.seek(player.currentTime + sign * (details.seekOffset ?? SKIP))
  return {
    play: () => void player.play(),
    pause: () => player.pause(),
    stop: () => player.pause(),
    seekto: ({ seekTime }) => seekTime !== undefined && void player.seek(seekTime),
    seekbackward: skip(-1),
    seekforward: skip(1),
    previoustrack: () => void player.previous(),
    nexttrack: hasNext ? () => void player.next() : null,
  }
}

function setHandlers(session: MediaSession, handlers: Handlers): void {
  for (const name of ACTIONS) {
    try {
      session.setActionHandler(name, handlers[name] ?? null)
    } catch {
      // This browser does not know the action.
    }
  }
}
