import * as z from 'zod'

export const REQUIRED = 'is required'

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
  email: 'an email address, such as podcast@example.com',
  date: 'a date such as 2027-01-31',
  datetime: 'a date and time such as 2027-01-31T00:00:00Z',
  uuid: 'a UUID',
}
const UNITS: Record<string, string> = { array: 'entries', string: 'characters' }
/** Maximum number of characters of a rejected value in a message. */
const MAX_SHOWN = 60

/**
 * Returns the bounds of the field of an issue with their unit, such as `between 60 and 86400 seconds` or `at least 1 byte`; an empty text if it has
 * none. The unit is the `x-unit` in the metadata of the schema.
 */
function rangeOf(issue: z.core.$ZodRawIssue): string {
  const { schema } = issue
  if (!schema) return ''
  let least = -Infinity
  // Without an explicit maximum, a whole number must be exact as a double.
  let most = issue.code === 'too_big' ? Number(issue.maximum) : Infinity
  for (const check of schema._zod.def.checks ?? []) {
    const { def } = (check as z.core.$ZodChecks)._zod
    if (def.check === 'greater_than') least = Math.max(least, Number(def.value))
    if (def.check === 'less_than') most = Math.min(most, Number(def.value))
    if (def.check === 'min_length') least = Math.max(least, def.minimum)
    if (def.check === 'max_length') most = Math.min(most, def.maximum)
  }
  const [hasLeast, hasMost] = [least, most].map(Number.isFinite)
  if (!hasLeast && !hasMost) return ''
  const bounds = !hasLeast ? `at most ${most}` : hasMost ? `between ${least} and ${most}` : `at least ${least}`
  const metadata = z.globalRegistry.get(schema) as { 'x-unit'?: string } | undefined
  const unit = metadata?.['x-unit'] ?? UNITS[schema._zod.def.type] ?? ''
  const isOne = (hasMost ? most : least) === 1
  return `${bounds} ${isOne ? unit.replace(/ies$/, 'y').replace(/s$/, '') : unit}`.trim()
}

/** zod's error map: returns what a field must be, in words that can follow its name. The messages that schemas define take precedence. */
export function ruleOf(issue: z.core.$ZodRawIssue): string | undefined {
  const { code, input } = issue
  // zod reports a missing field as `invalid_type`.
  if (code === 'invalid_type' && input === undefined) return REQUIRED
  if (code === 'invalid_type' && issue.expected in KINDS) {
    const isNumber = issue.expected === 'number' || issue.expected === 'int'
    const range = isNumber ? rangeOf(issue) : ''
    return `must be ${KINDS[issue.expected]}${range && `, ${range}`}`
  }
  if (code === 'invalid_format' && issue.format in FORMATS) return `must be ${FORMATS[issue.format]}`
  if (code === 'invalid_value') return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
  if (code === 'too_small' || code === 'too_big')
    return `must ${Array.isArray(input) ? 'have' : 'be'} ${rangeOf(issue)}`
  return undefined
}

/** Describes the rejected value for a message: its length if that is the problem, otherwise the value. */
function sent({ code, input }: z.core.$ZodIssue): string {
  if (code === 'too_small' || code === 'too_big')
    return typeof input === 'string'
      ? String(Array.from(input).length)
      : Array.isArray(input)
        ? String(input.length)
        : String(input)
  if (Array.isArray(input)) return 'a list'
  if (typeof input === 'object' && input !== null) return 'an object'
  return JSON.stringify(typeof input === 'string' ? input.slice(0, MAX_SHOWN).toWellFormed() : input)
}

/** Returns the message of an issue, which needs its `input`: the rule for the field, and the value that it had. */
export function messageOf(issue: z.core.$ZodIssue): string {
  const { code, input, message, path } = issue
  // Conditions that concern more than the value have complete messages. Callers log messages, so no password is repeated.
  if (input === undefined || code === 'custom' || path.at(-1) === 'password') return message
  return `${message}, not ${sent(issue)}`
}
