import { PLAY_TYPES } from '../../contract/facts.ts'
import type { Loudness } from '../../contract/info.ts'
import { backoff, type Failure, isTransient } from '../retry.ts'
import {
  type Attempts,
  nextIndex,
  type LoadedFile,
  type PlaybackOptions,
  type State,
  type Status,
  type TimedView,
} from './state.ts'

/**
 * Decides what happens after a refusal, a media error, the end of a track and a refresh, which file plays, and how loud. Pure functions;
 * `loader.ts` and `refresh.ts` act on them.
 */

type Answer = (TimedView & { ok: true }) | Failure

const POLLS = { first: 2000, factor: 1.5, longest: 30_000 }

/** The state after a refusal, and the delay before the next request in milliseconds if there is one. */
export interface AfterFailure {
  status: 'expired' | 'failed' | 'processing' | 'offline'
  delay?: number
}

/** `wait`: minimum delay before the next request in milliseconds, from `Retry-After`. */
export type Refusal = Failure & { wait?: number }

/** Longest `Retry-After` that is obeyed in full, in milliseconds, because a listener is waiting. */
const LONGEST_WAIT = 60_000

/**
 * Decides after a refusal, or a missing response, of the service or the storage; `polls` is the number of earlier ones in a row. Transient
 * failures are retried with growing delays.
 */
export function afterFailure(failure: Refusal, polls: number): AfterFailure {
  if (failure.code === 'session_expired') return { status: 'expired' }
  const status = failure.code === 'track_not_ready' ? 'processing' : isTransient(failure) ? 'offline' : 'failed'
  const delay = Math.max(backoff(polls, POLLS), Math.min(LONGEST_WAIT, failure.wait ?? 0))
  return status === 'failed' ? { status } : { status, delay }
}

/**
 * Consecutive requests without a response, over about a minute, after which a missing response no longer counts as an outage: a page's
 * content security policy may block them.
 */
const MOST_UNANSWERED = 7

/** Whether the storage has an outage, judged by its response for a file. */
export const isOutage = (fault: Failure, polls: number) =>
  isTransient(fault) && (fault.status > 0 || polls < MOST_UNANSWERED)

/** Whether playback skips a track that the listener did not choose, because it cannot be played now. */
export const isSkipped = ({ code }: Failure) => code === 'track_not_ready' || code === 'not_found'

/** Whether a session has ended: the service answers 410 for a day, then 404. */
export const isSessionOver = ({ code }: Failure) => code === 'session_expired' || code === 'not_found'

/**
 * Counts a media error. The first may be due to an expired URL. After that the next file is tried: at once if the file `isFaulty`, else
 * after one more attempt, because the storage may just have recovered.
 */
export function afterMediaError({ skipped, failures }: Attempts, position: number, isFaulty: boolean): Attempts {
  const isNext = failures > (isFaulty ? 0 : 1)
  return { skipped: skipped + Number(isNext), failures: isNext ? 1 : failures + 1, failedAt: position }
}

/** Whether the file played for a second since its last failure, so that a later failure counts separately. */
export const isProgress = ({ failures, failedAt }: Attempts, position: number) =>
  failures > 0 && position > failedAt + 1

/** What to do on `play`. `needsUrl`: more of the file must be loaded, but its URL has expired. */
export function onPlay(status: Status, needsUrl: boolean): 'wait' | 'reload' | 'start' {
  if (status === 'processing' || status === 'loading') return 'wait'
  return status !== 'ready' || needsUrl ? 'reload' : 'start'
}

export type AfterEnded =
  | { next: 'stop' }
  /** Another track, or the same; `wait` when the sleep timer ends with this track. */
  | { next: 'play' | 'wait'; index: number }

/** Decides where playback continues after the end of a track. */
export function afterEnded(state: Pick<State, 'index' | 'order' | 'sleep'>, options: PlaybackOptions): AfterEnded {
  const index = options.loop === 'one' ? state.index : nextIndex(state, options)
  if (index === undefined) return { next: 'stop' }
  return { next: state.sleep === 'track' ? 'wait' : 'play', index }
}

/** Milliseconds without sound and without new data after which the connection counts as dead. */
export const STALL = 15_000

/** Fraction of a signed URL's lifetime that is certainly left on arrival: the service may have cached it (docs/decisions/0028). */
const REMAINING = 0.6

interface Signed {
  variants: readonly { url: string }[]
  play_session: { expires_at: string }
}

/**
 * Returns for how many milliseconds the URLs of a newly received play view can be used. A signed URL states its lifetime
 * (`X-Amz-Expires`, AWS Signature Version 4), so a wrong clock on this machine does not matter.
 */
export function lifetime({ variants, play_session }: Signed, now = Date.now()): number {
  const seconds = variants.map(({ url }) => Number(new URL(url).searchParams.get('X-Amz-Expires'))).filter((s) => s > 0)
  return seconds.length > 0
    ? Math.min(...seconds) * REMAINING * 1000
    : Math.max(0, Date.parse(play_session.expires_at) - now)
}

/** Milliseconds before their expiry at which URLs are replaced: a fifth of their lifetime, at most a minute. */
export const refreshMargin = (life: number) => Math.min(60_000, life / 5)

/** Milliseconds until the URL of a file is replaced. */
export const refreshDelay = ({ until }: LoadedFile, now = Date.now()) =>
  Math.max(1000, until - now - refreshMargin(until - now))

