import { MAX_PAGE } from '../../../contract/facts.ts'
import type { StatsScope } from '../../base/api.ts'
import { hours, listText, number, percent } from '../../base/format.ts'
import { href, type PageProperties, setQuery } from '../../base/route.ts'
import { t, text, tn } from '../../base/text.ts'
import { useConnection } from '../../data/connection.ts'
import { useOrganization } from '../../data/organization.ts'
import { type Stats, type StatsOf, useStats } from '../../data/stats.ts'
import { type ResourceScope, useResourceTitle } from '../../data/title.ts'
import { firstDay, isMonth, monthsOf, rangeOf, RANGES, shortDay, spanSize, spansOf } from '../../ui/charts/days.ts'
import { Figure, FigureRow } from '../../ui/charts/figure_row.tsx'
import { PartsBar } from '../../ui/charts/parts_bar.tsx'
import { TimeChart } from '../../ui/charts/time_chart.tsx'
import { Chips } from '../../ui/controls/chips.tsx'
import { Menu } from '../../ui/controls/menu.tsx'
import { Empty, Loading, NotLoaded, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { downloadCsv } from './download_csv.ts'
import { countryName, filterOf, partsOf, reasonText, SELECTIONS } from './listening.ts'
import { RoundedNote } from './rounded_note.tsx'
import { TopTracks } from './top_tracks.tsx'

/** The page Listening: the statistics of the organization, or of one resource. The address has the resource and the number of days. */
export function ListeningPage({ query }: PageProperties) {
  const filter = filterOf(query)
  const days = rangeOf(query.days)
  useTitle(t('Listening'))
  // Without the key, the numbers of the previous resource would stay until those of the next are read.
  return filter ? <Listening key={filter.id} of={filter} days={days} /> : <AllListening days={days} />
}

function AllListening({ days }: { days: number }) {
  const { answer, problem, reload } = useOrganization()
  if (!answer) return <NotLoaded problem={problem} reload={reload} />
  return <Listening of={{ scope: 'organization', id: answer.organization.id }} days={days} />
}

interface ListeningProperties {
  of: { scope: StatsScope; id: string }
  days: number
}

function Listening({ of: { scope, id }, days }: ListeningProperties) {
  const of: StatsOf = { scope, id, days }
  const { answer, problem, reload } = useStats(of)
  if (!answer) return <NotLoaded problem={problem} reload={reload} />
  const { totals, refused = [] } = answer
  const isHeard = totals.visits > 0 || totals.plays > 0 || totals.seconds > 0 || totals.downloads > 0
  const isAll = scope === 'organization'
  const countries = (
    <Parts of={of} by="country" title={t('Countries')} nameOf={countryName}>
      {t('Countries with fewer than five visits are counted under Others.')}
    </Parts>
  )
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t('Listening')}</h1>
          {!isAll && <Filter scope={scope} id={id} />}
        </div>
        {isHeard && <CsvMenu of={of} />}
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      <Chips
        label={t('Days')}
        value={String(days)}
        options={RANGES.map((range) => [String(range), tn({ one: '{n} day', other: '{n} days' }, range)])}
        onChange={(range) => setQuery({ days: range })}
      />
      {isHeard ? (
        <>
          <Totals totals={totals} />
          <Chart rows={answer.rows} />
          <RoundedNote answer={answer} />
          <div class="two-parts">
            {isAll ? <TopTracks days={days} /> : countries}
            <div class="part listening-from">
              {isAll && countries}
              <Parts of={of} by="source" title={t('Sources')} nameOf={String}>
                {t('The sites and apps in which the player was used.')}
              </Parts>
            </div>
          </div>
        </>
      ) : (
        <NothingHeard days={days} />
      )}
      <Notes totals={totals} refused={refused} isHeard={isHeard} />
    </>
  )
}

/** The resource that is selected, and the link to everything. */
function Filter({ scope, id }: { scope: ResourceScope; id: string }) {
  const { answer } = useResourceTitle({ scope, id })
  return (
    <p class="soft listening-filter">
      <span>{answer?.title ? t(SELECTIONS[scope], { title: answer.title }) : '\u00a0'}</span>
      <a href={href('listening')}>{t('Show everything')}</a>
    </p>
  )
}

function CsvMenu({ of }: { of: StatsOf }) {
  const { api_key } = useConnection()
  const { scope, id, days = 30 } = of
  const from = firstDay(days)
  const stats = (by: string) => () =>
    downloadCsv(api_key, `/v1/stats/${scope}/${id}?from=${from}&by=${by}`, `listening-${by}-${from}.csv`)
  return (
    <Menu
      label={t('Download CSV')}
      text={t('Download CSV')}
      icon="download"
      items={[
        { label: t('By day'), onSelect: stats('day') },
        { label: t('Countries'), onSelect: stats('country') },
        { label: t('Sources'), onSelect: stats('source') },
        ...(scope === 'organization'
          ? [
              {
                label: t('Most played tracks'),
                onSelect: () =>
                  downloadCsv(api_key, `/v1/stats/top?from=${from}&limit=${MAX_PAGE}`, `listening-tracks-${from}.csv`),
              },
            ]
          : []),
      ]}
    />
  )
}

