import type { Clip } from '../../client/playback/state.ts'
import { keyTarget } from '../waveform/keys.ts'

/** The members of the element that the controls, the keys and the lock screen use. */
export interface Player {
  play: () => Promise<void>
  pause: () => void
  seek: (seconds: number) => Promise<void>
  next: () => Promise<void>
  previous: () => Promise<void>
  readonly duration: number
  readonly currentTime: number
  volume: number
  muted: boolean
  rate: number
  clip: Clip | null
  toggleAttribute: (name: string) => boolean
}

/** Commands that the element implements itself. */
interface ElementCommands {
  toggle: () => void
  select: (index: number) => void
  retry: () => void
  download: () => void
  /** Goes back or forward by as many seconds as the skip buttons. */
  skip: (step: 1 | -1) => void
  stepChapter: (step: 1 | -1) => void
  showKeys: () => void
  sleep: (minutes: number | 'track' | null) => void
  pickRemote: () => void
  /** Stores the volume or speed that the listener has chosen. */
  remember: (chosen: { volume?: number; rate?: number }) => void
}

/** The commands that the controls and the keys can execute. */
export interface Commands extends ElementCommands {
  previous: () => void
  next: () => void
  seek: (seconds: number) => void
  /** Plays on to the end of the track. */
  leaveClip: () => void
  mute: () => void
  setVolume: (volume: number) => void
  setRate: (rate: number) => void
  toggleShuffle: () => void
  toggleRepeat: () => void
}

/** Creates the commands from the public interface of the player and its private commands. */
export const commandsOf = (player: Player, elementCommands: ElementCommands): Commands => ({
  ...elementCommands,
  previous: () => void player.previous(),
  next: () => void player.next(),
  seek: (seconds) => void player.seek(seconds),
  leaveClip: () => void (player.clip = null),
  mute() {
    // If the volume is 0, the player would still be silent after unmuting.
    if (player.volume === 0) player.volume = 1
    else player.muted = !player.muted
  },
  setVolume(volume) {
    player.volume = volume
    player.muted = false
    elementCommands.remember({ volume: player.volume })
  },
  setRate(rate) {
    player.rate = rate
    elementCommands.remember({ rate })
  },
  toggleShuffle: () => void player.toggleAttribute('shuffle'),
  toggleRepeat: () => void player.toggleAttribute('loop'),
})

const VOLUME_STEP = 0.05

/** Returns the command for a key, or undefined. `isOwnKey` excludes keys to which the focused control itself responds. */
export function keyCommand(key: string, player: Player, commands: Commands): (() => void) | undefined {
  const louder = (step: number) => () => commands.setVolume(Math.round((player.volume + step) * 100) / 100)
  const keys: Record<string, () => void> = {
    ' ': commands.toggle,
    k: commands.toggle,
    j: () => commands.skip(-1),
    l: () => commands.skip(1),
    m: commands.mute,
    n: commands.next,
    p: commands.previous,
    '[': () => commands.stepChapter(-1),
    ']': () => commands.stepChapter(1),
    '?': commands.showKeys,
    arrowup: louder(VOLUME_STEP),
    arrowdown: louder(-VOLUME_STEP),
  }
  const command = keys[key.toLowerCase()]
  if (command) return command
  const target = key.startsWith('Page') ? undefined : keyTarget(key, player.currentTime, player.duration)
  return target === undefined ? undefined : () => commands.seek(target)
}

/** Whether the focused control itself responds to a key: a button to the space bar, a slider to the arrow keys, a field to letters. */
function isOwnKey(target: HTMLElement, key: string): boolean {
  if (target.matches('input[type=range]')) return key.startsWith('Arrow') || /^(Home|End| )$/.test(key)
  if (target.matches('input, textarea')) return true
  return key === ' ' && target.matches('button')
}

/**
 * Handles keys while the focus is anywhere in the player (docs/player.md#keyboard). The keys work only with the focus (WCAG 2.2, 2.1.4), so
 * several players on a page do not conflict.
 */
export function listenToKeys(root: HTMLElement, player: Player, commands: Commands): void {
  root.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (isOwnKey(event.composedPath()[0] as HTMLElement, event.key)) return
    const command = keyCommand(event.key, player, commands)
    if (!command) return
    command()
    event.preventDefault()
  })
}
