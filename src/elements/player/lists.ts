import { type Chapter, chapterAt, type Session, type State } from '../../client/playback/state.ts'
import { spoken } from '../shared/clock.ts'
import { element } from '../shared/dom.ts'
import { fillNumber, type FirstPlayerTexts, type Plural } from '../texts/texts.ts'
import { type ListEntry, TrackList } from './track_list.ts'

export const NO_CHAPTERS: readonly Chapter[] = []
const NO_TRACKS: Session['tracks'] = []

const trackRow = ({ player_title: title, duration }: Session['tracks'][number]): ListEntry => ({
  title,
  time: duration > 0 ? duration : null,
})
const chapterRow = ({ title, start }: Chapter): ListEntry => ({ title, time: start })

interface Shown {
  state: State
  texts: FirstPlayerTexts
  locale: string
}
interface Commands {
  select: (index: number) => void
  seek: (seconds: number) => void
}

/** The lists of the chapters of the current track and of the tracks of the session. */
export class Lists {
  readonly root: HTMLElement
  readonly #trackList: TrackList
  readonly #chapterList: TrackList
  #chapters = NO_CHAPTERS

  constructor(commands: Commands) {
    this.#trackList = new TrackList({ part: 'playlist', row: 'track' }, commands.select)
    this.#chapterList = new TrackList({ part: 'chapters', row: 'chapter' }, (index) =>
      commands.seek(this.#chapters[index]?.start ?? 0),
    )
    this.root = element('div', { class: 'lists' }, this.#chapterList.root, this.#trackList.root)
  }

  update({ state, texts, locale }: Shown): void {
    const { session, view, index } = state
    const tracks = session?.tracks ?? NO_TRACKS
    const chapters = (this.#chapters = view?.chapters ?? NO_CHAPTERS)
    const count = (forms: Plural, { length }: readonly unknown[]) => fillNumber(forms, length, locale)
    this.#chapterList.render(chapters, chapterRow, { label: texts.chapters, head: count(texts.chapterCount, chapters) })
    this.#trackList.render(tracks, trackRow, {
      label: texts.tracks,
      head: [count(texts.trackCount, tracks), durationOf(tracks, locale)].filter(Boolean).join(' · '),
      find: count(texts.find, tracks),
      nothingFound: texts.nothingFound,
    })
    this.#trackList.mark(index)
  }

  /** Marks the chapter at a time, in seconds, and returns its title; empty if there is none. */
  showTime(time: number): string {
    const index = chapterAt(this.#chapters, time)
    this.#chapterList.mark(index)
    return this.#chapters[index]?.title ?? ''
  }
}

/** Returns the duration of all tracks in whole minutes, such as `1 hr 5 min`; empty if a duration is not known. */
function durationOf(tracks: Session['tracks'], locale: string): string {
  const total = tracks.reduce((sum, { duration }) => sum + (duration || Number.NaN), 0)
  return Number.isNaN(total) ? '' : spoken(Math.round(total / 60) * 60 || total, locale, 'short')
}