/**
 * Milliseconds before a failed refresh is retried, repeatedly until the handover succeeds or the session ends: a download in progress
 * outlives its URL for a while. Also the minimum by which fresh URLs must outlive the current ones.
 */
export const RETRY = 5000

export type AfterRefresh =
  | { next: 'expire' }
  | { next: 'keep' }
  | { next: 'ask-again'; delay: number }
  | { next: 'hand-over'; file: LoadedFile }

/** Decides whether the fresh URL of the playing file takes over or is not needed. */
export function afterRefresh(
  loaded: LoadedFile,
  answer: Answer,
  { isSingle, isComplete, now }: { isSingle: boolean; isComplete: boolean; now: number },
): AfterRefresh {
  if (!answer.ok) {
    if (answer.code === 'session_expired') return { next: 'expire' }
    // A removed track plays until its URL expires.
    return answer.code === 'not_found' ? { next: 'keep' } : { next: 'ask-again', delay: RETRY }
  }
  const { view, until } = answer
  // The fresh URLs last no longer: the session ends with them and cannot be renewed from here.
  if (until - loaded.until < RETRY) return { next: 'ask-again', delay: until - now + 1000 }
  // A buffered file needs no URL, and a single element cannot hand over. Both get the new URL when they next load.
  if (isSingle || isComplete) return { next: 'keep' }
  const url = view.variants.find(({ variant }) => variant.index === loaded.variant)?.url
  return url ? { next: 'hand-over', file: { ...loaded, url, until } } : { next: 'ask-again', delay: RETRY }
}

/** Milliseconds until the next check for a better file. */
export const checkDelay = (checks: number) => backoff(checks, { first: 10_000, factor: 1.5, longest: 30_000 })

/** Whether to check for a better file. A single element switches to the final file when it next loads one. */
export const mayGetBetter = (isPreliminary: boolean, { variant }: LoadedFile, isSingle: boolean) =>
  isPreliminary || (variant === EARLY && !isSingle)

export type AfterCheck =
  | { next: 'expire' }
  | { next: 'ask-again' }
  /** Nothing plays, so the other file can be loaded without a handover. This includes a missing file, which then fails visibly. */
  | { next: 'load' }
  /** The file stays, but its levels and loudness are now available. */
  | { next: 'show' }
  | { next: 'hand-over'; file: LoadedFile }

/** Decides what to do after a check for a better file. */
export function afterCheck(
  loaded: LoadedFile,
  answer: Answer,
  best: { url: string; variant: { index: string } } | undefined,
  isPlaying: boolean,
): AfterCheck {
  if (!answer.ok) return { next: answer.code === 'session_expired' ? 'expire' : 'ask-again' }
  if (answer.view.track.is_preliminary) return { next: 'ask-again' }
  const isSame = best?.variant.index === loaded.variant
  if (!best || (!isPlaying && !isSame)) return { next: 'load' }
  if (isSame) return { next: 'show' }
  return { next: 'hand-over', file: { ...loaded, variant: best.variant.index, url: best.url, until: answer.until } }
}

export interface VariantFile {
  path: string
  url: string
  variant: { index: string }
}

/** The file that plays while a long track is still being processed. It is deleted soon after. */
const EARLY = 'early'
export const ANALYSIS = 'analysis'

const typeOf = (path: string): string | undefined => PLAY_TYPES[path.split('.').at(-1) as keyof typeof PLAY_TYPES]

/**
 * Returns the files to try, best first: those named by `preferred` in its order, then the others in the service's order, `early` last.
 * Files without audio, and those that the browser says it cannot play, are excluded. The uploaded file has no extension that shows its
 * type, so it is included only if `preferred` names it.
 */
export function playableFiles<T extends VariantFile>(
  entries: readonly T[],
  preferred: readonly string[],
  canPlay: (type: string) => boolean,
): T[] {
  const usable = entries.filter(({ path, variant: { index } }) => {
    const type = typeOf(path)
    return type ? canPlay(type) : index === EARLY || (index === 'original' && preferred.includes(index))
  })
  const rank = ({ variant: { index } }: T) => {
    if (index === EARLY) return preferred.length + 1
    const at = preferred.indexOf(index)
    return at < 0 ? preferred.length : at
  }
  // The sort is stable, so equal ranks keep the service's order.
  return usable.toSorted((a, b) => rank(a) - rank(b))
}

/** LUFS, as ReplayGain 2.0. Nearly all published music is louder, and volume can only lower it. */
const TARGET = -18
/** dBTP, the maximum true peak of EBU R 128. */
const PEAK_LIMIT = -1

/** Returns the linear gain that brings a track to -18 LUFS with a true peak of at most -1 dBTP; 1 if the loudness is unknown. */
export function gainOf({ integrated_lufs, true_peak_dbtp }: Partial<Loudness>): number {
  if (typeof integrated_lufs !== 'number') return 1
  // With an unknown peak, the track is only lowered.
  const headroom = typeof true_peak_dbtp === 'number' ? PEAK_LIMIT - true_peak_dbtp : 0
  return 10 ** (Math.min(TARGET - integrated_lufs, headroom) / 20)
}

/**
 * Returns the volume of the audio element for the listener's volume and the track's gain. It cannot exceed 1, so a quiet track is raised
 * only as far as the listener's volume allows.
 */
export const effectiveVolume = (volume: number, gain: number) => Math.min(1, Math.max(0, volume * gain))
