/** What a listener finds again after a reload: volume, speed, and the place in long tracks. It stays on their machine. */

export interface Kept {
  volume?: number
  rate?: number
  /** By the track's id: seconds, and when that was. */
  positions?: Record<string, [position: number, at: number]>
}

const KEY = 'tonearm.player'
/** Seconds from which on a track is long: a mix, an episode, a chapter. */
export const LONG = 600
/** So close to either end nobody wants to go on. */
const EDGE = 30
const MOST = 50

export class Memory {
  readonly #isOn: () => boolean
  readonly #storage: () => Pick<Storage, 'getItem' | 'setItem'>

  constructor(isOn: () => boolean, storage: () => Pick<Storage, 'getItem' | 'setItem'> = () => localStorage) {
    this.#isOn = isOn
    this.#storage = storage
  }

  get kept(): Kept {
    if (!this.#isOn()) return {}
    try {
      const kept: unknown = JSON.parse(this.#storage().getItem(KEY) ?? '{}')
      return typeof kept === 'object' && kept !== null ? kept : {}
    } catch {
      // Frames of other origins may have no storage.
      return {}
    }
  }

  keep(change: Kept): void {
    if (!this.#isOn()) return
    try {
      this.#storage().setItem(KEY, JSON.stringify({ ...this.kept, ...change }))
    } catch {
      // As above, or it is full.
    }
  }

  /** Seconds at which a track was left; 0 for one that is short or was heard to its end. */
  positionOf({ id, duration }: { id: string; duration: number }): number {
    const position = this.kept.positions?.[id]?.[0] ?? 0
    return duration >= LONG && position > EDGE && position < duration - EDGE ? position : 0
  }

  keepPosition(track: { id: string }, position: number, duration: number, now = Date.now()): void {
    if (duration < LONG) return
    const { [track.id]: _, ...others } = this.kept.positions ?? {}
    const isWithin = position > EDGE && position < duration - EDGE
    const newest = Object.entries(others)
      .toSorted(([, a], [, b]) => b[1] - a[1])
      .slice(0, MOST - 1)
    this.keep({ positions: { ...Object.fromEntries(newest), ...(isWithin && { [track.id]: [position, now] }) } })
  }
}
