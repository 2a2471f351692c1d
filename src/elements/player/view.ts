import {
  type Chapter,
  chapterAt,
  isSounding,
  namesOf,
  type PlaybackOptions,
  type State,
} from '../../client/playback/state.ts'
import { formatClock } from '../shared/clock.ts'
import { button, element, icon, setAttributes, setLabel, setText, setTitle, sheet } from '../shared/dom.ts'
import { ICONS } from '../shared/icons.ts'
import { fill, type PlayerTexts } from '../texts/texts.ts'
import type { TonearmWaveform } from '../waveform/element.ts'
import { seconds } from './attributes.ts'
import { ClipButton } from './clip_button.ts'
import type { Commands } from './commands.ts'
import type { Menu } from './menu.ts'
import { type ListEntry, rowOf, TrackList } from './track_list.ts'

const RATES = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]
const NO_LEVELS: readonly number[] = []
const NO_CHAPTERS: readonly Chapter[] = []

/** Everything that the view renders. */
export interface Model {
  state: State
  options: PlaybackOptions
  texts: PlayerTexts
  locale: string
  isWaiting: boolean
  isDownloadable: boolean
  /** Code of a problem that does not affect playback, such as a failed download. */
  problem: string | null
  duration: number
  hasNext: boolean
  /** The seconds by which the skip buttons go back and forward. */
  skip: readonly [number, number]
  hasSkip: boolean
  /** The link to share; null if sharing is off. */
  link: string | null
  /** Whether other devices are available on which the track can be played. */
  hasRemote: boolean
}

