import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

import type { Range } from '../../../src/contract/ranges.ts'
import type { Difference, Listen } from '../../../src/listening/difference.ts'

/** A naive count of listens, from their whole state: it looks at every tenth of a second and at every step. */

let objects = 0
/** Runs a test in a new object. */
export const inObject = (test: (sql: SqlStorage) => Promise<void> | void) =>
  runInDurableObject(env.TRANSCODER.get(env.TRANSCODER.idFromName(`sums ${objects++}`)), async (_, state) =>
    test(state.storage.sql),
  )

export const uuid = (kind: number, number: number) =>
  `0000000${kind}-0000-4000-8000-${String(number).padStart(12, '0')}`
export const tenth = (value: number) => Math.round(value * 10) / 10

/** The state of a listen after each report. */
export interface CountedListen extends Pick<
  Difference,
  'track' | 'collection' | 'duration' | 'via' | 'country' | 'source'
> {
  visit: string
  states: { day: number; listen: Listen }[]
}

const has = (ranges: Range[], time: number) => ranges.some(([from, until]) => from <= time && time < until)
const counted = new WeakMap<Range[], number>()
/** The number of tenths in the ranges of a listen. They are counted once, because every subject and day needs them. */
function tenthsOf(ranges: Range[], duration: number): number {
  let tenths = counted.get(ranges)
  if (tenths === undefined) {
    tenths = 0
    for (let at = 0; at < duration * 10; at++) if (has(ranges, at / 10 + 0.05)) tenths++
    counted.set(ranges, tenths)
  }
  return tenths
}

const lastUntil = ({ states }: CountedListen, day: number) => states.findLast((state) => state.day <= day)?.listen

/** The counts of listens until the end of a day: plays, visits, tenths, completions, downloads, muted, fast. */
export function recount(listens: CountedListen[], day: number): number[] {
  const sums = [0, 0, 0, 0, 0, 0, 0]
  const visits = new Set<string>()
  for (const each of listens) {
    const listen = lastUntil(each, day)
    if (!listen) continue
    visits.add(each.visit)
    const heard = tenthsOf(listen.ranges, each.duration)
    const more = [
      heard > 0 && heard >= Math.min(300, each.duration * 5) ? 1 : 0,
      0,
      heard + tenthsOf(listen.again, each.duration),
      heard > 0 && heard >= each.duration * 9 ? 1 : 0,
      0,
      Math.round(listen.muted * 10),
      Math.round(listen.fast * 10),
    ]
    for (const [column, count] of more.entries()) sums[column]! += count
  }
  sums[1] = visits.size
  return sums
}

/** How many visits heard the middle of each step until the end of a day, and how often it was heard. */
export function recountCurve(listens: CountedListen[], day: number, duration: number) {
  const step = Math.max(1, duration / 1000)
  const count = Math.min(1000, Math.ceil(duration / step))
  const middles = Array.from({ length: count }, (_, at) => (at * step + Math.min(duration, (at + 1) * step)) / 2)
  const states = listens.flatMap((each) => {
    const listen = lastUntil(each, day)
    return listen ? [{ visit: each.visit, listen }] : []
  })
  const heard = middles.map(
    (at) => new Set(states.flatMap(({ visit, listen }) => (has(listen.ranges, at) ? [visit] : []))).size,
  )
  const times = middles.map((at) =>
    states.reduce((sum, { listen }) => sum + Number(has(listen.ranges, at)) + Number(has(listen.again, at)), 0),
  )
  return { heard, times }
}
