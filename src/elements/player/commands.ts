import { keyTarget } from '../waveform/keys.ts'

/** What of the element the controls, the keys and the lock screen use. */
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
  toggleAttribute: (name: string) => boolean
}

interface Own {
  toggle: () => void
  select: (index: number) => void
  retry: () => void
  download: () => void
  /** Goes back or forward by what the skip buttons say. */
  skip: (step: 1 | -1) => void
  stepChapter: (step: 1 | -1) => void
  showKeys: () => void
  sleep: (minutes: number | 'track' | null) => void
  pickRemote: () => void
  /** The listener has chosen a volume or a speed. */
  remember: (chosen: { volume?: number; rate?: number }) => void
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
    own.remember({ volume: player.volume })
  },
  setRate(rate) {
    player.rate = rate
    own.remember({ rate })
  },
  toggleShuffle: () => void player.toggleAttribute('shuffle'),
  toggleRepeat: () => void player.toggleAttribute('loop'),
})

const VOLUME_STEP = 0.05

/** What each key does; those that a control has a use for of its own are left to it. */
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
  const known = keys[key.toLowerCase()]
  if (known) return known
  const to = key.startsWith('Page') ? undefined : keyTarget(key, player.currentTime, player.duration)
  return to === undefined ? undefined : () => commands.seek(to)
}

/** Whether a control, which has the focus, uses a key itself: a button its space, a slider its arrows, a list its letters. */
function isOwnKey(target: HTMLElement, key: string): boolean {
  if (target.matches('select')) return true
  if (target.matches('input[type=range], input[type=checkbox]'))
    return key.startsWith('Arrow') || /^(Home|End| )$/.test(key)
  if (target.matches('input, textarea')) return true
  return key === ' ' && target.matches('button, a, summary')
}

/**
 * Keys that work wherever the focus is in the player (docs/player.md#keyboard). They need the focus (WCAG 2.2, 2.1.4), so several
 * players do not mind.
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