const Totals = ({ totals: { plays, visits, seconds, completions } }: Pick<Stats, 'totals'>) => (
  <FigureRow>
    <Figure term={t('Plays')} value={number(plays)} />
    <Figure term={t('Visits')} value={number(visits)} />
    <Figure
      term={t('Time heard')}
      value={hours(seconds)}
      exact={t('{n} seconds', { n: number(Math.round(seconds)) })}
    />
    <Figure
      term={t('Completed (90 %)')}
      value={number(completions)}
      note={plays > 0 ? t('{share} of all plays', { share: percent(completions / plays) }) : ''}
    />
  </FigureRow>
)

/** The columns of the chart, all of which are counts. */
const COUNTS = ['plays', 'visits', 'seconds', 'completions'] as const

/** The texts of a chart by its spans. */
const CHARTS = {
  day: [text('Listening by day'), text('peak: {n} in a day')],
  week: [text('Listening by week'), text('peak: {n} in a week')],
  month: [text('Listening by month'), text('peak: {n} in a month')],
} as const

function Chart({ rows }: Pick<Stats, 'rows'>) {
  const days = rows.map((row) => ({ ...row, date: row.key! }))
  const isByMonth = isMonth(days[0]!.date)
  const size = spanSize(days.length)
  const spans = isByMonth ? monthsOf(days, COUNTS) : spansOf(days, COUNTS, size)
  const [label, peak] = CHARTS[isByMonth ? 'month' : size === 1 ? 'day' : 'week']
  const count = (name: (typeof COUNTS)[number], label: string, format: (value: number) => string) => {
    const values = spans.map((span) => span[name])
    return { label, summary: t(peak, { n: format(Math.max(...values)) }), values, format }
  }
  return (
    <TimeChart
      label={t(label)}
      spans={spans.map((span) => span.text)}
      first={isByMonth ? spans[0]!.text : shortDay(days[0]!.date)}
      last={isByMonth ? spans.at(-1)!.text : shortDay(days.at(-1)!.date)}
      series={[
        count('plays', t('Plays'), number),
        count('seconds', t('Time heard'), hours),
        count('visits', t('Visits'), number),
        count('completions', t('Completed (90 %)'), number),
      ]}
    />
  )
}

interface PartsProperties {
  of: StatsOf
  by: 'country' | 'source'
  title: string
  nameOf: (key: string) => string
  /** A note below the bar. */
  children: string
}

/** The plays by country or source, as parts of a bar. */
function Parts({ of, by, title, nameOf, children }: PartsProperties) {
  const { answer, problem, reload } = useStats(of, by)
  const parts = partsOf(answer?.rows ?? [], nameOf, t('Others'))
  return (
    <section class="part">
      <h2>{title}</h2>
      {problem && <Problem failure={problem} retry={reload} />}
      {!answer && !problem && <Loading rows={3} />}
      {parts.length > 0 && <PartsBar label={title} parts={parts} format={number} />}
      {answer && <p class="soft">{parts.length > 0 ? children : t('No plays yet.')}</p>}
    </section>
  )
}

const CountingLink = () => (
  <a href="/docs/counting" target="_blank" rel="noopener">
    {t('How listening is counted')}
  </a>
)

const NothingHeard = ({ days }: { days: number }) => (
  <Empty
    title={days === RANGES.at(-1) ? t('Nothing was heard in the last year') : t('Nothing was heard in this period')}
    action={<CountingLink />}
  >
    {t(
      'The players on your pages and on the pages of your links report the seconds that were actually heard. Seeking, pauses and muted playback do not count. No cookies are set, and listeners are not identified.',
    )}
  </Empty>
)

interface NotesProperties extends Pick<Stats, 'totals'> {
  refused: NonNullable<Stats['refused']>
  isHeard: boolean
}

/** The numbers that are not in the totals, and the reports that were not counted. */
function Notes({ totals: { downloads, muted_seconds, fast_seconds }, refused, isHeard }: NotesProperties) {
  const count = refused.reduce((sum, { reports }) => sum + reports, 0)
  const facts = [
    downloads > 0 && tn({ one: '{n} download', other: '{n} downloads' }, downloads),
    muted_seconds > 0 && t('{time} played muted and does not count as time heard', { time: hours(muted_seconds) }),
    fast_seconds > 0 && t('{time} of the time heard played faster than normal speed', { time: hours(fast_seconds) }),
  ].filter((fact) => fact !== false)
  return (
    <div class="listening-notes soft">
      {facts.length > 0 && <p>{facts.join(' · ')}</p>}
      {count > 0 && (
        <p>
          {tn(
            { one: '{n} report was not counted: {reasons}', other: '{n} reports were not counted: {reasons}' },
            count,
            {
              reasons: listText(refused.map(({ reason, reports }) => `${reasonText(reason)} (${number(reports)})`)),
            },
          )}
        </p>
      )}
      {isHeard && (
        <p>
          {t('Days are in UTC.')} <CountingLink />
        </p>
      )}
    </div>
  )
}
