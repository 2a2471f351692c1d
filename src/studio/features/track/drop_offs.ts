/** The part of `GET /v1/track/{id}/retention` that the curve shows. */
export interface Curve {
  /** Seconds of each step. */
  step: number
  visits: number
  /** The visits that heard each step. */
  heard: readonly number[]
}

/** A part of a track in which many visits stop listening. */
export interface DropOff {
  /** The step before which most of them stop. */
  at: number
  /** The shares of all visits that listen before and after it, 0–1. */
  before: number
  after: number
}

/** Fewer visits have no meaningful drop-offs. */
export const MIN_VISITS = 10
/** A drop-off loses at least this share of all visits, and this number of them. */
const LEAST_SHARE = 0.05
const LEAST_LOST = 5
/** The share of the track, and the least number of seconds, in which a drop-off happens. */
const SHARE = 0.02
const SECONDS = 5
/** Losses in this last share of the track are ignored, because they are its end. */
const END = 0.05
const MOST = 3

/** Returns the largest drop-offs in the order of the track. */
export function dropOffsOf({ step, visits, heard }: Curve): DropOff[] {
  if (visits < MIN_VISITS) return []
  const width = Math.max(1, Math.round(Math.max(SECONDS / step, heard.length * SHARE)))
  const last = Math.floor(heard.length * (1 - END)) - width
  const lossAt = (from: number, to: number) => heard[from]! - heard[to]!
  const least = Math.max(LEAST_LOST, LEAST_SHARE * visits)
  const candidates = Array.from({ length: Math.max(0, last) }, (_, from) => from)
    .filter((from) => lossAt(from, from + width) >= least)
    .toSorted((a, b) => lossAt(b, b + width) - lossAt(a, a + width))
  const found: number[] = []
  for (const from of candidates) {
    if (found.length < MOST && found.every((other) => Math.abs(other - from) >= width)) found.push(from)
  }
  return found
    .toSorted((a, b) => a - b)
    .map((from) => {
      const steps = Array.from({ length: width }, (_, i) => from + i)
      const steepest = steps.reduce((best, at) => (lossAt(at, at + 1) > lossAt(best, best + 1) ? at : best))
      return { at: steepest + 1, before: heard[from]! / visits, after: heard[from + width]! / visits }
    })
}
