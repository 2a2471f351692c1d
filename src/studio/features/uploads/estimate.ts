import type { JobTrack } from '../../data/jobs.ts'

/** Counts the files that are left to send and to process, and estimates when they will be done. */

/** The parts of a file that is being sent which the summary uses. */
export interface Sending {
  state: string
  /** The fraction that was sent, 0–1. */
  fraction: number
  isUnsent: boolean
}

export interface Summary {
  /** Files that are being sent or processed. */
  working: number
  /** Files that wait for one of these. */
  waiting: number
  failed: number
  ready: number
  /** The files that are left, each counted 1 for its upload and 1 for its processing. */
  left: number
}

/** Returns the summary of files that are being sent, of tracks in process, and of processed tracks. */
export function summaryOf(
  items: readonly Sending[],
  running: readonly Pick<JobTrack, 'state'>[],
  ended: readonly Pick<JobTrack, 'status'>[],
): Summary {
  const unsent = items.filter(({ isUnsent }) => isUnsent)
  const isSending = ({ state }: Sending) => state === 'uploading' || state === 'waiting'
  const progressOf = ({ state }: Pick<JobTrack, 'state'>) => state?.progress ?? 0
  const sending = unsent.filter(isSending).length
  const processing = running.filter((track) => progressOf(track) > 0).length
  const failedTracks = ended.filter(({ status }) => status === 'failed').length
  return {
    working: sending + processing,
    waiting: unsent.length - sending + running.length - processing,
    failed: failedTracks + items.filter(({ state }) => state === 'failed' || state === 'rejected').length,
    ready: ended.length - failedTracks,
    left:
      unsent.reduce((sum, { fraction }) => sum + 2 - fraction, 0) +
      running.reduce((sum, track) => sum + 1 - progressOf(track), 0),
  }
}

/** Milliseconds of the past that an estimate is based on, at least and at most. */
const SHORTEST = 4000
const LONGEST = 30_000

/** Estimates when work is done, from the speed of the last half minute. */
export class Estimate {
  #samples: { time: number; left: number }[] = []

  /** Returns the seconds until nothing is left; null before they are known. More work than at the start of the half minute starts a new estimate. */
  next(left: number, time: number): number | null {
    // A file is not counted for a moment between its upload and its processing.
    if (this.#samples.every((sample) => left > sample.left)) this.#samples = []
    this.#samples = [...this.#samples.filter((sample) => time - sample.time < LONGEST), { time, left }]
    const first = this.#samples[0]!
    const [passed, done] = [time - first.time, first.left - left]
    return passed < SHORTEST || done <= 0 ? null : ((left / done) * passed) / 1000
  }
}

/** Returns the number of files before a waiting track. The service knows it for the last one in the queue. */
export function placeOf(at: number, waiting: number, before: number | undefined): number {
  return before === undefined ? at : Math.max(0, before - (waiting - 1 - at))
}
