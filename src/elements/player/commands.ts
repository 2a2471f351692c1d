import { keyTarget } from '../waveform/keys.ts'

/** What of the element the controls, the keys and the lock screen use. */
export interface Player {
  play: () => Promise<void>
  pause: () => void
  seek: (seconds: number) => Promise<void>
  next: () => Promise<void>
  previous: () => Promise<void>
  readonly paused: boolean
  readonly duration: number
  readonly currentTime: number
  volume: number
  muted: boolean
  rate: number
  toggleAttribute: (name: string) => boolean
}

interface Own {
  toggle: () => void
  select: (index: number) => void
  retry: () => void
  download: () => void
}

/** What the controls and the keys do. */
export interface Commands extends Own {
  previous: () => void
  next: () => void
  seek: (seconds: number) => void
  mute: () => void
  setVolume: (volume: number) => void
  setRate: (rate: number) => void
  toggleShuffle: () => void
  toggleRepeat: () => void
}

/** The commands, by the player's public interface and what only itself can do. */
export const commandsOf = (player: Player, own: Own): Commands => ({
  ...own,
  previous: () => void player.previous(),
  next: () => void player.next(),
  seek: (seconds) => void player.seek(seconds),
  mute() {
    // What is at zero is not heard either way.
    if (player.volume === 0) player.volume = 1
    else player.muted = !player.muted
  },
  setVolume(volume) {
    player.volume = volume
    player.muted = false
  },
  setRate: (rate) => (player.rate = rate),
  toggleShuffle: () => void player.toggleAttribute('shuffle'),
  toggleRepeat: () => void player.toggleAttribute('loop'),
})

const VERTICAL = ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown']

/**
 * Keys that work wherever the focus is in the player: space, left and right, Home and End, M. A control that has a use for a key of its
 * own keeps it: a button its space, a slider its arrows. They need the focus (WCAG 2.2, 2.1.4), so several players do not mind.
 */
export function listenToKeys(root: HTMLElement, player: Player, { toggle, seek, mute }: Commands): void {
  root.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.composedPath()[0] as HTMLElement
    const isField = target.matches('input, select, textarea')
    const to =
      isField || VERTICAL.includes(event.key) ? undefined : keyTarget(event.key, player.currentTime, player.duration)
    if (event.key === ' ' && !isField && !target.matches('button, a')) toggle()
    else if (event.key.toLowerCase() === 'm' && !target.matches('select')) mute()
    else if (to !== undefined) seek(to)
    else return
    event.preventDefault()
  })
}
