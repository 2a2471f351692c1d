import { MAX_VIEWS, PLAY_TYPES } from '../../contract/facts.ts'
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
 * Pure functions that decide what happens after a refusal, a media error, the end of a track and a refresh, which file plays, and how loud
 * it plays. `loader.ts` and `refresh.ts` carry out the decisions.
 */

type Answer = (TimedView & { ok: true }) | Failure

const POLLS = { first: 2000, factor: 1.5, longest: 30_000 }

/** The state after a refusal. `delay`: milliseconds until the next request, if there is one. */
export interface AfterFailure {
  status: 'expired' | 'failed' | 'processing' | 'offline'
  delay?: number
}

/** A failure with `wait`: minimum milliseconds until the next request, from `Retry-After`. */
export type Refusal = Failure & { wait?: number }

/** Maximum milliseconds to wait because of `Retry-After`. Longer values are shortened to this one, because a listener is waiting. */
const LONGEST_WAIT = 60_000

/**
 * Decides what happens after a refusal by the service or the storage, or after a missing response. `polls` is the number of consecutive
 * failures before this one. Transient failures are retried with growing delays.
 */
export function afterFailure(failure: Refusal, polls: number): AfterFailure {
  if (failure.code === 'session_expired') return { status: 'expired' }
  const status = failure.code === 'track_not_ready' ? 'processing' : isTransient(failure) ? 'offline' : 'failed'
  const delay = Math.max(backoff(polls, POLLS), Math.min(LONGEST_WAIT, failure.wait ?? 0))
  return status === 'failed' ? { status } : { status, delay }
}

/**
 * Number of consecutive requests without a response, over about a minute, after which a missing response is no longer treated as an outage:
 * the content security policy of the page may block the requests.
 */
const MAX_UNANSWERED_REQUESTS = 7

/** Whether the storage has an outage, based on its response to a request for a file. */
export const isOutage = (fault: Failure, polls: number) =>
  isTransient(fault) && (fault.status > 0 || polls < MAX_UNANSWERED_REQUESTS)

/** Whether playback skips a track that the listener did not choose, because it cannot be played now. */
export const isSkipped = ({ code }: Failure) => code === 'track_not_ready' || code === 'not_found'

/** Number of play views that are requested at once. */
export const VIEWS = MAX_VIEWS

/** Whether a session has ended: the service returns 410 for a day, and then 404. */
export const isSessionOver = ({ code }: Failure) => code === 'session_expired' || code === 'not_found'

/**
 * Counts a media error. The first error may be due to an expired URL, so the same file is tried again. At the next error, the next file is
 * tried if the current one `isFaulty`; otherwise there is one more attempt, because the storage may just have recovered.
 */
export function afterMediaError({ skipped, failures }: Attempts, position: number, isFaulty: boolean): Attempts {
  const isNext = failures > (isFaulty ? 0 : 1)
  return { skipped: skipped + Number(isNext), failures: isNext ? 1 : failures + 1, failedAt: position }
}

/** Whether the file has played for a second since its last failure, so that a later failure is counted as the first again. */
export const isProgress = ({ failures, failedAt }: Attempts, position: number) =>
  failures > 0 && position > failedAt + 1

/** Decides what to do on `play`. `needsUrl`: more of the file must be loaded, but its URL has expired. */
export function onPlay(status: Status, needsUrl: boolean): 'wait' | 'reload' | 'start' {
  if (status === 'processing' || status === 'loading') return 'wait'
  return status !== 'ready' || needsUrl ? 'reload' : 'start'
}

export type AfterEnded =
  | { next: 'stop' }
  /** Continues with another track or the same one. `wait`: the sleep timer or the clip has ended with this track, so the next one does not start. */
  | { next: 'play' | 'wait'; index: number }

/** Decides where playback continues after the end of a track. */
export function afterEnded(
  state: Pick<State, 'index' | 'order' | 'sleep' | 'clip'>,
  options: PlaybackOptions,
): AfterEnded {
  const index = options.loop === 'one' ? state.index : nextIndex(state, options)
  if (index === undefined) return { next: 'stop' }
  return { next: state.sleep === 'track' || state.clip ? 'wait' : 'play', index }
}

/** Milliseconds without sound and without new data after which the connection is considered dead. */
export const STALL = 15_000

/** Minimum fraction of its lifetime that a signed URL still has when it arrives, because the service may have cached it (docs/decisions/0028). */
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

/** Returns how many milliseconds before their expiry URLs are replaced: a fifth of their lifetime, but at most a minute. */
export const refreshMargin = (life: number) => Math.min(60_000, life / 5)

/** The longest delay of a timer (HTML, Timers). A longer one would end at once. */
const LONGEST_DELAY = 2 ** 31 - 1

