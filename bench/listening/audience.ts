import { randomBytes } from 'node:crypto'

/** A synthetic audience, and a naive recount of everything that it has reported. */

export const DURATION = 200
const SOURCES = Array.from({ length: 20 }, (_, at) => `site-${at}.example.com`)

type Ranges = [number, number][]
interface Listen {
  track: string
  ranges: Ranges
  again?: Ranges
  muted?: number
}
export interface Visit {
  id: string
  source: string
  listens: Listen[]
  /** The number of listens in each report. */
  reports: number[]
}

const round = (seconds: number) => Math.round(seconds * 10) / 10

/** A visit: five listens, in two or three reports. The first tracks are heard most; every second listen is a whole track. */
export function aVisit(random: () => number, tracks: string[]): Visit {
  const listens = Array.from({ length: 5 }, (): Listen => {
    const track = tracks[Math.floor(random() ** 3 * tracks.length)]!
    const stop = random() < 0.55 ? DURATION : round(1 + random() * (DURATION - 1))
    const isScrubbed = random() < 0.15
    const ranges: Ranges = isScrubbed
      ? [
          [0, round(stop / 3)],
          [round(stop / 2), stop],
        ]
      : [[0, stop]]
    return {
      track,
      ranges,
      ...(random() < 0.1 && { again: [[0, round(stop / 4)]] as Ranges }),
      ...(random() < 0.05 && { muted: round(random() * 20) }),
    }
  })
  const reports = random() < 0.5 ? [2, 5] : [2, 4, 5]
  return { id: randomBytes(8).toString('hex'), source: SOURCES[Math.floor(random() * 20)]!, listens, reports }
}

const lengthOf = (ranges: Ranges = []) => ranges.reduce((sum, [from, until]) => sum + until - from, 0)
const secondsOf = ({ ranges, again, muted = 0 }: Listen) => lengthOf(ranges) + lengthOf(again) + muted

/** The text of the report with this index. */
export function reportOf({ id, source, listens, reports }: Visit, index: number): string {
  const sent = listens.slice(0, reports[index])
  const age = round(sent.reduce((sum, listen) => sum + secondsOf(listen), 0) + 5)
  return JSON.stringify({ visit: id, sequence: index + 1, age, first: 0, source, listens: sent })
}

/** Counts what visits have reported in all: plays, visits, tenths of seconds and completions, of all tracks and of each. */
export function createRecount() {
  const totals = [0, 0, 0, 0]
  const tracks = new Map<string, number[]>()
  return {
    totals,
    tracks,
    /** Counts the state of a visit after this number of listens. */
    add({ listens }: Visit, count = listens.length): void {
      totals[1]!++
      const seen = new Set<string>()
      for (const listen of listens.slice(0, count)) {
        const heard = lengthOf(listen.ranges)
        const counts = tracks.get(listen.track) ?? [0, 0, 0, 0]
        tracks.set(listen.track, counts)
        const add = [
          heard >= 30 ? 1 : 0,
          seen.has(listen.track) ? 0 : 1,
          Math.round((heard + lengthOf(listen.again)) * 10),
          heard >= 0.9 * DURATION ? 1 : 0,
        ]
        seen.add(listen.track)
        for (const [at, more] of add.entries()) {
          counts[at]! += more
          if (at !== 1) totals[at]! += more
        }
      }
    },
  }
}
