import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Limit, limitsOf } from '../../src/contract/limit.ts'
import { root } from './settings.ts'

/** The limits of the service, with the defaults of wrangler.toml. */
export function standardLimits(): Limit[] {
  const text = readFileSync(join(root, 'wrangler.toml'), 'utf8')
  const standard = (name: string) => new RegExp(`^${name} = "(.*?)"`, 'm').exec(text)![1]!
  return limitsOf({
    MAX_UPLOAD_BYTES: standard('MAX_UPLOAD_BYTES'),
    MAX_DURATION_SECONDS: standard('MAX_DURATION_SECONDS'),
  })
}

const UNITS: [string, number, string][] = [
  ['bytes', 1e9, 'GB'],
  ['bytes', 1e6, 'MB'],
  ['bytes', 2 ** 20, 'MiB'],
  ['bytes', 1024, 'KiB'],
  ['pixels', 1e6, 'megapixels'],
  ['seconds', 7 * 86_400, 'week'],
  ['seconds', 3600, 'h'],
  ['seconds', 60, 'min'],
]

/** Formats a number with its unit. If the value is a whole number in a larger unit, that is added in parentheses. */
export function amount(value: number, unit: string): string {
  const larger = UNITS.find(([of, size]) => of === unit && value % size === 0)
  return `${value.toLocaleString('en')} ${unit}${larger ? ` (${value / larger[1]} ${larger[2]})` : ''}`
}
