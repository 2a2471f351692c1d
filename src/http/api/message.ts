import type * as z from 'zod'

const KINDS: Record<string, string> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
}
const FORMATS: Record<string, string> = {
  date: 'a date such as 2027-01-31',
  datetime: 'a date and time such as 2027-01-31T00:00:00Z',
  uuid: 'a UUID',
}
const UNITS: Record<string, [string, string]> = { array: ['entry', 'entries'], string: ['character', 'characters'] }

/** Returns texts such as `be at least 5`, `be at most 255 characters` or `have at least 1 entry`. */
function bounded(origin: string, bound: string, value: number | bigint): string {
  const [singular, plural] = UNITS[origin] ?? []
  const unit = singular ? ` ${Number(value) === 1 ? singular : plural}` : ''
  return `${origin === 'array' ? 'have' : 'be'} ${bound} ${value}${unit}`
}

/** Returns the message of a zod issue in words that can follow the name of the field. Messages that are defined in a schema are not changed. */
export function messageOf(issue: z.core.$ZodIssue): string {
  const { message } = issue
  if (!/^(Invalid|Too) /.test(message)) return message
  // zod reports a missing field as `invalid_type`.
  if (issue.code === 'invalid_type' && message.endsWith('received undefined')) return 'is required'
  if (issue.code === 'invalid_type' && issue.expected in KINDS) return `must be ${KINDS[issue.expected]}`
  if (issue.code === 'invalid_format' && issue.format in FORMATS) return `must be ${FORMATS[issue.format]}`
  if (issue.code === 'invalid_value') {
    const { values } = issue
    return values.length === 1 ? `must be ${String(values[0])}` : `must be one of ${values.join(', ')}`
  }
  if (issue.code === 'too_small' && issue.inclusive) return `must ${bounded(issue.origin, 'at least', issue.minimum)}`
  if (issue.code === 'too_big' && issue.inclusive) return `must ${bounded(issue.origin, 'at most', issue.maximum)}`
  return message
}
