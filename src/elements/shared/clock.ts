import { clock } from '../../contract/facts.ts'

export { clock }

/** `75.4` → `1 minute 15 seconds` in a language, for screen readers: many read `1:15` as a time of day. */
export function spoken(seconds: number, locale: string): string {
  const parts = clock(seconds).split(':').map(Number)
  const said = ['hour', 'minute', 'second']
    .slice(-parts.length)
    .flatMap((unit, i) =>
      parts[i] || (unit === 'second' && seconds < 60) ? formatOf(locale, unit).format(parts[i]!) : [],
    )
  return said.join(' ')
}

function formatOf(locale: string, unit: string): Intl.NumberFormat {
  const options: Intl.NumberFormatOptions = { style: 'unit', unit, unitDisplay: 'long' }
  try {
    return new Intl.NumberFormat(locale, options)
  } catch {
    // Not a language tag, as `en_US`.
    return new Intl.NumberFormat('en', options)
  }
}
