import { MAX_PAGE } from '../../../contract/facts.ts'
import type { Client } from '../../base/api.ts'
import { number, percent } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { isComparable } from '../../data/stats.ts'
import { Change } from '../../ui/charts/difference.tsx'
import { before, type Period } from '../../ui/charts/period.ts'
import { Loading, Problem } from '../../ui/page/states.tsx'
import { RoundedNote } from './rounded_note.tsx'

interface Of {
  period: Period
  /** Without it, the tracks of all collections. */
  collection_id?: string | undefined
  count: number
  /** Whether the tracks are compared with the period before, which takes another request. */
  isCompared?: boolean
}

async function readTop(client: Client, { period, collection_id, count, isCompared }: Of) {
  const only = collection_id && { collection_id }
  const read = (days: Period, limit: number) =>
    client.get('/v1/stats/top', { query: { ...days, ...only, limit, include: ['artwork'] } })
  const [now, earlier] = await Promise.all([
    read(period, count),
    isCompared && isComparable('track', period)
      ? client.get('/v1/stats/top', { query: { ...before(period), ...only, limit: MAX_PAGE } })
      : null,
  ])
  if (!now.ok) return now
  if (earlier && !earlier.ok) return earlier
  const plays = new Map(earlier?.rows.map((row) => [row.id, row.plays]))
  // A track that is not among the first hundred had fewer plays than these, but not always none.
  const isComplete = earlier !== null && earlier.rows.length < MAX_PAGE
  const rows = now.rows
    .filter((row) => row.plays > 0)
    .map((row) => ({ ...row, before: plays.get(row.id) ?? (isComplete ? 0 : null) }))
  return { ...now, rows }
}

export type TopTrack = Extract<Awaited<ReturnType<typeof readTop>>, { ok: true }>['rows'][number]

/** The tracks with the most plays, with a bar behind each. */
export function MostPlayed({ title, ...of }: Of & { title: string }) {
  const client = useClient()
  const { answer, problem, reload } = useQuery({
    key: ['most played', of.period.from, of.period.to, of.collection_id, of.count],
    showsPrevious: true,
    load: () => readTop(client, of),
  })
  const most = answer?.rows[0]?.plays ?? 1
  return (
    <section class="part" aria-label={title}>
      <h2>{title}</h2>
      {problem && <Problem failure={problem} retry={reload} />}
      {!answer && !problem && <Loading rows={5} />}
      {answer && <RoundedNote answer={answer} />}
      {answer?.rows.length === 0 && <p class="soft">{t('No plays yet.')}</p>}
      {answer && answer.rows.length > 0 && (
        <ol class="most-played" aria-label={title}>
          {answer.rows.map((row) => (
            <Row key={row.id} row={row} most={most} />
          ))}
        </ol>
      )}
    </section>
  )
}

const Row = ({
  row: { id, title, artwork, plays, completions, before: earlier },
  most,
}: {
  row: TopTrack
  most: number
}) => (
  <li>
    <i class="bar" style={{ inlineSize: `${(plays / most) * 100}%` }} />
    {artwork && <img src={artwork.icon.url} alt="" width="40" height="40" />}
    <span class="most-played-text">
      {title === null ? (
        <span class="soft">{t('Deleted track')}</span>
      ) : (
        <a class="name" href={href('track', id)}>
          <bdi>{title}</bdi>
        </a>
      )}
      <span class="soft">{t('{share} completed', { share: percent(plays > 0 ? completions / plays : 0) })}</span>
    </span>
    {earlier !== null && <Change of={{ now: plays, before: earlier }} />}
    <span class="number">
      <span aria-hidden="true">{number(plays)}</span>
      <span class="visually-hidden">{tn({ one: '{n} play', other: '{n} plays' }, plays)}</span>
    </span>
  </li>
)
