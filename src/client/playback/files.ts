import { CODECS } from '../../contract/facts.ts'
import type { Analysis, Loudness } from '../../contract/info.ts'
import type { PlaybackOptions, PlayView } from './state.ts'

/** Which of a track's files to play, and how loud. */

export interface Entry {
  path: string
  url: string
  variant: { index: string }
}

const PLAY_TYPES = new Map<string, string>(
  Object.values(CODECS).map(({ extension, play_type }) => [extension, play_type]),
)

/** The file that plays while a long track is still being processed: as good as any, and gone soon. */
export const EARLY = 'early'
export const ANALYSIS = 'analysis'

const extensionOf = (path: string) => /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''

/**
 * The files to try, best first: those that `wanted` names in its order, then the others in the service's order, `early` last. Left out
 * is what holds no audio, and what the browser says it cannot play. The uploaded file has no ending that tells its type: it counts
 * only where it is wanted by name.
 */
export function candidates<T extends Entry>(
  entries: readonly T[],
  wanted: readonly string[],
  canPlay: (type: string) => boolean,
): T[] {
  const usable = entries.filter(({ path, variant: { index } }) => {
    const type = PLAY_TYPES.get(extensionOf(path))
    return type ? canPlay(type) : index === EARLY || (index === 'original' && wanted.includes(index))
  })
  const rank = ({ variant: { index } }: T) => {
    if (index === EARLY) return Infinity
    const at = wanted.indexOf(index)
    return at < 0 ? wanted.length : at
  }
  // The sort is stable, so equal ranks keep the service's order.
  return usable.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)))
}

/** LUFS, as ReplayGain 2.0: low enough that nearly everything published is made softer, which volume can do. */
const TARGET = -18
/** dBTP; EBU R 128 asks for no more. */
const PEAK_LIMIT = -1

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

/** The gain that a track is to be played with, by its analysis. */
export async function readGain(view: PlayView, options: PlaybackOptions, signal: AbortSignal): Promise<number> {
  const { normalize } = options
  const url = normalize && view.variants.find(({ variant }) => variant.index === ANALYSIS)?.url
  const gain = url ? await read(url, signal) : 1
  // What was asked may have changed meanwhile.
  return options.normalize === normalize ? gain : await readGain(view, options, signal)
}

/** 1 when an analysis cannot be read. */
async function read(url: string, signal: AbortSignal): Promise<number> {
  try {
    const response = await fetch(url, { signal })
    return response.ok ? gainOf((await response.json()) as Partial<Analysis>) : 1
  } catch {
    return 1
  }
}
