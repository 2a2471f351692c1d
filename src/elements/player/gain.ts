import type { Analysis, Loudness } from '../../contract/info.ts'
import type { Deck } from './deck.ts'
import type { View } from './service.ts'
import type { Wishes } from './state.ts'
import type { Current } from './turn.ts'

/** Loudness normalization by the volume alone. */

/** LUFS, as ReplayGain 2.0: low enough that nearly everything published is made softer, which volume can do. */
const TARGET = -18
/** dBTP; EBU R 128 asks for no more. */
const PEAK_LIMIT = -1
/** Milliseconds for which a track waits for the loudness that it is to be played at. */
const PATIENCE = 800

/** The linear gain that brings a track to -18 LUFS without its true peak passing -1 dBTP; 1 where loudness is not known. */
export function gainOf({ integrated_lufs, true_peak_dbtp }: Partial<Loudness>): number {
  if (typeof integrated_lufs !== 'number') return 1
  // Without a known peak nothing is lifted.
  const room = typeof true_peak_dbtp === 'number' ? PEAK_LIMIT - true_peak_dbtp : 0
  return 10 ** (Math.min(TARGET - integrated_lufs, room) / 20)
}

/**
 * The volume of the element for what the listener has chosen. It cannot pass 1, so a soft track is lifted only as far as the listener's
 * own volume leaves room.
 */
export const effectiveVolume = (volume: number, gain: number) => Math.min(1, Math.max(0, volume * gain))

export type Gain = ReturnType<typeof createGain>

/** The gain of what plays, and the volume that it makes with the listener's wishes. */
export function createGain(deck: Deck, wishes: Wishes, signal: AbortSignal) {
  let gain = 1

  async function of(view: View): Promise<number> {
    const { normalize } = wishes
    const url = normalize && view.variants.find(({ variant }) => variant.index === 'analysis')?.url
    const known = url ? await readGain(url, signal) : 1
    // The answer to an earlier wish is none to the wish of now.
    return wishes.normalize === normalize ? known : await of(view)
  }
  const apply = () => deck.setVolume(effectiveVolume(wishes.volume, gain), wishes.muted)
  function take(value: number): void {
    gain = value
    apply()
  }

  return {
    of,
    /** The gain of a track that somebody waits for: 1 when it takes long to read. */
    soon: (view: View) => Promise.race([of(view), new Promise<number>((resolve) => setTimeout(resolve, PATIENCE, 1))]),
    /** Brings a track to its gain while it plays, unless another one plays by then. */
    async follow(view: View, current: Current) {
      const known = await of(view)
      if (current()) take(known)
    },
    take,
    apply,
  }
}

/** Reads the gain of a track; 1 when its analysis cannot be read. */
async function readGain(url: string, signal: AbortSignal): Promise<number> {
  try {
    const response = await fetch(url, { signal })
    return response.ok ? gainOf((await response.json()) as Partial<Analysis>) : 1
  } catch {
    return 1
  }
}
