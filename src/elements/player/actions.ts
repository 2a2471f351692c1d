/** What of the element the parts of the player use. */
export interface Player {
  play: () => Promise<void>
  pause: () => void
  seek: (seconds: number) => Promise<void>
  next: () => Promise<void>
  previous: () => Promise<void>
  readonly paused: boolean
  readonly duration: number
  currentTime: number
  volume: number
  muted: boolean
  rate: number
  toggleAttribute: (name: string) => boolean
}

interface Own {
  select: (place: number) => void
  retry: () => void
  download: () => void
}

/** What the controls do. */
export interface Actions extends Own {
  toggle: () => void
  previous: () => void
  next: () => void
  seek: (seconds: number) => void
  mute: () => void
  setVolume: (volume: number) => void
  setRate: (rate: number) => void
  toggleShuffle: () => void
  toggleRepeat: () => void
}

/** The controls' actions, by the player's public interface and what only itself can do. */
export function actionsOf(player: Player, own: Own): Actions {
  return {
    ...own,
    toggle: () => (player.paused ? void player.play() : player.pause()),
    previous: () => void player.previous(),
    next: () => void player.next(),
    seek: (seconds) => void player.seek(seconds),
    mute: () => {
      // What is at zero is not heard either way.
      if (player.volume === 0) player.volume = 1
      else player.muted = !player.muted
    },
    setVolume: (volume) => {
      player.volume = volume
      player.muted = false
    },
    setRate: (rate) => (player.rate = rate),
    toggleShuffle: () => void player.toggleAttribute('shuffle'),
    toggleRepeat: () => void player.toggleAttribute('loop'),
  }
}
