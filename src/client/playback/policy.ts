import { PLAY_TYPES } from '../../contract/facts.ts'
import type { Loudness } from '../../contract/info.ts'
import { backoff, type Failure, isPassing } from '../retry.ts'
import {
  type Attempts,
  following,
  type LoadedFile,
  type PlaybackOptions,
  type State,
  type Status,
  type TimedView,
} from './state.ts'

/**
 * What happens next: on a refusal, at the end, when a URL or a file is no good; which file to play, and how loud. Decisions only;
 * `loader.ts` and `refresh.ts` carry them out.
 */

type Answer = (TimedView & { ok: true }) | Failure

const POLLS = { first: 2000, factor: 1.5, longest: 30_000 }

/** The state after a refusal; with a delay in milliseconds after which it is asked again. */
export interface AfterFailure {
  status: 'expired' | 'failed' | 'processing' | 'offline'
  delay?: number
}

/** `wait`: milliseconds before which it is not to be asked again, by `Retry-After`. */
export type Refusal = Failure & { wait?: number }

/** Longest `Retry-After` that is obeyed: a listener waits for it. */
const LONGEST_WAIT = 60_000

/** The service or the storage refused, or did not answer, for the `polls + 1`th time. It is asked again where that may help, with growing delays. */
export function afterFailure(failure: Refusal, polls: number): AfterFailure {
  if (failure.code === 'session_expired') return { status: 'expired' }
  const status = failure.code === 'track_not_ready' ? 'processing' : isPassing(failure) ? 'offline' : 'failed'
  const delay = Math.max(backoff(polls, POLLS), Math.min(LONGEST_WAIT, failure.wait ?? 0))
  return status === 'failed' ? { status } : { status, delay }
}

/** Requests without an answer, in a row, after which the file may be at fault: a page's policy can forbid them. About a minute. */
const MOST_UNANSWERED = 7

/** Whether the storage has an outage, by its answer about a file. */
export const isOutage = (fault: Failure, polls: number) =>
  isPassing(fault) && (fault.status > 0 || polls < MOST_UNANSWERED)

/** Whether a track that the listener did not choose is passed over: it cannot be played now, and others can. */
export const isPassedOver = ({ code }: Failure) => code === 'track_not_ready' || code === 'not_found'

/** Whether an answer about a session says that it is no more: 410 for a day after its end, then 404 for its id. */
export const isSessionOver = ({ code }: Failure) => code === 'session_expired' || code === 'not_found'

/**
 * A file failed. The first time its URL may have ended. Later the next file is tried: at once when the file `isFaulty`, else after one more
 * attempt, as the storage may just have recovered.
 */
export function afterMediaError({ skipped, failures }: Attempts, position: number, isFaulty: boolean): Attempts {
  const isNext = failures > (isFaulty ? 0 : 1)
  return { skipped: skipped + Number(isNext), failures: isNext ? 1 : failures + 1, failedAt: position }
}

/** A file that plays for a second has nothing wrong with it; a later failure is counted separately. */
export const isProgress = ({ failures, failedAt }: Attempts, position: number) =>
  failures > 0 && position > failedAt + 1

/** The step before `play`; `needsUrl` when more of the file must be loaded, and its URL has ended. */
export function onPlay(status: Status, needsUrl: boolean): 'wait' | 'reload' | 'start' {
  if (status === 'processing' || status === 'loading') return 'wait'
  return status !== 'ready' || needsUrl ? 'reload' : 'start'
}

export type AfterEnded =
  | { next: 'stop' }
  /** Another track, or the same; `wait` when the listener wants to sleep. */
  | { next: 'play' | 'wait'; index: number }

/** The end of a track: where playback goes on, or nowhere. */
export function afterEnded(state: Pick<State, 'index' | 'order' | 'sleep'>, options: PlaybackOptions): AfterEnded {
  const index = options.loop === 'one' ? state.index : following(state, options)
  if (index === undefined) return { next: 'stop' }
  return { next: state.sleep === 'track' ? 'wait' : 'play', index }
}

/** Milliseconds without sound, while nothing is loaded either, after which the connection may be dead. */
export const STALL = 15_000

/** Part of a signed URL's life that is surely left: it may have been signed before, for others (docs/decisions/0028). */
const LEFT = 0.6

interface Signed {
  variants: readonly { url: string }[]
  play_session: { expires_at: string }
}

/**
 * Milliseconds for which the URLs of a play view that has just arrived can be used. A signed URL says so itself
 * (`X-Amz-Expires`, AWS Signature Version 4), which needs no right clock on this machine.
 */
