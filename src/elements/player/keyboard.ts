import { keyTarget } from '../waveform/keys.ts'
import type { Actions, Player } from './actions.ts'

const VERTICAL = ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown']

/**
 * Keys that work wherever the focus is in the player: space, left and right, Home and End, M. A control that has a use for a key of its
 * own keeps it: a button its space, a slider its arrows. They need the focus (WCAG 2.2, 2.1.4), so several players do not mind.
 */
export function listenToKeys(root: HTMLElement, player: Player, { toggle, seek, mute }: Actions): void {
  root.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.composedPath()[0] as HTMLElement
    const own = target.matches('input, select, textarea')
    const place =
      own || VERTICAL.includes(event.key) ? undefined : keyTarget(event.key, player.currentTime, player.duration)
    if (event.key === ' ' && !own && !target.matches('button, a')) toggle()
    else if (event.key.toLowerCase() === 'm' && !target.matches('select')) mute()
    else if (place !== undefined) seek(place)
    else return
    event.preventDefault()
  })
}
