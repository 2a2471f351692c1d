import { formatClock } from '../../contract/facts.ts'

export { formatClock }

/**
 * Formats `75.4` as `1 minute 15 seconds` in a language. Screen readers get this text, because many of them read `1:15` as a time of day. `short`
 * returns `1 min 15 sec`.
 */
export function spoken(seconds: number, locale: string, unitDisplay: 'long' | 'short' = 'long'): string {
  const parts = formatClock(seconds).split(':').map(Number)
  const words = ['hour', 'minute', 'second']
    .slice(-parts.length)
    .flatMap((unit, i) =>
      parts[i] || (unit === 'second' && seconds < 60)
        ? formatOf(locale, { style: 'unit', unit, unitDisplay }).format(parts[i]!)
        : [],
    )
  return words.join(' ')
}

function formatOf(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(locale, options)
  } catch {
    // The locale is not a valid language tag, e.g. `en_US`.
    return new Intl.NumberFormat('en', options)
  }
}