/** Returns the milliseconds until the URL of a file is replaced. */
export const refreshDelay = ({ until }: LoadedFile, now = Date.now()) =>
  Math.min(LONGEST_DELAY, Math.max(1000, until - now - refreshMargin(until - now)))

/**
 * Milliseconds between the attempts to refresh a URL, which are repeated until the handover succeeds or the session ends: a download in
 * progress continues for a while after its URL has expired. Also the minimum milliseconds by which fresh URLs must outlive the current
 * ones.
 */
export const RETRY = 5000

export type AfterRefresh =
  | { next: 'expire' }
  | { next: 'keep' }
  | { next: 'ask-again'; delay: number }
  | { next: 'hand-over'; file: LoadedFile }

/** Decides whether the fresh URL replaces that of the playing file, or is not needed. */
export function afterRefresh(
  loaded: LoadedFile,
  answer: Answer,
  { isSingle, isComplete, now }: { isSingle: boolean; isComplete: boolean; now: number },
): AfterRefresh {
  if (!answer.ok) {
    if (answer.code === 'session_expired') return { next: 'expire' }
    // A track that was removed keeps playing until its URL expires.
    return answer.code === 'not_found' ? { next: 'keep' } : { next: 'ask-again', delay: RETRY }
  }
  const { view, until } = answer
  // The fresh URLs expire no later than the current ones, so the session ends with them. It cannot be renewed from here.
  if (until - loaded.until < RETRY) return { next: 'ask-again', delay: until - now + 1000 }
  // A fully buffered file needs no URL, and a single audio element cannot hand over. In both cases, the next load uses the new URL.
  if (isSingle || isComplete) return { next: 'keep' }
  const url = view.variants.find(({ variant }) => variant.index === loaded.variant)?.url
  return url ? { next: 'hand-over', file: { ...loaded, url, until } } : { next: 'ask-again', delay: RETRY }
}

/** Returns the milliseconds until the next check for a better file. */
export const checkDelay = (checks: number) => backoff(checks, { first: 10_000, factor: 1.5, longest: 30_000 })

/** Whether to check for a better file. A single audio element cannot hand over, so it gets the final file with its next load. */
export const mayGetBetter = (isPreliminary: boolean, { variant }: LoadedFile, isSingle: boolean) =>
  isPreliminary || (variant === EARLY && !isSingle)

export type AfterCheck =
  | { next: 'expire' }
  | { next: 'ask-again' }
  /**
   * Nothing is playing, so the better file can be loaded without a handover. This decision is also made if there is no file to play; the
   * load then fails visibly.
   */
  | { next: 'load' }
  /** The best file is already loaded, but its levels and loudness are now available. */
  | { next: 'show' }
  | { next: 'hand-over'; file: LoadedFile }

const pathOf = (url: string) => url.split('?')[0]

/** Decides what to do after a check for a better file. */
export function afterCheck(
  loaded: LoadedFile,
  answer: Answer,
  best: { url: string; variant: { index: string } } | undefined,
  isPlaying: boolean,
): AfterCheck {
  if (!answer.ok) return { next: answer.code === 'session_expired' ? 'expire' : 'ask-again' }
  if (answer.view.track.is_preliminary) return { next: 'ask-again' }
  // After the track's audio was replaced, the same variant is another file.
  const isSame = !!best && pathOf(best.url) === pathOf(loaded.url)
  if (!best || (!isPlaying && !isSame)) return { next: 'load' }
  if (isSame) return { next: 'show' }
  return { next: 'hand-over', file: { ...loaded, variant: best.variant.index, url: best.url, until: answer.until } }
}

export interface VariantFile {
  path: string
  url: string
  variant: { index: string }
}

/** The variant that plays while a track is still being processed. It is deleted soon after the processing. */
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

/** Target loudness in LUFS, as in ReplayGain 2.0. Nearly all published music is louder, and the volume of an element can only be lowered. */
const TARGET = -18
/** Maximum true peak in dBTP, as defined by EBU R 128. */
const PEAK_LIMIT = -1

/** Returns the linear gain that brings a track to -18 LUFS with a true peak of at most -1 dBTP; 1 if the loudness is unknown. */
export function gainOf({ integrated_lufs, true_peak_dbtp }: Partial<Loudness>): number {
  if (typeof integrated_lufs !== 'number') return 1
  // If the peak is unknown, the gain may only lower the track.
  const headroom = typeof true_peak_dbtp === 'number' ? PEAK_LIMIT - true_peak_dbtp : 0
  return 10 ** (Math.min(TARGET - integrated_lufs, headroom) / 20)
}

/**
 * Returns the volume of the audio element for the listener's volume and the track's gain. The volume of an element cannot exceed 1, so a
 * quiet track is raised only if the listener's volume leaves room.
 */
export const effectiveVolume = (volume: number, gain: number) => Math.min(1, Math.max(0, volume * gain))
