import type { HeardReport } from '../../../src/contract/heard.ts'
import { HOSTILE, toJson } from './fuzz_value.ts'
import type { Ranges } from './heard.ts'

/** Listening reports from a seed: plausible ones, and ones that were damaged in up to three places. Every run gets the same. */

type Random = () => number
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!
const upTo = (random: Random, most: number) => Math.floor(random() * (most + 1))

const VISITS = ['0123456789abcdef', 'fedcba9876543210', '00000000ffffffff', 'aaaaaaaaaaaaaaaa']
const SOURCES = [
  'a.example',
  ' An\tapp \u202e',
  'é'.repeat(100),
  'x'.repeat(101),
  '\t',
  'a'.repeat(101).replace('a', ' '),
]
const IDS = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  '00011111-1111-9111-8111-111111111111',
  '00011111-1111-4111-C111-111111111111',
  '00011111-1111-4111-B111-11111111111A',
]
/** Numbers at and around the limits of `HeardReport`, and texts. */
const NUMBERS = [0, -0, -0.04, 0.05, 0.5, 1, 1.5, 199.96, 999_999.99, 1_000_000, 1_000_000.04, 1_000_001, 2 ** 53, '1']

/** Ordered ranges within 200 seconds. */
function someRanges(random: Random, most: number): Ranges {
  let at = 0
  return Array.from({ length: upTo(random, most) }, () => {
    const from = at + random() * 5
    at = from + random() * 20
    return [from, at]
  })
}

function aReport(random: Random, track: string): HeardReport {
  const age = 300 + upTo(random, 2000)
  const listens = Array.from({ length: 1 + upTo(random, 2) }, () => {
    const ranges = someRanges(random, 6)
    return {
      track: random() < 0.2 ? track.toUpperCase() : track,
      ranges,
      ...(random() < 0.2 && { again: ranges.slice(0, 1) }),
      ...(random() < 0.2 && { muted: random() * 9 }),
      ...(random() < 0.2 && { fast: 0.1 }),
    }
  })
  return {
    visit:
      random() < 0.3
        ? pick(random, VISITS)
        : upTo(random, 2 ** 48)
            .toString(16)
            .padStart(16, '0'),
    sequence: 1 + upTo(random, 4),
    age,
    first: random() < 0.9 ? 0 : 1,
    ...(random() < 0.5 && { source: pick(random, SOURCES) }),
    listens,
  }
}

/** Returns all objects and lists in a value, and the value itself if it is one. */
const partsOf = (value: unknown): Record<string, unknown>[] =>
  typeof value === 'object' && value !== null
    ? [value as Record<string, unknown>, ...Object.values(value).flatMap(partsOf)]
    : []

/** Changes one random place of a report. */
function damage(random: Random, report: object): void {
  const part = pick(random, partsOf(report))
  const names = Object.keys(part)
  const name = pick(random, [...names, ...names, ...names, 'again', 'muted', 'source', 'unknown', 'constructor'])
  const value = part[name]
  const kind = random()
  if (kind < 0.15 && !Array.isArray(part)) delete part[name]
  else if (kind < 0.3 && Array.isArray(value))
    part[name] = Array.from({ length: pick(random, [0, 1, 2, 3, 49, 50, 51]) }, (_, at) => value[at % value.length])
  else if (kind < 0.7)
    part[name] = pick(random, typeof value === 'string' ? [...IDS, ...VISITS, ...SOURCES, 'A'.repeat(16)] : NUMBERS)
  else part[name] = pick(random, HOSTILE)
}

/** Returns the JSON texts of so many reports about a track. Every second one is damaged. */
export function fuzzedReports(random: Random, count: number, track: string): string[] {
  return Array.from({ length: count }, (_, at) => {
    const report = structuredClone(aReport(random, track))
    if (at % 2 === 1) for (let left = 1 + upTo(random, 2); left > 0; left--) damage(random, report)
    return toJson(random() < 0.01 ? pick(random, HOSTILE) : report)
  })
}
