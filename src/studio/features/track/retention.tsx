import type { Track } from '../../base/api.ts'
import { formatClock, hours, percent } from '../../base/format.ts'
import { href, useRoute } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { playTrack } from '../../data/now_playing.ts'
import { useQuery } from '../../data/query.ts'
import { useStats } from '../../data/stats.ts'
import { nameOf } from '../../data/track_text.ts'
import { periodOf, queryOf, rangeOf } from '../../ui/charts/period.ts'
import { PeriodField } from '../../ui/charts/period_field.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { Problem } from '../../ui/page/states.tsx'
import { RoundedNote } from '../listening/rounded_note.tsx'
import { openShare } from '../sharing/open_share.ts'
import type { Mark } from './chapter_rows.ts'
import { dropOffsOf, MIN_VISITS } from './drop_offs.ts'
import { type Curve, RetentionPlot } from './retention_plot.tsx'

/** The number of days until today without a choice. */
const USUAL = 365
/** A drop-off is played from this many seconds before it. */
const LEAD = 3

interface Properties {
  track: Track
  chapters: readonly Mark[]
}

/** The statistics of a track: the share of visits that heard each part of its waveform. The period is in the address. */
export function Retention({ track, chapters }: Properties) {
  const client = useClient()
  const { id: track_id } = track
  const period = periodOf(useRoute().query, USUAL)
  const stats = useStats({ scope: 'track', id: track_id, period })
  const retention = useQuery({
    key: ['retention', track_id, period.from, period.to],
    showsPrevious: true,
    load: () => client.get('/v1/track/{track_id}/retention', { params: { track_id }, query: period }),
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
  const isEmpty = curve && totals && curve.visits === 0
  return (
    <section class="retention" aria-labelledby="retention-title">
      <div class="section-head">
        <h2 id="retention-title">{t('Listening')}</h2>
        <a href={href('listening', '', '', { scope: 'track', id: track_id, ...queryOf(period) })}>
          {t('By day and country')}
        </a>
      </div>
      <div class="retention-tools">
        <PeriodField period={period} usual={USUAL} />
        <p class="soft">{facts?.filter(Boolean).join(' · ') ?? '\u00a0'}</p>
      </div>
      {problem && <Problem failure={problem} retry={() => Promise.all([retention.reload(), stats.reload()])} />}
      {stats.answer && rangeOf(period) !== USUAL && <RoundedNote answer={stats.answer} />}
      {!curve && !problem && <div class="chart-wait" aria-busy="true" />}
      {isEmpty && (
        <div class="retention-empty">
          <p class="soft">
            {totals.visits > 0
              ? t('Nobody has heard the current file yet.')
              : rangeOf(period) === USUAL
                ? t('Nobody has heard this track in the last year.')
                : t('Nobody has heard this track in this period.')}
          </p>
          <Button small icon="share" onClick={() => openShare({ scope: 'track', id: track_id, title: nameOf(track) })}>
            {t('Share this track')}
          </Button>
        </div>
      )}
      {curve && curve.visits > 0 && <Heard track={track} curve={curve} chapters={chapters} />}
    </section>
  )
}

/** The curve of a track, and the places where many visits stop, each of which can be played. */
function Heard({ track, curve, chapters }: Properties & { curve: Curve }) {
  const client = useClient()
  const { step, visits } = curve
  const drops = dropOffsOf(curve)
  const play = (time: number) =>
    playTrack(client, 'collection', track.collection_id, track.id, Math.max(0, time - LEAD))
  return (
    <>
      <RetentionPlot track={track} curve={curve} chapters={chapters} marks={drops.map(({ at }) => at)} />
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
