import type { Track } from '../../base/api.ts'
import { formatClock, hours, number, percent } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { playTrack } from '../../data/now_playing.ts'
import { useQuery } from '../../data/query.ts'
import { useStats } from '../../data/stats.ts'
import { firstDay } from '../../ui/charts/days.ts'
import { TimeChart } from '../../ui/charts/time_chart.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { Problem } from '../../ui/page/states.tsx'
import { dropOffsOf, MIN_VISITS } from './drop_offs.ts'

/** The number of days until today that are shown. */
const DAYS = 365
/** A drop-off is played from this many seconds before it. */
const LEAD = 3

/** The statistics of a track in the last year: the share of visits that heard each part, below the waveform with the same time axis. */
export function Retention({ track }: { track: Track }) {
  const client = useClient()
  const { id: track_id } = track
  const stats = useStats({ scope: 'track', id: track_id, days: DAYS })
  const retention = useQuery({
    key: ['retention', track_id],
    load: () => client.get('/v1/track/{track_id}/retention', { params: { track_id }, query: { from: firstDay(DAYS) } }),
  })
  const problem = retention.problem ?? stats.problem
  const { answer: curve } = retention
  const { totals } = stats.answer ?? {}
  const facts = totals && [
    tn({ one: '{n} play', other: '{n} plays' }, totals.plays),
    totals.plays > 0 &&
      t('{n} completed ({share})', {
        n: totals.completions,
        share: percent(totals.completions / totals.plays),
      }),
    t('{time} heard', { time: hours(totals.seconds) }),
  ]
  return (
    <section class="retention" aria-labelledby="retention-title">
      <div class="section-head">
        <h2 id="retention-title">{t('Listening in the last year')}</h2>
        <a href={href('listening', '', '', { scope: 'track', id: track_id, days: String(DAYS) })}>
          {t('By day and country')}
        </a>
      </div>
      {problem && <Problem failure={problem} retry={() => Promise.all([retention.reload(), stats.reload()])} />}
      <p class="soft">{facts?.filter(Boolean).join(' · ') ?? '\u00a0'}</p>
      {curve && totals && curve.visits === 0 && (
        <p class="soft">
          {totals.visits > 0
            ? t('Nobody has heard the current file yet.')
            : t('Nobody has heard this track in the last year.')}
        </p>
      )}
      {curve && curve.visits > 0 && <Curve track={track} curve={curve} />}
    </section>
  )
}

interface CurveProperties {
  track: Track
  curve: { duration: number; step: number; visits: number; heard: readonly number[]; times: readonly number[] }
}

function Curve({ track, curve }: CurveProperties) {
  const client = useClient()
  const { duration, step, visits, heard, times } = curve
  const drops = dropOffsOf(curve)
  const play = (time: number) =>
    playTrack(client, 'collection', track.collection_id, track.id, Math.max(0, time - LEAD))
  return (
    <>
      <TimeChart
        label={t('Share of visits that heard each part')}
        head={t('Time')}
        spans={heard.map((_, at) => formatClock(at * step))}
        first={formatClock(0)}
        last={formatClock(duration)}
        width={duration / step}
        marks={drops.map(({ at }) => at)}
        series={[
          {
            label: t('Visits that heard it'),
            summary: tn({ one: '{n} visit', other: '{n} visits' }, visits),
            values: heard.map((count) => count / visits),
            format: percent,
            isLevel: true,
          },
          {
            label: t('Times heard'),
            summary: t('peak: {n}', { n: number(Math.max(...times)) }),
            values: times,
            format: number,
            isLevel: true,
          },
        ]}
      />
      {visits < MIN_VISITS && (
        <p class="soft">
          {t('With {n} or more visits, the places where many people stop listening are marked.', { n: MIN_VISITS })}
        </p>
      )}
      {drops.length > 0 && (
        <ol class="drop-offs" aria-label={t('Where many stop listening')}>
          {drops.map(({ at, before, after }) => {
            const time = formatClock(at * step)
            return (
              <li key={at}>
                <Button small icon="play" label={t('Play before {time}', { time })} onClick={() => play(at * step)}>
                  {time}
                </Button>
                <span>
                  {t('Around here, the audience drops from {before} to {after}.', {
                    before: percent(before),
                    after: percent(after),
                  })}
                </span>
              </li>
            )
          })}
        </ol>
      )}
    </>
  )
}
