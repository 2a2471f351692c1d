import { hours, listText, number } from '../../base/format.ts'
import { t, tn } from '../../base/text.ts'
import type { ComparedStats, Stats } from '../../data/stats.ts'
import { sumOf } from '../../ui/charts/days.ts'
import { CountingLink } from './counting_link.tsx'
import { reasonText } from './listening.ts'

interface Properties extends Pick<ComparedStats, 'rows'> {
  /** Reports of the period that were not counted, which only the organization has. */
  refused: NonNullable<Stats['refused']>
}

/** The numbers that have no chart, and the reports that were not counted. */
export function ListeningNotes({ rows, refused }: Properties) {
  const [downloads, muted, fast] = [sumOf(rows, 'downloads'), sumOf(rows, 'muted_seconds'), sumOf(rows, 'fast_seconds')]
  const count = refused.reduce((sum, { reports }) => sum + reports, 0)
  const facts = [
    downloads > 0 && tn({ one: '{n} download', other: '{n} downloads' }, downloads),
    muted > 0 && t('{time} played muted and does not count as time heard', { time: hours(muted) }),
    fast > 0 && t('{time} of the time heard played faster than normal speed', { time: hours(fast) }),
  ].filter((fact) => fact !== false)
  return (
    <div class="listening-notes soft">
      {facts.length > 0 && <p>{facts.join(' · ')}</p>}
      {count > 0 && (
        <p>
          {tn(
            { one: '{n} report was not counted: {reasons}', other: '{n} reports were not counted: {reasons}' },
            count,
            { reasons: listText(refused.map(({ reason, reports }) => `${reasonText(reason)} (${number(reports)})`)) },
          )}
        </p>
      )}
      <p>
        {t('Days are in UTC.')} <CountingLink />
      </p>
    </div>
  )
}
