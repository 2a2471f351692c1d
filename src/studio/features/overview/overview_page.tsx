import { bytes, exactBytes, hours, leftToRight, number, plural } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useOrganization } from '../../data/organization.ts'
import { type Query, useQuery } from '../../data/query.ts'
import { type Stats, useStats } from '../../data/stats.ts'
import { shortDay, spansOf, sumOf } from '../../ui/charts/days.ts'
import { Figure, FigureRow } from '../../ui/charts/figure_row.tsx'
import { PartsBar } from '../../ui/charts/parts_bar.tsx'
import { TimeChart } from '../../ui/charts/time_chart.tsx'
import { Loading, NotLoaded, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { CoverCard } from '../library/cover_card.tsx'
import { COUNTS, type UsageDay } from '../usage/days.ts'
import { storageParts, type Usage } from '../usage/storage.ts'
import { AttentionList } from './attention_list.tsx'
import { FirstRun } from './first_run.tsx'
import { readRecent, type RecentCollections } from './overview_data.ts'

/** Number of variants that the list names. The others are added up. */
const PARTS = 5

/** The start page: figures and activity of the last 30 days, things that need attention, and the newest collections. */
export function OverviewPage() {
  const client = useClient()
  const usage = useQuery({ key: ['/v1/usage'], load: () => client.get('/v1/usage') })
  const organization = useOrganization()
  const stats = useStats({ scope: 'organization', id: organization.answer?.organization.id })
  const unread = organization.problem ? organization : stats
  const recent = useQuery({ key: ['recent collections'], load: () => readRecent(client) })
  useTitle(t('Overview'))
  if (!usage.answer) return <NotLoaded problem={usage.problem} reload={usage.reload} />
  const { usage: all, quota } = usage.answer
  // Until the collections are read, it is not known whether there is any content.
  if (all.tracks === 0 && !recent.answer && !recent.problem)
    return <NotLoaded problem={undefined} reload={usage.reload} />
  const isEmpty = all.tracks === 0 && recent.answer?.count === 0
  return (
    <>
      <h1>{t('Overview')}</h1>
      {isEmpty ? (
        <FirstRun />
      ) : (
        <>
          {unread.problem && <Problem failure={unread.problem} retry={unread.reload} />}
          <Figures usage={all} stats={stats.answer} />
          <div class="two-parts">
            <ActivityChart days={all.days} stats={stats.answer} />
            <Storage usage={all} />
          </div>
          <section class="part" aria-labelledby="attention-title">
            <h2 id="attention-title">{t('Needs attention')}</h2>
            <AttentionList quota={quota} />
          </section>
          <Recent recent={recent} />
        </>
      )}
    </>
  )
}

function Recent({ recent: { answer, problem, reload } }: { recent: Query<RecentCollections> }) {
  return (
    <section class="part" aria-labelledby="recent-title">
      <div class="section-head">
        <h2 id="recent-title">{t('New collections')}</h2>
        <a href={href('library')}>{t('All collections')}</a>
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {!answer && !problem && <Loading kind="cards" rows={8} />}
      <ul class="recent">
        {answer?.collections.map(({ id, title, artwork, counts, player_subtitle }) => (
          <CoverCard
            key={id}
            href={href('collection', id)}
            title={title}
            cover={artwork}
            note={[player_subtitle, counts && plural(counts.tracks, 'track')].filter(Boolean).join(' · ')}
          />
        ))}
      </ul>
    </section>
  )
}

/** Returns a difference as `+12` or `−3`. */
const changeOf = (difference: number, format: (value: number) => string) =>
  difference === 0
    ? t('no change in 30 days')
    : t('{change} in 30 days', {
        change: `${leftToRight()}${difference > 0 ? '+' : '−'}${format(Math.abs(difference))}`,
      })

interface StatsProperties {
  /** Undefined until it is read. */
  stats: Stats | undefined
}

function Figures({ usage, stats }: StatsProperties & { usage: Usage }) {
  const { days } = usage
  const levelsOf = (name: 'tracks' | 'duration' | 'bytes') => days.map((day) => day[name])
  const grown = (name: 'tracks' | 'duration' | 'bytes', format: (value: number) => string) =>
    changeOf(days.at(-1)![name] - days[0]![name], format)
  return (
    <FigureRow>
      <Figure
        term={t('Tracks')}
        value={number(usage.tracks)}
        note={grown('tracks', number)}
        line={levelsOf('tracks')}
      />
      <Figure
        term={t('Length')}
        value={hours(usage.duration)}
        exact={t('{n} seconds', { n: number(Math.round(usage.duration)) })}
        note={grown('duration', hours)}
        line={levelsOf('duration')}
      />
      <Figure
        term={t('Stored')}
        value={bytes(usage.bytes.total)}
        exact={exactBytes(usage.bytes.total)}
        note={grown('bytes', bytes)}
        line={levelsOf('bytes')}
      />
      <Figure
        term={t('Plays')}
        value={stats ? number(stats.totals.plays) : '–'}
        // Until the statistics are read, the figure has the same height.
        note={stats ? t('{time} heard in 30 days', { time: hours(stats.totals.seconds) }) : '\u00a0'}
        line={stats ? stats.rows.map(({ plays }) => plays) : []}
        href={href('listening')}
      />
    </FigureRow>
  )
}

function ActivityChart({ days, stats }: StatsProperties & { days: readonly UsageDay[] }) {
  const spans = spansOf(days, COUNTS)
  const heardOn = new Map(stats?.rows.map((row) => [row.key, row]))
  const heard = (name: 'plays' | 'seconds', label: string, format: (value: number) => string) => ({
    label,
    summary: stats ? t('{n} in 30 days', { n: format(stats.totals[name]) }) : '–',
    values: stats ? days.map(({ date }) => heardOn.get(date)?.[name] ?? 0) : [],
    format,
  })
  return (
    <TimeChart
      label={t('Activity by day')}
      spans={spans.map(({ text }) => text)}
      first={shortDay(days[0]!.date)}
      last={shortDay(days.at(-1)!.date)}
      series={[
        heard('plays', t('Plays'), number),
        heard('seconds', t('Time heard'), hours),
        {
          label: t('Play sessions'),
          summary: t('{n} in 30 days, counted up to 70 minutes after they end', { n: number(sumOf(days, 'sessions')) }),
          values: spans.map(({ sessions }) => sessions),
          format: number,
        },
        {
          label: t('Uploads'),
          summary: t('{n} in 30 days', { n: number(sumOf(days, 'uploads')) }),
          values: spans.map(({ uploads }) => uploads),
          format: number,
        },
      ]}
    />
  )
}

function Storage({ usage }: { usage: Usage }) {
  return (
    <section class="part" aria-labelledby="storage-title">
      <div class="section-head">
        <h2 id="storage-title">{t('Storage')}</h2>
        <a href={href('usage')}>{t('Usage')}</a>
      </div>
      {usage.bytes.total > 0 ? (
        <PartsBar label={t('Storage by variant')} parts={storageParts(usage, PARTS)} format={bytes} />
      ) : (
        <p class="soft">{t('Nothing is stored yet.')}</p>
      )}
    </section>
  )
}
