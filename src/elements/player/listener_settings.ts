/**
 * Stores the volume, the speed, and the positions in long tracks, so that they can be restored after a reload. The data stays in the
 * listener's browser.
 */

export interface StoredSettings {
  volume?: number
  rate?: number
  /** The position in seconds and when it was stored, by track id. */
  positions?: Record<string, [position: number, at: number]>
}

const KEY = 'tonearm.player'
/** Minimum duration of a long track in seconds, such as a mix, an episode or a chapter. */
export const LONG_TRACK = 600
/** Seconds. A position that is closer than this to the start or the end of a track is not restored. */
const EDGE = 30
const MAX_POSITIONS = 50

export class ListenerSettings {
  readonly #isOn: () => boolean
  readonly #storage: () => Pick<Storage, 'getItem' | 'setItem'>

  constructor(isOn: () => boolean, storage: () => Pick<Storage, 'getItem' | 'setItem'> = () => localStorage) {
    this.#isOn = isOn
    this.#storage = storage
  }

  get stored(): StoredSettings {
    if (!this.#isOn()) return {}
    try {
      const kept: unknown = JSON.parse(this.#storage().getItem(KEY) ?? '{}')
      return typeof kept === 'object' && kept !== null ? kept : {}
    } catch {
      // A cross-origin frame may have no access to the storage.
      return {}
    }
  }

  store(change: StoredSettings): void {
    if (!this.#isOn()) return
    try {
      this.#storage().setItem(KEY, JSON.stringify({ ...this.stored, ...change }))
    } catch {
      // The frame may have no access to the storage, or the storage is full.
    }
  }

  /** Returns the stored position of a track in seconds; 0 if the track is short or was played to its end. */
  positionOf({ id, duration }: { id: string; duration: number }): number {
    const position = this.stored.positions?.[id]?.[0] ?? 0
    return duration >= LONG_TRACK && position > EDGE && position < duration - EDGE ? position : 0
  }

  storePosition(track: { id: string }, position: number, duration: number, now = Date.now()): void {
    if (duration < LONG_TRACK) return
    const { [track.id]: _, ...others } = this.stored.positions ?? {}
    const isWithin = position > EDGE && position < duration - EDGE
    const newest = Object.entries(others)
      .toSorted(([, a], [, b]) => b[1] - a[1])
      .slice(0, MAX_POSITIONS - 1)
    this.store({ positions: { ...Object.fromEntries(newest), ...(isWithin && { [track.id]: [position, now] }) } })
  }
}