/** Builds and updates the shadow tree of the player. */
export class PlayerView {
  readonly root: HTMLElement
  readonly waveform: TonearmWaveform = element('tonearm-waveform', { part: 'waveform', class: 'waveform' })
  readonly #commands: Commands
  readonly #play = button('button play-button', () => this.#commands.toggle(), icon(ICONS.play))
  readonly #previous = button('button previous-button', () => this.#commands.previous(), icon(ICONS.next))
  readonly #next = button('button next-button', () => this.#commands.next(), icon(ICONS.next))
  readonly #back = this.#skipButton('back', -1)
  readonly #forward = this.#skipButton('forward', 1)
  readonly #shuffle = button('button shuffle-button', () => this.#commands.toggleShuffle(), icon(ICONS.shuffle))
  readonly #repeat = button('button repeat-button', () => this.#commands.toggleRepeat(), icon(ICONS.repeat))
  readonly #mute = button('button mute-button', () => this.#commands.mute(), icon(ICONS.sound))
  readonly #download = button('button download-button', () => this.#commands.download(), icon(ICONS.download))
  readonly #more = button('button more-button', () => this.#menu || void this.openMenu(), icon(ICONS.more))
  #menu: Menu | null = null
  #model: Model | null = null
  readonly #volume = element('input', { type: 'range', part: 'volume', class: 'volume', min: 0, max: 1, step: 0.05 })
  readonly #rate = element('select', { part: 'speed', class: 'rate', dir: 'ltr' })
  readonly #cover = element('img', {
    part: 'cover',
    class: 'cover',
    alt: '',
    width: 400,
    height: 400,
    decoding: 'async',
  })
  readonly #album = element('p', { part: 'album', class: 'album', dir: 'auto' })
  readonly #title = element('p', { part: 'title', class: 'title', dir: 'auto' })
  readonly #subtitle = element('p', { part: 'subtitle', class: 'subtitle', dir: 'auto' })
  readonly #chapter = element('span', { part: 'chapter-title', class: 'chapter' })
  readonly #now = element('span', { part: 'current-time', class: 'now' })
  readonly #duration = element('span', { part: 'duration', class: 'whole' })
  readonly #clip = new ClipButton(() => this.#commands.leaveClip())
  readonly #message = element('span', {})
  readonly #retry = button('retry', () => this.#commands.retry())
  readonly #status = element('div', { part: 'status', class: 'status', role: 'status' }, this.#message, this.#retry)
  readonly #list = new TrackList({ part: 'playlist', row: 'track' }, (index) => this.#commands.select(index))
  readonly #chapterList = new TrackList({ part: 'chapters', row: 'chapter' }, (index) =>
    this.#commands.seek(this.#chapters[index]?.start ?? 0),
  )
  #chapters = NO_CHAPTERS
  #chapterRows: readonly ListEntry[] = []
  #chapterLabel = ''

  constructor(commands: Commands) {
    this.#commands = commands
    // The menu requires a browser that supports popovers.
    this.#more.hidden = !('popover' in HTMLElement.prototype)
    this.root = this.#build()
    this.#cover.addEventListener('error', () => (this.#cover.hidden = true))
    this.#volume.addEventListener('input', () => commands.setVolume(Number(this.#volume.value)))
    this.#rate.addEventListener('change', () => commands.setRate(Number(this.#rate.value)))
    this.waveform.addEventListener('tonearm-seek', (event) => {
      event.stopPropagation()
      commands.seek((event as CustomEvent<{ time: number }>).detail.time)
    })
  }

  #skipButton(name: 'back' | 'forward', step: 1 | -1): HTMLButtonElement {
    const skip = () => this.#commands.skip(step)
    return button(`button ${name}-button skip`, skip, icon(ICONS.forward), element('span', {}))
  }

  #build(): HTMLElement {
    const row = (name: string, ...children: HTMLElement[]) => element('div', { class: name }, ...children)
    return element(
      'section',
      { part: 'base', class: 'base', tabindex: -1 },
      row('art', this.#cover),
      element('div', { part: 'titles', class: 'titles' }, this.#album, this.#title, this.#subtitle),
      row('timeline', this.waveform, row('times', this.#now, this.#chapter, this.#duration, this.#clip.root)),
      row(
        'controls',
        row(
          'transport',
          this.#shuffle,
          this.#previous,
          this.#back,
          this.#play,
          this.#forward,
          this.#next,
          this.#repeat,
        ),
        row('left', this.#rate),
        row('right', this.#mute, this.#volume, this.#download, this.#more),
      ),
      this.#status,
      row('lists', this.#chapterList.root, this.#list.root),
    )
  }

  update(model: Model, time: number): void {
    const { state, texts, locale } = model
    this.#showRoot(model, time)
    this.#showTrack(model)
    setAttributes(this.waveform, { label: texts.position, 'value-text': texts.timeOf, locale })
    this.showTime(time, model.duration)
    this.#showTransport(model)
    this.#showVolume(model)
    showRates(this.#rate, model.options.rate, texts, locale)
    setLabel(this.#download, texts.download)
    setAttributes(this.#download, { hidden: !model.isDownloadable })
    this.#showStatus(model)
    this.#list.update((state.session?.tracks ?? []).map(rowOf), state.index, texts.tracks)
    setLabel(this.#more, texts.more)
    this.#model = model
    this.#menu?.update(model)
  }

  /** Opens or closes the menu. */
  async openMenu(keys = false): Promise<void> {
    if (this.#more.hidden || !this.#model) return
    if (!this.#menu) {
      const { Menu, css } = await import('./menu.ts')
      if (this.#menu) return
      const { adoptedStyleSheets } = this.root.getRootNode() as ShadowRoot
      adoptedStyleSheets.push(sheet(css))
      const kit = { element, button, setAttributes, setText, clock: formatClock, seconds, fill }
      this.#menu = new Menu(kit, this.#commands, this.#more)
      this.root.append(this.#menu.root)
      this.#menu.update(this.#model)
      this.#menu.showTime(this.waveform.currentTime)
    }
    this.#menu.toggle(keys)
  }

  showTime(time: number, duration: number): void {
    this.waveform.currentTime = time
    setText(this.#now, formatClock(time))
    setText(this.#duration, formatClock(duration))
    this.#menu?.showTime(time)
    this.#showChapter(time)
  }

  /** Shows the chapter at a time. */
  #showChapter(time: number): void {
    const at = chapterAt(this.#chapters, time)
    setTitle(this.#chapter, this.#chapters[at]?.title ?? '')
    this.#chapterList.update(this.#chapterRows, at, this.#chapterLabel)
  }

  #showRoot({ state, texts, isWaiting, hasSkip }: Model, time: number): void {
    const { status, session } = state
    const sounding = isSounding(state)
    const { title } = namesOf(state)
    setAttributes(this.root, {
      'aria-label': title ? fill(texts.playerOf, { title }) : texts.player,
      'aria-busy': String(status === 'loading'),
      'data-status': status,
      'data-playing': sounding && status === 'ready' && !isWaiting,
      'data-waiting': sounding && (isWaiting || status === 'loading' || status === 'offline'),
      'data-several': (session?.tracks.length ?? 0) > 1,
      'data-skip': hasSkip,
      'data-started': state.playing || time > 0,
    })
  }

  #showTrack({ state, texts, duration }: Model): void {
    const { view } = state
    const { title, subtitle, album } = namesOf(state)
    setTitle(this.#album, album === title ? '' : album)
    setTitle(this.#title, title)
    setTitle(this.#subtitle, subtitle)
    this.#chapterLabel = texts.chapters
    const chapters = view?.chapters ?? NO_CHAPTERS
    if (this.#chapters !== chapters) {
      this.#chapters = this.waveform.chapters = chapters
      this.#chapterRows = chapters.map(({ title, start }) => ({ title, time: start }))
    }
    showCover(this.#cover, view?.cover_image.regular.url)
    const levels = view?.levels.levels ?? NO_LEVELS
    if (this.waveform.levels !== levels) this.waveform.levels = levels
    if (this.waveform.duration !== duration) this.waveform.duration = duration
    if (this.waveform.clip !== state.clip) this.waveform.clip = state.clip
    this.#clip.update(state.clip, duration, texts)
  }

  #showTransport({ state, options, texts, hasNext, skip, hasSkip }: Model): void {
    for (const [target, text, seconds] of [
      [this.#back, texts.back, skip[0]],
      [this.#forward, texts.forward, skip[1]],
    ] as const) {
      setLabel(target, fill(text, { seconds }))
      setText(target.querySelector('span')!, String(seconds))
      setAttributes(target, { hidden: !hasSkip })
    }
    const sounding = isSounding(state)
    setLabel(this.#play, sounding ? texts.pause : texts.play, sounding ? ICONS.pause : ICONS.play)
    setLabel(this.#previous, texts.previous)
    setLabel(this.#next, texts.next)
    setLabel(this.#shuffle, texts.shuffle)
    setLabel(this.#repeat, texts.repeat)
    this.#next.disabled = !hasNext
    setAttributes(this.#shuffle, { 'aria-pressed': String(options.shuffle) })
    setAttributes(this.#repeat, { 'aria-pressed': String(options.loop !== 'none') })
  }

  #showVolume({ options: { muted, volume }, texts }: Model): void {
    const isSilent = muted || volume === 0
    setLabel(this.#mute, isSilent ? texts.unmute : texts.mute, isSilent ? ICONS.muted : ICONS.sound)
    const value = muted ? 0 : volume
    this.#volume.value = String(value)
    setAttributes(this.#volume, { 'aria-label': texts.volume, 'aria-valuetext': `${Math.round(value * 100)}%` })
    this.#volume.style.setProperty('--_value', String(value))
  }

  #showStatus({ state, texts, problem }: Model): void {
    const text = messageOf(state, texts) || (problem ? (texts.errors[problem] ?? texts.status.failed) : '')
    // `setText` writes only if the text changes, because screen readers repeat text that is written again.
    setText(this.#message, text)
    setAttributes(this.#status, { hidden: text === '' })
    setText(this.#retry, texts.retry)
    setAttributes(this.#retry, { hidden: state.status !== 'failed' && state.status !== 'expired' })
  }
}

/** Returns the message to show: the text for the error code if there is one, otherwise the text for the status. Empty if there is no problem. */
function messageOf({ status, code }: State, texts: PlayerTexts): string {
  if (status === 'ready' || status === 'loading') return ''
  return (status === 'failed' && code && texts.errors[code]) || texts.status[status]
}

/** Shows a cover. Every play view has a different signed URL for the same image, so the image is reloaded only if the path changes. */
function showCover(cover: HTMLImageElement, url: string | undefined): void {
  const path = url?.split('?')[0] ?? ''
  if (cover.dataset.path === path) return
  cover.dataset.path = path
  cover.hidden = path === ''
  if (url) cover.src = url
}

function showRates(select: HTMLSelectElement, rate: number, texts: PlayerTexts, locale: string): void {
  setAttributes(select, { 'aria-label': texts.speed, title: texts.speed })
  const rates = RATES.includes(rate) ? RATES : [...RATES, rate].toSorted((a, b) => a - b)
  const key = [locale, ...rates].join(' ')
  if (select.dataset.key !== key) {
    select.dataset.key = key
    const format = new Intl.NumberFormat(locale)
    select.replaceChildren(...rates.map((value) => element('option', { value }, `${format.format(value)}×`)))
  }
  select.value = String(rate)
}
