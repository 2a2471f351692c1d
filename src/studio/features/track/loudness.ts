import { signed } from '../../base/format.ts'
import { t } from '../../base/text.ts'

/** The loudness in LUFS at which most streaming services play. */
export const TARGET = -14

/** Compares a loudness with that of streaming services. */
export function loudnessNote(lufs: number): string {
  const difference = lufs - TARGET
  const n = signed(Math.abs(difference), 'LU')
  if (Math.abs(difference) < 1) return t('At the usual level of streaming services, −14 LUFS')
  return difference > 0
    ? t('{n} above the usual level of streaming services', { n })
    : t('{n} below the usual level of streaming services', { n })
}

/** Returns the factors with which two sounds are equally loud, of which the second is louder by a difference in decibels. */
export const gainsFor = (difference: number): [number, number] => [
  10 ** (Math.min(0, difference) / 20),
  10 ** (Math.min(0, -difference) / 20),
]
