import { formatClock } from '../../contract/facts.ts'

export { formatClock }

/** Formats `75.4` as `1 minute 15 seconds` in a language. Intended for screen readers, many of which read `1:15` as a time of day. */
export function spoken(seconds: number, locale: string): string {
  const parts = formatClock(seconds).split(':').map(Number)
  const words = ['hour', 'minute', 'second']
    .slice(-parts.length)
    .flatMap((unit, i) =>
      parts[i] || (unit === 'second' && seconds < 60) ? formatOf(locale, unit).format(parts[i]!) : [],
    )
  return words.join(' ')
}

function formatOf(locale: string, unit: string): Intl.NumberFormat {
  const options: Intl.NumberFormatOptions = { style: 'unit', unit, unitDisplay: 'long' }
  try {
    return new Intl.NumberFormat(locale, options)
  } catch {
    // The locale is not a valid language tag, e.g. `en_US`.
    return new Intl.NumberFormat('en', options)
  }
}
