import type { namesOf, State } from '../../client/playback/state.ts'
import type { Player } from './commands.ts'

/**
 * The lock screen. The module is loaded when playback starts. It imports no code of the player, because that would split the player's bundle.
 */

/** The state that the lock screen shows. */
interface Shown {
  state: State
  names: ReturnType<typeof namesOf>
  isPlaying: boolean
  hasNext: boolean
}

/** Default seconds by which the keys of the lock screen go back or forward. */
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

/**
 * The player that the lock screen shows and controls. A page has only one lock screen. The last player to start keeps it until `leave` is
 * called.
 */
let owner: Player | null = null

/** Connects a player to the lock screen, media keys and headphones with the Media Session API. */
export class LockScreen {
  readonly #player: Player
  readonly #session = navigator.mediaSession as MediaSession | undefined
  /** The play view or track for which the current metadata was set. */
  #shown: unknown = null
  #hasNext: boolean | null = null

  constructor(player: Player) {
    this.#player = player
  }

  showPosition(): void {
    if (!this.#session || owner !== this.#player) return
    const { currentTime, duration, rate: playbackRate } = this.#player
    // `setPositionState` throws if the position is after the end. Without a duration, it clears the position of the previous track.
    this.#session.setPositionState?.(
      duration > 0 ? { position: Math.min(currentTime, duration), duration, playbackRate } : undefined,
    )
  }

  update({ state, names, isPlaying, hasNext }: Shown): void {
    const [session, player] = [this.#session, this.#player]
    // A player that is not playing does not take over the lock screen.
    if (!session || (!isPlaying && owner !== player)) return
    if (owner !== player) this.#shown = this.#hasNext = null
    owner = player
    session.playbackState = isPlaying ? 'playing' : 'paused'
    const shown = state.view ?? state.session?.tracks[state.index]
    if (this.#shown !== shown) {
      this.#shown = shown
      session.metadata = new MediaMetadata(metadataOf(state, names))
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

/** Returns the metadata of the current track for the lock screen. */
function metadataOf(state: State, { title, subtitle, album }: Shown['names']): MediaMetadataInit {
  const { cover_image, large_cover } = state.view ?? {}
  const covers = [...Object.values(cover_image ?? {}), ...(large_cover ? [large_cover] : [])]
  return {
    title,
    artist: subtitle,
    album,
    // Generated covers are PNG, uploaded ones JPEG.
    artwork: covers.map(({ url, width, height }) => ({
      src: url,
      sizes: `${width}x${height}`,
      type: `image/${url.includes('.png') ? 'png' : 'jpeg'}`,
    })),
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
      // The browser does not support the action.
    }
  }
}
