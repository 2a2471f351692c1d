import type { ApiKey } from '../../base/api.ts'
import { bytes, exactBytes, hours, number, plural } from '../../base/format.ts'
import { type PageProperties, setQuery } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { useQuery } from '../../data/query.ts'
import { firstDay, rangeOf, RANGES, shortDay, spanSize, spansOf, sumOf } from '../../ui/charts/days.ts'
import { Figure, FigureRow } from '../../ui/charts/figure_row.tsx'
import { Meter } from '../../ui/charts/meter.tsx'
import { PartsBar } from '../../ui/charts/parts_bar.tsx'
import { TimeChart } from '../../ui/charts/time_chart.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { Chips } from '../../ui/controls/chips.tsx'
import { downloadText } from '../../ui/controls/download.ts'
import { NotLoaded } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { KeyUse } from '../keys/key_use.tsx'
import { COUNTS, toCsv, type UsageDay } from './days.ts'
import { storageParts, type Usage } from './storage.ts'

/** The page Usage: storage, uploads and sessions by day, and the limits of the organization and its keys. */
export function UsagePage({ query }: PageProperties) {
  const client = useClient()
  const range = rangeOf(query.days)
  const { answer, problem, reload } = useQuery({
    key: ['/v1/usage', range],
    showsPrevious: true,
    load: () => client.get('/v1/usage', { query: { from: firstDay(range) } }),
  })
  useTitle(t('Usage'))
  if (!answer) return <NotLoaded problem={problem} reload={reload} />
  const { usage, quota } = answer
  const { days } = usage
  return (
    <>
      <div class="page-head">
        <h1>{t('Usage')}</h1>
        <Button
          icon="download"
          onClick={() => downloadText(`usage-${days[0]!.date}-${days.at(-1)!.date}.csv`, 'text/csv', toCsv(days))}
        >
          {t('Download CSV')}
        </Button>
      </div>
      <FigureRow>
        <Figure term={t('Tracks')} value={number(usage.tracks)} />
        <Figure
          term={t('Length')}
          value={hours(usage.duration)}
          exact={t('{n} seconds', { n: number(Math.round(usage.duration)) })}
        />
        <Figure term={t('Stored')} value={bytes(usage.bytes.total)} exact={exactBytes(usage.bytes.total)} />
        <Figure
          term={t('Uploaded files')}
          value={bytes(usage.bytes.original)}
          exact={exactBytes(usage.bytes.original)}
        />
      </FigureRow>
      <section class="part usage-days" aria-label={t('By day')}>
        <Chips
          label={t('Days')}
          value={String(range)}
          options={RANGES.map((days) => [String(days), tn({ one: '{n} day', other: '{n} days' }, days)])}
          onChange={(days) => setQuery({ days })}
        />
        <Charts days={days} />
        <p class="soft">
          {t('Days are in UTC. A play session is counted after it has ended, on the day on which it was created.')}
        </p>
      </section>
      <div class="two-parts">
        <section class="part" aria-labelledby="variants-title">
          <h2 id="variants-title">{t('By variant')}</h2>
          <Variants usage={usage} />
        </section>
        <section class="part usage-limits" aria-labelledby="limits-title">
          <h2 id="limits-title">{t('Limits')}</h2>
          <Meter label={t('Storage')} used={quota.used_bytes} limit={quota.max_bytes} format={bytes} />
          {quota.max_bytes !== null && (
            <p class="soft">
              {t(
                'Includes tracks in the trash, files that are not processed yet, and uploads that are in progress. Uploads that do not fit are rejected. The operator of this service sets the limit.',
              )}
            </p>
          )}
          <KeyLimits />
        </section>
      </div>
    </>
  )
}

function Charts({ days }: { days: readonly UsageDay[] }) {
  const size = spanSize(days.length)
  const spans = spansOf(days, COUNTS, size)
  const count = (name: 'sessions' | 'uploads' | 'upload_bytes', label: string, format: (value: number) => string) => ({
    label,
    summary: t('{n} in total', { n: format(sumOf(days, name)) }),
    values: spans.map((span) => span[name]),
    format,
  })
  const stored = days.at(-1)!
  return (
    <TimeChart
      label={size === 1 ? t('Usage by day') : t('Usage by week')}
      spans={spans.map(({ text }) => text)}
      first={shortDay(days[0]!.date)}
      last={shortDay(stored.date)}
      series={[
        count('sessions', t('Play sessions'), number),
        count('uploads', t('Uploads'), number),
        count('upload_bytes', t('Uploaded'), bytes),
        {
          label: t('Stored'),
          summary: `${bytes(stored.bytes)} · ${plural(stored.tracks, 'track')}`,
          values: spans.map((span) => span.bytes),
          format: bytes,
          isLevel: true,
        },
      ]}
    />
  )
}

function Variants({ usage }: { usage: Usage }) {
  if (usage.bytes.total === 0) return <p class="soft">{t('Nothing is stored yet.')}</p>
  const parts = storageParts(usage).map(({ files, ...part }) => ({
    ...part,
    note: tn({ one: '{n} file', other: '{n} files' }, files),
  }))
  return <PartsBar label={t('Storage by variant')} format={bytes} parts={parts} />
}

/** The daily limits of the uploader keys, and their use today. */
function KeyLimits() {
  const { entries } = useList('/v1/api_key', ({ api_keys }) => api_keys)
  const uploaderKeys = entries.filter(({ type }: ApiKey) => type === 'uploader')
  if (uploaderKeys.length === 0) return null
  return (
    <ul class="key-limits" aria-label={t('Uploader keys')}>
      {uploaderKeys.map((key) => (
        <li key={key.id}>
          <span class="name">{key.title}</span>
          <KeyUse api_key={key} />
        </li>
      ))}
    </ul>
  )
}
