import { bytes, exactBytes, hours, joined, leftToRight, number, plural } from '../../base/format.ts'
import { href, type PageProperties } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useOrganization } from '../../data/organization.ts'
import { type Query, useQuery } from '../../data/query.ts'
import { type ComparedStats, useComparedStats } from '../../data/stats.ts'
import { chartOf, datesOf, metricTab, nameOfBefore } from '../../data/stats_charts.ts'
import { type ComparedUsage, useComparedUsage } from '../../data/usage.ts'
import { sumOf } from '../../ui/charts/days.ts'
import { Difference } from '../../ui/charts/difference.tsx'
import { Figure, FigureRow } from '../../ui/charts/figure_row.tsx'
import { Legend, TimeChart } from '../../ui/charts/lazy_chart.tsx'
import { daysOf, lastDays, periodOf } from '../../ui/charts/period.ts'
import { PeriodField } from '../../ui/charts/period_field.tsx'
import { lazyPage } from '../../ui/page/lazy_page.tsx'
import { Loading, NotLoaded, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { CoverCard } from '../library/cover_card.tsx'
import { MostPlayed } from '../listening/most_played.tsx'
import { storageParts } from '../usage/storage.ts'
import { AttentionList } from './attention_list.tsx'
import { FirstRun } from './first_run.tsx'
import { readRecent, type RecentCollections } from './overview_data.ts'

const NothingHeard = lazyPage(async () => (await import('../listening/nothing_heard.tsx')).NothingHeard)

/** Number of variants that the bar of the storage shows. The others are added up. */
const PARTS = 4
/** Number of tracks of the last week that are listed. */
const TRACKS = 5

/** The start page: figures of a period, things that need attention, the plays, and the newest collections. */
export function OverviewPage({ query }: PageProperties) {
  const client = useClient()
  const period = periodOf(query)
  const usage = useComparedUsage(period)
  const organization = useOrganization()
  const id = organization.answer?.organization.id
  const stats = useComparedStats({ scope: 'organization', id, period })
  const unread = organization.problem ? organization : stats
  const recent = useQuery({ key: ['recent collections'], load: () => readRecent(client) })
  useTitle(t('Overview'))
  if (!usage.answer) return <NotLoaded problem={usage.problem} reload={usage.reload} />
  const { tracks } = usage.answer.usage
  // Until the collections are read, it is not known whether there is any content.
  if (tracks === 0 && !recent.answer && !recent.problem) return <NotLoaded problem={undefined} reload={usage.reload} />
  if (tracks === 0 && recent.answer?.count === 0) {
    return (
      <>
        <h1>{t('Overview')}</h1>
        <FirstRun />
      </>
    )
  }
  const isHeard = !stats.answer || sumOf(stats.answer.rows, 'visits') > 0
  return (
    <>
      <div class="page-head overview-head">
        <h1>{t('Overview')}</h1>
        <PeriodField period={period} />
      </div>
      {unread.problem && <Problem failure={unread.problem} retry={unread.reload} />}
      <Figures usage={usage.answer} stats={stats.answer} />
      <AttentionList quota={usage.answer.quota} />
      {isHeard || !id ? (
        <div class="two-parts">
          <Plays stats={stats.answer} />
          {/* Without plays, it would be one request too many. */}
          {stats.answer && <MostPlayed title={t('Most played this week')} period={lastDays(7)} count={TRACKS} />}
        </div>
      ) : (
        <NothingHeard scope="organization" id={id} period={period} isPlace={false} />
      )}
      <Recent recent={recent} />
    </>
  )
}

interface StatsProperties {
  /** Undefined until it is read. */
  stats: ComparedStats | undefined
}

const Plays = ({ stats }: StatsProperties) => (
  <section class="part" aria-labelledby="plays-title">
    <div class="section-head">
      <h2 id="plays-title">{t('Plays')}</h2>
      {stats && (
        <div class="chart-head">
          <Legend label={datesOf(stats)} before={stats.before ? nameOfBefore(stats) : undefined} />
        </div>
      )}
    </div>
    {stats ? <TimeChart {...chartOf('plays', stats)} /> : <div class="chart-wait" aria-busy="true" />}
  </section>
)

function Recent({ recent: { answer, problem, reload } }: { recent: Query<RecentCollections> }) {
  return (
    <section class="part" aria-labelledby="recent-title">
      <div class="section-head">
        <h2 id="recent-title">{t('New collections')}</h2>
        <a href={href('library')}>{t('All collections')}</a>
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {!answer && !problem && <Loading kind="cards" rows={6} />}
      <ul class="recent">
        {answer?.collections.map(({ id, title, artwork, counts, player_subtitle }) => (
          <CoverCard
            key={id}
            href={href('collection', id)}
            title={title}
            cover={artwork}
            note={joined([player_subtitle, counts && plural(counts.tracks, 'track')])}
          />
        ))}
      </ul>
    </section>
  )
}

/** Returns a difference as `+12` or `−3`. */
const changeOf = (difference: number, days: number, format: (value: number) => string) =>
  difference === 0
    ? tn({ one: 'no change in {n} day', other: 'no change in {n} days' }, days)
    : tn({ one: '{change} in {n} day', other: '{change} in {n} days' }, days, {
        change: `${leftToRight()}${difference > 0 ? '+' : '−'}${format(Math.abs(difference))}`,
      })

function Figures({ usage: { usage, period }, stats }: StatsProperties & { usage: ComparedUsage }) {
  const { days } = usage
  const levelsOf = (name: 'tracks' | 'duration') => days.map((day) => day[name])
  const grown = (name: 'tracks' | 'duration' | 'bytes', format: (value: number) => string) =>
    changeOf(days.at(-1)![name] - days[0]![name], daysOf(period), format)
  const plays = stats && metricTab('plays', stats)
  return (
    <FigureRow>
      <Figure
        term={t('Plays')}
        value={plays ? plays.value : '–'}
        // Until the statistics are read, the figure has the same height.
        note={plays ? plays.compared && <Difference of={plays.compared} /> : '\u00a0'}
        line={plays?.line ?? []}
        href={href('listening')}
      />
      <Figure
        term={t('Tracks')}
        value={number(usage.tracks)}
        note={grown('tracks', number)}
        line={levelsOf('tracks')}
        href={href('library', 'tracks')}
      />
      <Figure
        term={t('Length')}
        value={hours(usage.duration)}
        exact={t('{n} seconds', { n: Math.round(usage.duration) })}
        note={grown('duration', hours)}
        line={levelsOf('duration')}
      />
      <Figure
        term={t('Stored')}
        value={bytes(usage.bytes.total)}
        exact={exactBytes(usage.bytes.total)}
        note={grown('bytes', bytes)}
        href={href('usage')}
      >
        <span class="stored-bar" aria-hidden="true">
          {storageParts(usage, PARTS).map(({ name, value }) => (
            <i key={name} title={`${name}: ${bytes(value)}`} style={{ flexGrow: value }} />
          ))}
        </span>
      </Figure>
    </FigureRow>
  )
}
