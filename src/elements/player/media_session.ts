import type { Player } from './actions.ts'
import type { View } from './service.ts'

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
export function createLockScreen(player: Player) {
  const session = navigator.mediaSession as MediaSession | undefined
  let shown: View | null = null
  let next: boolean | null = null

  function showPosition(): void {
    if (!session || owner !== player) return
    const { currentTime: position, duration, rate: playbackRate } = player
    // What is out of range would be refused with an exception.
    if (duration > 0 && position <= duration) session.setPositionState?.({ position, duration, playbackRate })
  }

  return {
    showPosition,
    update(view: View | null, hasNext: boolean) {
      // A player that is not heard leaves the lock screen to others.
      if (!session || !view || (player.paused && owner !== player)) return
      if (owner !== player) shown = next = null
      owner = player
      session.playbackState = player.paused ? 'paused' : 'playing'
      if (shown !== view) {
        shown = view
        session.metadata = metadataOf(view)
      }
      if (next !== hasNext) {
        next = hasNext
        setHandlers(session, handlersOf(player, hasNext))
      }
      showPosition()
    },
    leave() {
      if (!session || owner !== player) return
      owner = shown = next = null
      session.metadata = null
      session.playbackState = 'none'
      setHandlers(session, {})
    },
  }
}

function metadataOf({ track, cover_image }: View): MediaMetadata {
  return new MediaMetadata({
    title: track.player_title ?? track.file_name,
    artist: track.player_subtitle ?? '',
    artwork: Object.values(cover_image).map(({ url, width, height }) => ({ src: url, sizes: `${width}x${height}` })),
  })
}

function handlersOf(player: Player, hasNext: boolean): Handlers {
  const by = (sign: number) => (details: MediaSessionActionDetails) =>
    void player.seek(player.currentTime + sign * (details.seekOffset ?? SKIP))
  return {
    play: () => void player.play(),
    pause: () => player.pause(),
    stop: () => player.pause(),
    seekto: ({ seekTime }) => seekTime !== undefined && void player.seek(seekTime),
    seekbackward: by(-1),
    seekforward: by(1),
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
