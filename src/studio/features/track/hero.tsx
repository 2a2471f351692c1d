import { useEffect, useRef } from 'preact/hooks'

import type { PlayView, Track } from '../../base/api.ts'
import { formatClock } from '../../base/format.ts'
import { localeOf, t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { nowPlaying, playTrack, position } from '../../data/now_playing.ts'
import { useStore } from '../../data/store.ts'
import { infoOf, nameOf } from '../../data/track_text.ts'
import type { Mark } from './chapter_rows.ts'

/** A chapter with the time at which it ends. All times are in seconds. */
interface Section {
  start: number
  end: number
  title: string
}

/** Silence shorter than this many seconds is not marked. */
const SHORTEST = 0.5
/** Maximum number of chapters whose titles fit below the waveform. */
const MAX_TITLES = 12

interface Properties {
  track: Track
  view: PlayView | null
  chapters: readonly Mark[]
}

/** The waveform of a track: it shows the position, the chapters and the silence, and plays where it is clicked. */
export function Hero({ track, view, chapters }: Properties) {
  const client = useClient()
  const waveform = useRef<HTMLElementTagNameMap['tonearm-waveform']>(null)
  const isCurrent = useStore(nowPlaying)?.track_id === track.id
  const { duration } = track
  const play = (time: number) => playTrack(client, 'collection', track.collection_id, track.id, time)

  useEffect(() => {
    const element = waveform.current
    if (!element) return
    Object.assign(element, { levels: view?.levels.levels ?? [], duration })
    const seek = (event: Event) => void play((event as CustomEvent<{ time: number }>).detail.time)
    element.addEventListener('tonearm-seek', seek)
    return () => element.removeEventListener('tonearm-seek', seek)
  }, [view, duration, track.id])

  const shown = JSON.stringify(chapters)
  useEffect(() => {
    if (waveform.current) waveform.current.chapters = chapters
  }, [shown])

  useEffect(() => {
    if (!isCurrent) return
    const show = () => waveform.current && (waveform.current.currentTime = position.get() * duration)
    show()
    return position.watch(show)
  }, [isCurrent, duration])

  const sections = sectionsOf(chapters, duration)
  return (
    <section class="hero" aria-label={t('Waveform')}>
      <div class="hero-wave" dir="ltr">
        <tonearm-waveform
          ref={waveform}
          label={t('Position in {name}', { name: nameOf(track) })}
          value-text={t('{time} of {duration}')}
          locale={localeOf()}
        />
        <Silences track={track} />
      </div>
      {sections.length > 1 && sections.length <= MAX_TITLES && (
        <ul class="hero-chapters" dir="ltr" aria-label={t('Chapters')}>
          {sections.map((section) => (
            <li key={section.start} style={{ flexGrow: section.end - section.start }}>
              <button type="button" title={section.title} onClick={() => void play(section.start)}>
                <span dir="auto">{section.title}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="hero-times soft" dir="ltr">
        <span>{isCurrent ? <Elapsed duration={duration} /> : formatClock(0)}</span>
        <span>{formatClock(duration)}</span>
      </p>
    </section>
  )
}

/** The position of the current track as text. */
const Elapsed = ({ duration }: { duration: number }) => <>{formatClock(useStore(position) * duration)}</>

/** Returns the chapters with their ends, and a part before the first chapter if it does not start at 0. */
export function sectionsOf(chapters: readonly Mark[], duration: number): Section[] {
  if (chapters.length === 0) return []
  const first = chapters[0]!.start > SHORTEST ? [{ start: 0, title: '' }] : []
  return [...first, ...chapters].map(({ start, title }, at, all) => ({
    start,
    end: all[at + 1]?.start ?? duration,
    title: title ?? t('Chapter {n}', { n: at + 1 - first.length }),
  }))
}

/** Marks the silence at both ends of a track. */
function Silences({ track }: { track: Track }) {
  const { silence } = infoOf(track)
  if (!silence || track.duration === 0) return null
  return (
    <>
      {(['start', 'end'] as const).map((end) => {
        const seconds = silence[end]
        if (seconds < SHORTEST) return null
        return <i key={end} class={`silence ${end}`} style={{ width: `${(seconds / track.duration) * 100}%` }} />
      })}
    </>
  )
}