export function lifetime({ variants, play_session }: Signed, now = Date.now()): number {
  const seconds = variants.map(({ url }) => Number(new URL(url).searchParams.get('X-Amz-Expires'))).filter((s) => s > 0)
  return seconds.length > 0
    ? Math.min(...seconds) * LEFT * 1000
    : Math.max(0, Date.parse(play_session.expires_at) - now)
}

/** Milliseconds before the end at which URLs are replaced: a fifth of their life, at most a minute. */
export const refreshMargin = (life: number) => Math.min(60_000, life / 5)

/** Milliseconds until the URL of a file is to be replaced. */
export const refreshDelay = ({ until }: LoadedFile, now = Date.now()) =>
  Math.max(1000, until - now - refreshMargin(until - now))

/**
 * Milliseconds until a refresh without effect is tried again, until the other element takes over or the session ends: what is being loaded
 * outlives its URL for a while. Also the least that fresh URLs must live longer.
 */
export const RETRY = 5000

export type AfterRefresh =
  | { next: 'expire' }
  | { next: 'keep' }
  | { next: 'ask-again'; delay: number }
  | { next: 'hand-over'; file: LoadedFile }

/** A fresh play view for what plays: whether its URL takes over, or is not needed. */
export function afterRefresh(
  loaded: LoadedFile,
  answer: Answer,
  { isSingle, isComplete, now }: { isSingle: boolean; isComplete: boolean; now: number },
): AfterRefresh {
  if (!answer.ok) {
    if (answer.code === 'session_expired') return { next: 'expire' }
    // A track that was removed plays as far as its URL lasts.
    return answer.code === 'not_found' ? { next: 'keep' } : { next: 'ask-again', delay: RETRY }
  }
  const { view, until } = answer
  // The session ends with these URLs, and cannot be renewed from here.
  if (until - loaded.until < RETRY) return { next: 'ask-again', delay: until - now + 1000 }
  // What is here already needs no URL; a seek to somewhere else takes the new one, and so does an element that must load it itself.
  if (isSingle || isComplete) return { next: 'keep' }
  const url = view.variants.find(({ variant }) => variant.index === loaded.variant)?.url
  return url ? { next: 'hand-over', file: { ...loaded, url, until } } : { next: 'ask-again', delay: RETRY }
}

/** Milliseconds until it is asked again whether a better file is there. */
export const lookDelay = (looks: number) => backoff(looks, { first: 10_000, factor: 1.5, longest: 30_000 })

/** Whether to ask for a better file. Alone, an element changes to a final file when it next loads one. */
export const mayGetBetter = (isPreliminary: boolean, { variant }: LoadedFile, isSingle: boolean) =>
  isPreliminary || (variant === EARLY && !isSingle)

export type AfterLook =
  | { next: 'expire' }
  | { next: 'ask-again' }
  /** Heard by nobody, another file can just be loaded. It also says so when there is none. */
  | { next: 'load' }
  /** The file stays; its levels and loudness have come. */
  | { next: 'show' }
  | { next: 'hand-over'; file: LoadedFile }

/** The answer to whether a better file is there. */
export function afterLook(
  loaded: LoadedFile,
  answer: Answer,
  best: { url: string; variant: { index: string } } | undefined,
  isPlaying: boolean,
): AfterLook {
  if (!answer.ok) return { next: answer.code === 'session_expired' ? 'expire' : 'ask-again' }
  if (answer.view.track.is_preliminary) return { next: 'ask-again' }
  const isSame = best?.variant.index === loaded.variant
  if (!best || (!isPlaying && !isSame)) return { next: 'load' }
  if (isSame) return { next: 'show' }
  return { next: 'hand-over', file: { ...loaded, variant: best.variant.index, url: best.url, until: answer.until } }
}

export interface Entry {
  path: string
  url: string
  variant: { index: string }
}

/** The file that plays while a long track is still being processed: as good as any, and gone soon. */
const EARLY = 'early'
export const ANALYSIS = 'analysis'

const typeOf = (path: string): string | undefined => PLAY_TYPES[path.split('.').at(-1) as keyof typeof PLAY_TYPES]

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
    const type = typeOf(path)
    return type ? canPlay(type) : index === EARLY || (index === 'original' && wanted.includes(index))
  })
  const rank = ({ variant: { index } }: T) => {
    if (index === EARLY) return wanted.length + 1
    const at = wanted.indexOf(index)
    return at < 0 ? wanted.length : at
  }
  // The sort is stable, so equal ranks keep the service's order.
  return usable.toSorted((a, b) => rank(a) - rank(b))
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
