import type { ApiKey } from '../../base/api.ts'
import { bytes, hours, plural } from '../../base/format.ts'
import type { PageProperties } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useList } from '../../data/list.ts'
import { knownDays, type Usage, useComparedUsage } from '../../data/usage.ts'
import { BarRows } from '../../ui/charts/bar_rows.tsx'
import { Meter } from '../../ui/charts/meter.tsx'
import { periodOf } from '../../ui/charts/period.ts'
import { PeriodField } from '../../ui/charts/period_field.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { downloadText } from '../../ui/controls/download.ts'
import { NotLoaded } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { KeyUse } from '../keys/key_use.tsx'
import { toCsv } from './days.ts'
import { storageParts } from './storage.ts'
import { UsageCard } from './usage_card.tsx'

/** The page Usage: storage, uploads and sessions by day, and the limits of the organization and its keys. */
export function UsagePage({ query }: PageProperties) {
  const period = periodOf(query)
  const { answer, problem, reload } = useComparedUsage(period)
  useTitle(t('Usage'))
  if (!answer) return <NotLoaded problem={problem} reload={reload} />
  const { usage, quota } = answer
  const { days } = usage
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t('Usage')}</h1>
          <p class="soft">{[plural(usage.tracks, 'track'), hours(usage.duration)].join(' · ')}</p>
        </div>
        <Button
          icon="download"
          onClick={() => downloadText(`usage-${days[0]!.date}-${days.at(-1)!.date}.csv`, 'text/csv', toCsv(days))}
        >
          {t('Download CSV')}
        </Button>
      </div>
      <PeriodField period={knownDays(period)} />
      <UsageCard answer={answer} show={query.show} />
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
      <p class="part-note soft">{t('Days are in UTC.')}</p>
    </>
  )
}

function Variants({ usage }: { usage: Usage }) {
  if (usage.bytes.total === 0) return <p class="soft">{t('Nothing is stored yet.')}</p>
  const bars = storageParts(usage).map(({ files, ...part }) => ({
    ...part,
    key: null,
    note: tn({ one: '{n} file', other: '{n} files' }, files),
  }))
  return <BarRows label={t('Storage by variant')} format={bytes} bars={bars} />
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
          <span class="name">
            <bdi>{key.title}</bdi>
          </span>
          <KeyUse api_key={key} />
        </li>
      ))}
    </ul>
  )
}
