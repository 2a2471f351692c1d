import { CODECS } from '../../contract/facts.ts'

/** Which of a track's files to play. */

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
