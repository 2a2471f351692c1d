import { MAX_PAGE } from '../../../contract/facts.ts'
import type { StatsScope } from '../../base/api.ts'
import { number } from '../../base/format.ts'
import { href, type PageProperties, setQuery } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useConnection } from '../../data/connection.ts'
import { useOrganization } from '../../data/organization.ts'
import type { Query } from '../../data/query.ts'
import { type Stats, STATS_COUNTS, useComparedStats, useStats } from '../../data/stats.ts'
import { metricOf } from '../../data/stats_charts.ts'
import { type ResourceScope, useResourceTitle } from '../../data/title.ts'
import { BarRows } from '../../ui/charts/bar_rows.tsx'
import { sumOf } from '../../ui/charts/days.ts'
import { type Period, periodOf } from '../../ui/charts/period.ts'
import { PeriodField } from '../../ui/charts/period_field.tsx'
import { Icon } from '../../ui/controls/icon.tsx'
import { Menu } from '../../ui/controls/menu.tsx'
import { Loading, NotLoaded, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { downloadCsv } from './download_csv.ts'
import { countryName, filterOf, partsOf, type Place, placeOf, SELECTIONS } from './listening.ts'
import { ListeningNotes } from './listening_notes.tsx'
import { MetricCard } from './metric_card.tsx'
import { MostPlayed } from './most_played.tsx'
import { NothingHeard } from './nothing_heard.tsx'
import { RoundedNote } from './rounded_note.tsx'

/** Number of tracks in the list of the most played. */
const TRACKS = 10

/**
 * The page Listening: the statistics of the organization, or of one resource. The address has the resource, the period, the number of the chart, and a country or
 * a source.
 */
export function ListeningPage({ query }: PageProperties) {
  const filter = filterOf(query)
  useTitle(t('Listening'))
  // Without the key, the numbers of the previous resource would stay until those of the next are read.
  return filter ? <Listening key={filter.id} of={filter} query={query} /> : <AllListening query={query} />
}

function AllListening({ query }: Pick<PageProperties, 'query'>) {
  const { answer, problem, reload } = useOrganization()
  if (problem && !answer) return <NotLoaded problem={problem} reload={reload} />
  return <Listening of={{ scope: 'organization', id: answer?.organization.id }} query={query} />
}

interface ListeningProperties extends Pick<PageProperties, 'query'> {
  of: { scope: StatsScope; id: string | undefined }
}

function Listening({ of: { scope, id }, query }: ListeningProperties) {
  const period = periodOf(query)
  const of = { scope, id, period }
  const place = placeOf(query)
  const isPlace = place.country !== undefined || place.source !== undefined
  const stats = useComparedStats({ ...of, ...place })
  const countries = useStats(of, 'country')
  const sources = useStats(of, 'source')
  const { answer, problem, reload } = stats
  const isHeard = answer && STATS_COUNTS.some((name) => sumOf(answer.rows, name) > 0)
  const isAll = scope === 'organization'
  const hasTracks = isAll || scope === 'collection'
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t('Listening')}</h1>
          {scope !== 'organization' && <Filter scope={scope} id={id!} />}
        </div>
        {isHeard && id && <CsvMenu scope={scope} id={id} period={period} place={place} />}
      </div>
      <div class="listening-tools">
        <PeriodField period={period} />
        {place.country && <PlaceButton name={countryName(place.country)} />}
        {place.source && <PlaceButton name={place.source} />}
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {!answer && !problem && <WaitingCard />}
      {answer && !isHeard && id && <NothingHeard scope={scope} id={id} period={period} isPlace={isPlace} />}
      {answer && isHeard && (
        <>
          <MetricCard stats={answer} current={metricOf(query.show)} />
          <RoundedNote answer={answer} />
          <div class={hasTracks ? 'two-parts' : 'two-parts even'}>
            {hasTracks && (
              <MostPlayed
                title={isPlace ? t('Most played tracks, from everywhere') : t('Most played tracks')}
                period={period}
                collection_id={isAll ? undefined : id}
                count={TRACKS}
                isCompared
              />
            )}
            {hasTracks ? (
              <div class="part listening-from">
                <Countries stats={countries} chosen={place.country} />
                <Sources stats={sources} chosen={place.source} />
              </div>
            ) : (
              <>
                <Countries stats={countries} chosen={place.country} />
                <Sources stats={sources} chosen={place.source} />
              </>
            )}
          </div>
          <ListeningNotes rows={answer.rows} refused={countries.answer?.refused ?? []} />
        </>
      )}
    </>
  )
}

