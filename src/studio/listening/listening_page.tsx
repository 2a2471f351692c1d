import type { Failure } from '../api.ts'
import { useClient, useConnection } from '../data/connection.ts'
import { useOrganization } from '../data/organization.ts'
import { useQuery } from '../data/query.ts'
import { readStats, type Stats, type StatsOf, useStats } from '../data/stats.ts'
import { readTitle, type ResourceScope } from '../data/title.ts'
import { hours, listText, number, percent } from '../format.ts'
import { href, type PageProperties, setQuery } from '../route.ts'
import { t, text, tn } from '../text.ts'
import { Chips } from '../ui/chips.tsx'
import { firstDay, rangeOf, RANGES, shortDay, spanSize, spansOf } from '../ui/days.ts'
import { Figure, FigureRow } from '../ui/figure_row.tsx'
import { Menu } from '../ui/menu.tsx'
import { PartsBar } from '../ui/parts_bar.tsx'
import { Empty, Loading, NotLoaded, Problem } from '../ui/states.tsx'
import { TimeChart } from '../ui/time_chart.tsx'
import { useTitle } from '../ui/title.ts'
import { downloadCsv } from './download_csv.ts'
import { countryName, filterOf, partsOf, reasonText } from './listening.ts'
import { TopTracks } from './top_tracks.tsx'

/** The page Listening: the statistics of the organization, or of one resource. The address has the resource and the number of days. */
export function ListeningPage({ query }: PageProperties) {
  const organization = useOrganization()
  const filter = filterOf(query)
  const days = rangeOf(query.days)
  const of: StatsOf = filter
    ? { ...filter, days }
    : { scope: 'organization', id: organization.answer?.organization.id, days }
  const { answer, problem, reload } = useStats(of)
  useTitle(t('Listening'))
  if (!answer) return <NotLoaded problem={organization.problem ?? problem} reload={reload} />
  const { totals, refused = [] } = answer
  const isHeard = totals.visits > 0 || totals.plays > 0 || totals.seconds > 0 || totals.downloads > 0
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t('Listening')}</h1>
          {filter && <Filter {...filter} />}
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
          <div class="two-parts">
            {filter ? <Countries of={of} /> : <TopTracks days={days} />}
            <div class="part listening-from">
              {!filter && <Countries of={of} />}
              <Sources of={of} />
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

const KINDS: Record<ResourceScope, string> = {
  collection: text('Only the collection {title}'),
  track: text('Only the track {title}'),
  playlist: text('Only the playlist {title}'),
  share: text('Only through the link {title}'),
}

/** The resource that is selected, and the link to everything. */
function Filter({ scope, id }: { scope: ResourceScope; id: string }) {
  const client = useClient()
  const { answer } = useQuery({ key: ['title', scope, id], load: () => readTitle(client, scope, id) })
  return (
    <p class="soft listening-filter">
      <span>{answer?.title ? t(KINDS[scope], { title: answer.title }) : '\u00a0'}</span>
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
                  downloadCsv(api_key, `/v1/stats/top?from=${from}&limit=200`, `listening-tracks-${from}.csv`),
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
      term={t('Heard to the end')}
      value={number(completions)}
      note={plays > 0 ? t('{share} of all plays', { share: percent(completions / plays) }) : ''}
    />
  </FigureRow>
)

/** The numbers of days that are counts: all of them. */
const COUNTS = ['plays', 'visits', 'seconds', 'completions'] as const

function Chart({ rows }: Pick<Stats, 'rows'>) {
  const days = rows.map((row) => ({ ...row, date: row.key! }))
  const size = spanSize(days.length)
  const spans = spansOf(days, COUNTS, size)
  const count = (name: (typeof COUNTS)[number], label: string, format: (value: number) => string) => {
    const values = spans.map((span) => span[name])
    const most = format(Math.max(...values))
    const summary = size === 1 ? t('at most {n} in a day', { n: most }) : t('at most {n} in a week', { n: most })
    return { label, summary, values, format }
  }
  return (
    <TimeChart
      label={size === 1 ? t('Listening by day') : t('Listening by week')}
      spans={spans.map((span) => span.text)}
      first={shortDay(days[0]!.date)}
      last={shortDay(days.at(-1)!.date)}
      series={[
        count('plays', t('Plays'), number),
        count('seconds', t('Time heard'), hours),
        count('visits', t('Visits'), number),
        count('completions', t('Heard to the end'), number),
      ]}
    />
  )
}

function Countries({ of }: { of: StatsOf }) {
  const stats = useBy(of, 'country')
  const parts = partsOf(stats.answer?.rows ?? [], countryName, t('Others'))
  return (
    <PartsSection {...stats} title={t('Countries')} parts={parts}>
      {t('A country is named from five visits on.')}
    </PartsSection>
  )
}

function Sources({ of }: { of: StatsOf }) {
  const stats = useBy(of, 'source')
  const parts = partsOf(stats.answer?.rows ?? [], String, t('Others'))
  return (
    <PartsSection {...stats} title={t('Sources')} parts={parts}>
      {t('The sites and apps whose players were used.')}
    </PartsSection>
  )
}

function useBy(of: StatsOf, by: 'country' | 'source') {
  const client = useClient()
  const { scope, id, days } = of
  return useQuery<Stats>({
    key: ['stats', scope, id, days, by],
    showsPrevious: true,
    load: () => readStats(client, of, by),
  })
}

interface PartsProperties {
  title: string
  answer: Stats | undefined
  problem: Failure | undefined
  reload: () => unknown
  parts: readonly { name: string; value: number }[]
  children: string
}

const PartsSection = ({ title, answer, problem, reload, parts, children }: PartsProperties) => (
  <section class="part">
    <h2>{title}</h2>
    {problem && <Problem failure={problem} retry={reload} />}
    {!answer && !problem && <Loading rows={3} />}
    {parts.length > 0 && <PartsBar label={title} parts={parts} format={number} />}
    {answer && <p class="soft">{parts.length > 0 ? children : t('No plays yet.')}</p>}
  </section>
)

const NothingHeard = ({ days }: { days: number }) => (
  <Empty
    title={days === RANGES.at(-1) ? t('Nothing was heard yet') : t('Nothing was heard in these days')}
    action={
      <a href="/docs/counting" target="_blank" rel="noopener">
        {t('How listening is counted')}
      </a>
    }
  >
    {t(
      'The players on your pages and on the pages of your links report the seconds that really sounded. Seeking, pausing and muted playback add nothing. No cookies are set, and no person is recognized.',
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
    muted_seconds > 0 && t('{time} ran muted, which is not in the time heard', { time: hours(muted_seconds) }),
    fast_seconds > 0 && t('{time} of the time heard ran faster than recorded', { time: hours(fast_seconds) }),
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
          {t('Days are in UTC.')}{' '}
          <a href="/docs/counting" target="_blank" rel="noopener">
            {t('How listening is counted')}
          </a>
        </p>
      )}
    </div>
  )
}
