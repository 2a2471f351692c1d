import type { PlayView } from './api.ts'

type Entry = PlayView['variants'][number]

// A file name's ending says what is inside; `canPlayType` wants the codec too.
const MEDIA_TYPES: Record<string, string> = {
  m4a: 'audio/mp4; codecs="mp4a.40.2"',
  mp3: 'audio/mpeg',
  webm: 'audio/webm; codecs="opus"',
  flac: 'audio/flac',
}

const mediaType = ({ path }: Entry) => MEDIA_TYPES[path.slice(path.lastIndexOf('.') + 1)]

/** The variants that this browser says it can play, in the service's order of preference. */
export function playable(audio: HTMLAudioElement, variants: readonly Entry[]): Entry[] {
  return variants.filter((entry) => {
    const type = mediaType(entry)
    return type !== undefined && audio.canPlayType(type) !== ''
  })
}

/**
 * Plays the first variant that works. When loading fails, a link may have expired, so fresh ones are asked for once per variant;
 * then the next variant is tried, and only then is it the listener's problem.
 */
export function playFirst(
  audio: HTMLAudioElement,
  view: PlayView,
  renew: () => Promise<PlayView | undefined>,
  onProblem: (message: string) => void,
): void {
  let entries = playable(audio, view.variants)
  let renewed = false
  const use = (entry: Entry | undefined, position = 0) => {
    if (!entry) return onProblem('This browser can play none of the variants.')
    audio.src = entry.url
    audio.dataset.variant = entry.variant.index
    if (position > 0) audio.currentTime = position
  }
  async function recover() {
    const { currentTime, paused } = audio
    if (!renewed) {
      renewed = true
      const fresh = await renew()
      if (fresh) entries = playable(audio, fresh.variants).slice(-entries.length)
    } else {
      renewed = false
      entries = entries.slice(1)
    }
    use(entries[0], currentTime)
    if (!paused && entries.length > 0) await audio.play().catch(() => {})
  }
  audio.addEventListener('error', () => void recover())
  // What plays has good links; when they expire, that is another beginning.
  audio.addEventListener('playing', () => {
    renewed = false
  })
  use(entries[0])
}
