/** Which of a track's files to play. */

export interface Entry {
  path: string
  url: string
  variant: { index: string }
}

// A file name's ending says what is inside; `canPlayType` wants the codec too.
const MEDIA_TYPES: Record<string, string> = {
  m4a: 'audio/mp4; codecs="mp4a.40.2"',
  mp4: 'audio/mp4; codecs="mp4a.40.2"',
  mp3: 'audio/mpeg',
  webm: 'audio/webm; codecs="opus"',
  opus: 'audio/ogg; codecs="opus"',
  ogg: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
}

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
    const type = MEDIA_TYPES[extensionOf(path)]
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
