import { setQuery } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { Choice } from '../controls/choice.tsx'
import { lastDays, moved, type Period, queryOf, rangeOf, RANGES, today } from './period.ts'

interface Properties {
  period: Period
  /** The number of days without a choice. */
  usual?: number
}

/** The days of a page: the last 7, 30, 90 or 365, or two dates. The choice is in the address. */
export function PeriodField({ period, usual = 30 }: Properties) {
  const show = (chosen: Period) => setQuery(queryOf(chosen, usual))
  const day = (name: 'from' | 'to', label: string) => (
    <input
      type="date"
      aria-label={label}
      value={period[name]}
      max={today()}
      required
      onChange={({ currentTarget: { value, validity } }) => validity.valid && show(moved(period, name, value))}
    />
  )
  return (
    <div class="period">
      <Choice
        label={t('Days')}
        value={String(rangeOf(period) ?? '')}
        options={RANGES.map((range) => [String(range), tn({ one: '{n} day', other: '{n} days' }, range)])}
        onChange={(range) => show(lastDays(Number(range)))}
      />
      <div class="period-dates" role="group" aria-label={t('Dates')}>
        {day('from', t('First day'))}
        <span aria-hidden="true">–</span>
        {day('to', t('Last day'))}
      </div>
    </div>
  )
}
