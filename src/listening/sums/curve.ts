import type { Range } from '../../contract/ranges.ts'

/** Maximum number of steps of a curve, and their minimum length in seconds. */
const MAX_STEPS = 1000
const MIN_STEP = 1

/** Maximum difference in seconds: until a track has been transcoded, its duration is that in the header of the uploaded file. */
const SAME_RECORDING = 0.5

/** Whether durations are those of the same recording. */
export const isSameRecording = (a: number, b: number) => Math.abs(a - b) <= SAME_RECORDING

/** The length of a step of a track's curve in seconds, and the number of steps. */
export function stepsOf(duration: number): { step: number; count: number } {
  const step = Math.max(MIN_STEP, duration / MAX_STEPS)
  return { step, count: Math.min(MAX_STEPS, Math.ceil(duration / step)) }
}

/**
 * Returns the steps that ranges cover. A step counts as heard if its middle was heard, so that on average a curve is neither too high nor too low. The
 * last step may be shorter than the others.
 */
export function toSteps(ranges: Range[], duration: number): Range[] {
  const { step, count } = stepsOf(duration)
  const last = ((count - 1) * step + duration) / 2
  const at = (time: number) => (time > last ? count : Math.min(count - 1, Math.ceil(time / step - 0.5)))
  return ranges.map(([from, to]): Range => [at(from), at(to)]).filter(([from, to]) => from < to)
}

/**
 * A curve as the differences between neighboring steps: `heard` counts the visits that heard a step, `times` how often it was heard. Both have an
 * entry after the last step.
 */
export interface Curve {
  /** The visits that heard the recording. */
  visits: number
  heard: Int32Array
  times: Int32Array
}

export const emptyCurve = (duration: number): Curve => {
  const { count } = stepsOf(duration)
  return { visits: 0, heard: new Int32Array(count + 1), times: new Int32Array(count + 1) }
}

/** Adds one curve to another of the same duration. */
export function addCurve(sum: Curve, { visits, heard, times }: Curve): void {
  sum.visits += visits
  for (const [at, value] of heard.entries()) sum.heard[at]! += value
  for (const [at, value] of times.entries()) sum.times[at]! += value
}

/**
 * A curve in JSON, between the duration of the recording in milliseconds and its visits: pairs of the distance to the step before and the difference to
 * its value. `extra` is how often a step was heard again in a visit.
 */
export type PackedCurve = [duration: number, heard: number[], extra: number[], visits: number]

/** Calls `add` for each step of packed pairs. */
function unpack(pairs: number[], add: (step: number, difference: number) => void): void {
  for (let pair = 0, step = 0; pair < pairs.length; pair += 2) add((step += pairs[pair]!), pairs[pair + 1]!)
}

function pack(differences: Map<number, number>): number[] {
  const steps = [...differences].filter(([, difference]) => difference !== 0).toSorted(([a], [b]) => a - b)
  return steps.flatMap(([step, difference], at) => [step - (steps[at - 1]?.[0] ?? 0), difference])
}

/** Adds steps to a packed curve; to an empty one if it belongs to a recording of another duration. */
export function addSteps(
  old: PackedCurve | undefined,
  duration: number,
  visits: number,
  steps: [step: number, heard: number, extra: number][],
): PackedCurve {
  const own = old && isSameRecording(old[0] / 1000, duration) ? old : null
  const [heard, extra] = [1, 2].map((part) => {
    const differences = new Map<number, number>()
    const add = (step: number, difference: number) => differences.set(step, (differences.get(step) ?? 0) + difference)
    if (own) unpack(own[part] as number[], add)
    for (const step of steps) add(step[0], step[part]!)
    return pack(differences)
  })
  return [Math.round(duration * 1000), heard!, extra!, (own?.[3] ?? 0) + visits]
}

/** Adds up two packed curves. If they belong to different recordings, the older one is dropped. */
export function joinPacked(old: PackedCurve | undefined, [duration, heard, extra, visits]: PackedCurve): PackedCurve {
  const steps: [step: number, heard: number, extra: number][] = []
  unpack(heard, (step, difference) => void steps.push([step, difference, 0]))
  unpack(extra, (step, difference) => void steps.push([step, 0, difference]))
  return addSteps(old, duration / 1000, visits, steps)
}

/** Adds a packed curve to `sum`, unless it belongs to a recording of another duration. */
export function addPacked(sum: Curve, duration: number, [of, heard, extra, visits]: PackedCurve): void {
  if (!isSameRecording(of / 1000, duration)) return
  sum.visits += visits
  const add = (values: Int32Array) => (step: number, difference: number) => void (values[step]! += difference)
  unpack(heard, add(sum.heard))
  unpack(heard, add(sum.times))
  unpack(extra, add(sum.times))
}

/** Returns the numbers of a curve from its differences. */
export function accumulated(differences: Int32Array): number[] {
  let sum = 0
  return Array.from(differences.subarray(0, -1), (difference) => (sum += difference))
}
