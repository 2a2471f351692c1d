import { MAX_HEARD_LISTENS, MAX_HEARD_NUMBER, MAX_HEARD_RANGES, MAX_HEARD_SOURCE } from '../../contract/facts.ts'
import type { HeardReport } from '../../contract/heard.ts'
import { oneLine } from '../../contract/text.ts'

/**
 * Parses listening reports like the schema `HeardReport`, but without zod, which takes longer to load than a first report may take
 * (docs/decisions/0113). test/worker/http/heard_report.test.ts compares the two.
 */

/** Returns a parsed value. Throws `INVALID` if the schema rejects the value. */
type Reader<T> = (value: unknown) => T
const INVALID = new Error('a value that HeardReport rejects')

function check(isValid: boolean): asserts isValid {
  if (!isValid) throw INVALID
}

const text =
  (pattern: RegExp): Reader<string> =>
  (value) => {
    check(typeof value === 'string' && pattern.test(value))
    return value
  }

const whole =
  (least: number): Reader<number> =>
  (value) => {
    check(typeof value === 'number' && Number.isInteger(value) && value >= least && value <= MAX_HEARD_NUMBER)
    return value
  }

const seconds: Reader<number> = (value) => {
  check(typeof value === 'number' && value >= 0 && value <= MAX_HEARD_NUMBER)
  return Math.round(value * 10) / 10
}

const source: Reader<string> = (value) => {
  check(typeof value === 'string')
  const line = oneLine(value)
  check(line.length >= 1 && line.length <= MAX_HEARD_SOURCE)
  return line
}

const list =
  <T>(entry: Reader<T>, least: number, most: number): Reader<T[]> =>
  (value) => {
    check(Array.isArray(value) && value.length >= least && value.length <= most)
    return value.map((each) => entry(each))
  }

const optional =
  <T>(reader: Reader<T>): Reader<T | undefined> =>
  (value) =>
    value === undefined ? undefined : reader(value)

const object =
  <T extends object>(fields: { [K in keyof T]: Reader<T[K]> }): Reader<T> =>
  (value) => {
    check(typeof value === 'object' && value !== null)
    check(Object.keys(value).every((name) => Object.hasOwn(fields, name)))
    const copy: Partial<T> = {}
    for (const name in fields) {
      const field = fields[name]((value as T)[name])
      if (field !== undefined) copy[name] = field
    }
    return copy as T
  }

/** zod's form of a UUID, in which the one with only the digit f must be in lower case. */
const id = text(
  /^([\da-fA-F]{8}-[\da-fA-F]{4}-[1-8][\da-fA-F]{3}-[89abAB][\da-fA-F]{3}-[\da-fA-F]{12}|0{8}-(0{4}-){3}0{12}|f{8}-(f{4}-){3}f{12})$/,
)
const ranges = list(list(seconds, 2, 2), 0, MAX_HEARD_RANGES)

const listen = object<HeardReport['listens'][number]>({
  track: (value) => id(value).toLowerCase(),
  ranges,
  again: optional(ranges),
  muted: optional(seconds),
  fast: optional(seconds),
})

const report = object<HeardReport>({
  visit: text(/^[\da-f]{16}$/),
  sequence: whole(1),
  age: seconds,
  first: whole(0),
  source: optional(source),
  listens: list(listen, 1, MAX_HEARD_LISTENS),
})

/** Returns the report in a parsed JSON value; null if `HeardReport` rejects it. */
export function readReport(json: unknown): HeardReport | null {
  try {
    return report(json)
  } catch (error) {
    if (error === INVALID) return null
    throw error
  }
}
