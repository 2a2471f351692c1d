import { barHeights } from '../../../elements/shared/draw.ts'
import type { Track } from '../../base/api.ts'
import { formatClock, number, percent } from '../../base/format.ts'
import { t, tn } from '../../base/text.ts'
import { usePlayView } from '../../data/views.ts'
import { ChartFrame, ChartTip } from '../../ui/charts/chart_frame.tsx'
import { Legend } from '../../ui/charts/lazy_chart.tsx'
import { type Series, valueText } from '../../ui/charts/series.ts'
import { timesOf } from '../../ui/charts/units.ts'
import { useCursor } from '../../ui/charts/use_cursor.ts'
import { useUniqueId } from '../../ui/controls/id.ts'
import type { Mark } from './chapter_rows.ts'
import { sectionsOf } from './hero.tsx'

/** The answer of `GET /v1/track/{id}/retention`. */
export interface Curve {
  duration: number
  step: number
  visits: number
  heard: readonly number[]
  times: readonly number[]
}

interface Properties {
  track: Track
  curve: Curve
  chapters: readonly Mark[]
  /** Steps that are marked with numbers from 1. */
  marks: readonly number[]
}

const HEIGHT = 100
const BARS = 180
/** The part of a bar's width that is drawn. */
const FILL = 0.62
/** More chapters have no room for their titles. */
const MOST_CHAPTERS = 12

/** The waveform of a track, filled up to the share of visits that heard each part. If parts were repeated, a second line has how often they were heard. */
export function RetentionPlot({ track, curve, chapters, marks }: Properties) {
  const { duration, step, visits, heard, times } = curve
  const width = duration / step
  const cursor = useCursor(heard.length, (fraction) => Math.floor(fraction * width))
  const isRepeated = times.some((count, at) => count !== heard[at])
  // Repeated parts can be heard more often than there are visits.
  const top = Math.max(1, Math.ceil((Math.max(...times) / visits) * 2 - 0.001) / 2)
  const share: Series = {
    label: t('Visits that heard it'),
    values: heard.map((count) => count / visits),
    format: percent,
  }
  const series = isRepeated ? [share, { label: t('Times heard'), values: times, format: number }] : [share]
  const spans = heard.map((_, at) => formatClock(at * step))
  const place = ((cursor.current + 0.5) / width) * 100
  const { at } = cursor
  return (
    <figure class="time-chart retention-chart">
      <Legend label={tn({ one: '{n} visit', other: '{n} visits' }, visits)}>
        {isRepeated && (
          <span>
            <i class="swatch repeated" />
            {t('Times heard')}
          </span>
        )}
      </Legend>
      <ChartFrame
        label={t('Share of visits that heard each part')}
        head={t('Time')}
        spans={spans}
        series={series}
        cursor={cursor}
        lines={[0, 50, 100].map((line) => ({ at: line, text: percent((top * line) / 100) }))}
        dates={timesOf(duration).map((time) => ({ at: (time / duration) * 100, text: formatClock(time) }))}
        below={<ChapterBar chapters={chapters} duration={duration} />}
      >
        <FilledWave
          track={track}
          counts={heard}
          repeats={isRepeated ? times : null}
          width={width}
          most={visits * top}
        />
        {marks.map((span, index) => (
          <i key={span} class="chart-mark" style={{ left: `${(span / width) * 100}%` }}>
            <b>{number(index + 1)}</b>
          </i>
        ))}
        {at !== null && (
          <>
            <i class="chart-cursor" style={{ left: `${place}%` }} />
            <ChartTip
              place={Math.min(100, place)}
              name={spans[at]!}
              rows={series.map((one) => ({ name: one.label, value: valueText(one, at) }))}
            />
          </>
        )}
      </ChartFrame>
    </figure>
  )
}

/** The chapters of a track below its plot. */
function ChapterBar({ chapters, duration }: { chapters: readonly Mark[]; duration: number }) {
  const sections = sectionsOf(chapters, duration)
  if (sections.length < 2 || sections.length > MOST_CHAPTERS) return null
  return (
    <ul class="chart-chapters" aria-label={t('Chapters')}>
      {sections.map(({ start, end, title }) => (
        <li key={start} style={{ flexGrow: end - start }} title={title}>
          <bdi>{title}</bdi>
        </li>
      ))}
    </ul>
  )
}

interface WaveProperties {
  track: Track
  /** The visits that heard each step. */
  counts: readonly number[]
  /** How often each step was heard, if some were repeated. */
  repeats: readonly number[] | null
  /** The number of steps, of which the last can be shorter than the others. */
  width: number
  /** The count at the top of the drawing. */
  most: number
}

/** The bars of a waveform, of which the part below the curve is filled. Until its levels are read, the area is filled. */
function FilledWave({ track, counts, repeats, width, most }: WaveProperties) {
  const clip = useUniqueId()
  const levels = usePlayView(track)?.levels.levels ?? []
  const yOf = (count: number) => (HEIGHT - (count / most) * HEIGHT).toFixed(2)
  // The line reaches both ends of the chart.
  const line = (some: readonly number[]) =>
    [`0,${yOf(some[0]!)}`, ...some.map((count, x) => `${x + 0.5},${yOf(count)}`), `${width},${yOf(some.at(-1)!)}`].join(
      ' ',
    )
  const area = <polygon class="wave-rest" points={`0,${HEIGHT} ${line(counts)} ${width},${HEIGHT}`} />
  return (
    <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <clipPath id={clip}>{area}</clipPath>
      {levels.length > 0 ? (
        <>
          <Bars levels={levels} width={width} class="wave-rest" />
          <g clip-path={`url(#${clip})`}>
            <Bars levels={levels} width={width} class="wave-heard" />
          </g>
        </>
      ) : (
        area
      )}
      {repeats && <polyline class="repeated" points={line(repeats)} />}
      <polyline points={line(counts)} />
    </svg>
  )
}

interface BarsProperties {
  levels: readonly number[]
  width: number
  class: string
}

const Bars = ({ levels, width, class: name }: BarsProperties) => {
  const pitch = width / BARS
  return (
    <g class={name}>
      {barHeights(levels, BARS).map((height, at) => (
        <rect
          key={at}
          x={at * pitch + (pitch * (1 - FILL)) / 2}
          y={HEIGHT * (1 - Math.max(0.02, height))}
          width={pitch * FILL}
          height={HEIGHT * Math.max(0.02, height)}
        />
      ))}
    </g>
  )
}
