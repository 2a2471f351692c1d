const parts = (seconds: number) => {
  const whole = Math.max(0, Math.floor(seconds || 0))
  return [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60] as const
}

/** `75.4` → `1:15`, `3700` → `1:01:40`. */
export function clock(seconds: number): string {
  const [hours, minutes, rest] = parts(seconds)
  const two = (value: number) => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

/** `75.4` → `1 minute 15 seconds` in a language, for screen readers: many read `1:15` as a time of day. */
export function spoken(seconds: number, locale: string): string {
  const units = ['hour', 'minute', 'second']
  const said = parts(seconds).flatMap((value, i) => {
    if (value === 0 && !(i === 2 && seconds < 60)) return []
    return formatOf(locale, units[i]!).format(value)
  })
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
