import { chapterAt } from '../../client/playback/order.ts'
import { type Chapter, isSounding, titleOf } from '../../client/playback/state.ts'
import { clock } from '../shared/clock.ts'
import { button, element, icon, setAttributes, setLabel, setText, setTitle } from '../shared/dom.ts'
import { ICONS } from '../shared/icons.ts'
import { fill, type PlayerTexts } from '../texts/texts.ts'
import type { TonearmWaveform } from '../waveform/element.ts'
import type { Commands } from './commands.ts'
import type { Menu } from './menu.ts'
import { messageOf, type Model } from './model.ts'
import { type Row, rowOf, TrackList } from './track_list.ts'

const RATES = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]
const NO_LEVELS: readonly number[] = []
const NO_TRACKS: [] = []
const NO_CHAPTERS: readonly Chapter[] = []
const NO_ROWS: readonly Row[] = []

/** The player's shadow tree, and how it is brought up to date. */
export class PlayerView {
  readonly root: HTMLElement
  readonly waveform: TonearmWaveform = element('tonearm-waveform', { part: 'waveform', class: 'waveform' })
  readonly #commands: Commands
  readonly #more: HTMLButtonElement
  #menu: Menu | null = null
  #model: Model | null = null
  readonly #play: HTMLButtonElement
  readonly #back: HTMLButtonElement
  readonly #forward: HTMLButtonElement
  readonly #previous: HTMLButtonElement
  readonly #next: HTMLButtonElement
  readonly #shuffle: HTMLButtonElement
  readonly #repeat: HTMLButtonElement
  readonly #mute: HTMLButtonElement
  readonly #download: HTMLButtonElement
  readonly #retry: HTMLButtonElement
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
  readonly #album = element('p', { part: 'album', class: 'album' })
  readonly #title = element('p', { part: 'title', class: 'title' })
  readonly #subtitle = element('p', { part: 'subtitle', class: 'subtitle' })
  readonly #chapter = element('span', { part: 'chapter-title', class: 'chapter' })
  readonly #now = element('span', { part: 'current-time', class: 'now' })
  readonly #whole = element('span', { part: 'duration', class: 'whole' })
  readonly #message = element('span', {})
  readonly #status: HTMLElement
  readonly #list: TrackList
  readonly #chapterList: TrackList
  #chapters = NO_CHAPTERS
  #chapterRows = NO_ROWS
  #chapterLabel = ''

  constructor(commands: Commands) {
    this.#play = button('button play-button', commands.toggle, icon(ICONS.play))
    this.#previous = button('button previous-button', commands.previous, icon(ICONS.previous))
    this.#next = button('button next-button', commands.next, icon(ICONS.next))
    this.#shuffle = button('button shuffle-button', commands.toggleShuffle, icon(ICONS.shuffle))
    this.#repeat = button('button repeat-button', commands.toggleRepeat, icon(ICONS.repeat))
    this.#mute = button('button mute-button', commands.mute, icon(ICONS.sound))
    this.#download = button('button download-button', commands.download, icon(ICONS.download))
    this.#retry = button('retry', commands.retry)
    this.#status = element('div', { part: 'status', class: 'status', role: 'status' }, this.#message, this.#retry)
    this.#back = button('button back-button skip', () => commands.skip(-1), icon(ICONS.back), element('span', {}))
    this.#forward = button(
      'button forward-button skip',
      () => commands.skip(1),
      icon(ICONS.forward),
      element('span', {}),
    )
    this.#commands = commands
    this.#more = button('button more-button', () => this.#menu || void this.openMenu(), icon(ICONS.more))
    // There is no menu without popovers.
    this.#more.hidden = !('popover' in HTMLElement.prototype)
    this.#list = new TrackList({ part: 'playlist', row: 'track' }, commands.select)
    this.#chapterList = new TrackList({ part: 'chapters', row: 'chapter' }, (index) =>
      commands.seek(this.#chapters[index]?.start ?? 0),
    )
    this.root = this.#build()
    this.#cover.addEventListener('error', () => (this.#cover.hidden = true))
    this.#volume.addEventListener('input', () => commands.setVolume(Number(this.#volume.value)))
    this.#rate.addEventListener('change', () => commands.setRate(Number(this.#rate.value)))
    this.waveform.addEventListener('tonearm-seek', (event) => {
      event.stopPropagation()
      commands.seek((event as CustomEvent<{ time: number }>).detail.time)
    })
  }

  #build(): HTMLElement {
    const row = (name: string, ...children: HTMLElement[]) => element('div', { class: name }, ...children)
    return element(
      'section',
      { part: 'base', class: 'base', tabindex: -1 },
      row('art', this.#cover),
      row('titles', this.#album, this.#title, this.#subtitle),
      row('timeline', this.waveform, row('times', this.#now, this.#chapter, this.#whole)),
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
    this.#list.update((state.session?.tracks ?? NO_TRACKS).map(rowOf), state.index, texts.tracks)
    setLabel(this.#more, texts.more)
    this.#model = model
    this.#menu?.update({ ...model, sleep: state.sleep, time })
  }

  /** Opens the menu, or closes it. */
  async openMenu(keys = false): Promise<void> {
    if (this.#more.hidden || !this.#model) return
    if (!this.#menu) {
      const { Menu } = await import('./menu.ts')
      this.#menu ??= new Menu({ element, button, setAttributes, clock, fill }, this.#commands, this.#more)
      this.root.append(this.#menu.root)
      this.#menu.update({ ...this.#model, sleep: this.#model.state.sleep, time: this.waveform.currentTime })
    }
    this.#menu.toggle(keys)
  }

  showTime(time: number, duration: number): void {
    this.waveform.currentTime = time
    setText(this.#now, clock(time))
    setText(this.#whole, clock(duration))
    this.#showChapter(time)
  }

  /** Which chapter plays. */
  #showChapter(time: number): void {
    const at = chapterAt(this.#chapters, time)
    setTitle(this.#chapter, this.#chapters[at]?.title ?? '')
    this.#chapterList.update(this.#chapterRows, at, this.#chapterLabel)
  }

  #showRoot({ state, texts, isWaiting, hasSkip }: Model, time: number): void {
    const { status, session } = state
    const sounding = isSounding(state)
    const title = titleOf(state)
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
    const { view, session, index } = state
    const album = view?.list?.title ?? ''
    setTitle(this.#album, album === titleOf(state) ? '' : album)
    setTitle(this.#title, titleOf(state))
    setTitle(
      this.#subtitle,
      view?.track.player_subtitle ?? session?.tracks[index]?.player_subtitle ?? view?.list?.subtitle ?? '',
    )
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
    // Screen readers say again what is written again.
    setText(this.#message, text)
    setAttributes(this.#status, { hidden: text === '' })
    setText(this.#retry, texts.retry)
    setAttributes(this.#retry, { hidden: state.status !== 'failed' && state.status !== 'expired' })
  }
}

/** Another address of the same picture, as every play view brings one, must not make it load again. */
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