/** The shape of the numbers and the chart until they are read. */
const WaitingCard = () => (
  <div class="metrics card">
    <div class="metrics-wait" role="status">
      <span class="visually-hidden">{t('Loading …')}</span>
      {[0, 1, 2, 3].map((at) => (
        <i key={at} />
      ))}
    </div>
    <div class="chart-wait" aria-busy="true" />
  </div>
)

/** The country or source to which the numbers are limited, which a click removes. */
const PlaceButton = ({ name }: { name: string }) => (
  <button
    type="button"
    class="place"
    aria-label={t('Show everything instead of only {name}', { name })}
    onClick={() => setQuery({ country: '', source: '' })}
  >
    <bdi>{name}</bdi>
    <Icon name="close" />
  </button>
)

/** The resource that is selected, and the link to everything. */
function Filter({ scope, id }: { scope: ResourceScope; id: string }) {
  const title = useResourceTitle({ scope, id }).answer?.title
  // The title has its own direction.
  const [start, end] = t(SELECTIONS[scope], { title: '\0' }).split('\0')
  return (
    <p class="soft listening-filter">
      <span>{title ? [start, <bdi key={id}>{title}</bdi>, end] : '\u00a0'}</span>
      <a href={href('listening')}>{t('Show everything')}</a>
    </p>
  )
}

interface CsvProperties {
  scope: StatsScope
  id: string
  period: Period
  place: Place
}

function CsvMenu({ scope, id, period: { from, to }, place }: CsvProperties) {
  const { api_key } = useConnection()
  const days = `from=${from}&to=${to}`
  const stats = (by: string, of: Place = {}) => {
    const query = new URLSearchParams({ by, ...of })
    const file_name = ['listening', by, ...Object.values(of), from].join('-')
    return () => downloadCsv(api_key, `/v1/stats/${scope}/${id}?${days}&${query}`, `${file_name}.csv`)
  }
  const top = () => downloadCsv(api_key, `/v1/stats/top?${days}&limit=${MAX_PAGE}`, `listening-tracks-${from}.csv`)
  return (
    <Menu
      label={t('Download CSV')}
      text={t('Download CSV')}
      icon="download"
      items={[
        { label: t('By day'), onSelect: stats('day', place) },
        { label: t('Countries'), onSelect: stats('country') },
        { label: t('Sources'), onSelect: stats('source') },
        ...(scope === 'organization' ? [{ label: t('Most played tracks'), onSelect: top }] : []),
      ]}
    />
  )
}

interface PartsProperties {
  stats: Query<Stats>
  /** The key of the row to which the page is limited. */
  chosen: string | undefined
}

const Countries = ({ stats, chosen }: PartsProperties) => (
  <Parts
    {...{ stats, chosen }}
    title={t('Countries')}
    nameOf={countryName}
    note={t('Countries with fewer than five visits are counted under Others.')}
    onChoose={(country) => setQuery({ country, source: '' })}
  />
)

const Sources = ({ stats, chosen }: PartsProperties) => (
  <Parts
    {...{ stats, chosen }}
    title={t('Sources')}
    nameOf={String}
    note={t('The sites and apps in which the player was used.')}
    onChoose={(source) => setQuery({ source, country: '' })}
  />
)

interface TitledProperties extends PartsProperties {
  title: string
  nameOf: (key: string) => string
  note: string
  onChoose: (key: string) => void
}

/** The plays by country or source. A click limits the numbers and the chart of the page to one of them. */
function Parts({ stats: { answer, problem, reload }, title, nameOf, note, chosen, onChoose }: TitledProperties) {
  const bars = partsOf(answer?.rows ?? [], nameOf, t('Others'))
  return (
    <section class="part" aria-label={title}>
      <h2>{title}</h2>
      {problem && <Problem failure={problem} retry={reload} />}
      {!answer && !problem && <Loading rows={3} />}
      {bars.length > 0 && <BarRows label={title} bars={bars} format={number} chosen={chosen} onChoose={onChoose} />}
      {answer && <p class="part-note soft">{bars.length > 0 ? note : t('No plays yet.')}</p>}
    </section>
  )
}
