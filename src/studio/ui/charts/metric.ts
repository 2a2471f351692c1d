import { leftToRight, percent } from '../../base/format.ts'
import { t } from '../../base/text.ts'

/** A number, that of the period before, and the number of days of each. */
export interface Compared {
  now: number
  before: number
  days: number
}

/** A change is shown up to this fraction; a larger one as a multiple. */
const MOST = 9.995

/** Returns a change as `+12 %`, `−3 %` or `×14`; null if there was nothing before. */
export function changeText({ now, before }: Pick<Compared, 'now' | 'before'>): string | null {
  if (before === 0) return null
  const change = now / before - 1
  if (change > MOST) return t('×{n}', { n: Math.round(now / before) })
  const rounded = Math.round(change * 100)
  const sign = rounded === 0 ? '±' : rounded > 0 ? '+' : '−'
  return `${leftToRight()}${sign}${percent(Math.abs(rounded) / 100)}`
}

/** Returns the direction of a change: -1, 0 or 1. */
export const direction = ({ now, before }: Pick<Compared, 'now' | 'before'>) => Math.sign(now - before)

/** A number that can be chosen for the chart. */
export interface Metric<T extends string> {
  name: T
  label: string
  value: string
  /** The exact value, shown when the pointer is on the rounded one. */
  exact?: string
  /** A text next to the value. */
  note?: string
  /** Null without days to compare with. */
  compared?: Compared | null
  /** The numbers of the period. */
  line: readonly number[]
}
