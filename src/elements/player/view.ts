import { isSounding, namesOf, type PlaybackOptions, type State } from '../../client/playback/state.ts'
import { formatClock } from '../shared/clock.ts'
import { button, element, icon, setAttributes, setLabel, setText, setTitle, sheet } from '../shared/dom.ts'
import { ICONS } from '../shared/icons.ts'
import { fill, type FirstPlayerTexts } from '../texts/texts.ts'
import type { TonearmWaveform } from '../waveform/element.ts'
import { seconds } from './attributes.ts'
import { ClipButton } from './clip_button.ts'
import type { Commands } from './commands.ts'
import { Lists, NO_CHAPTERS } from './lists.ts'
import type { MenuName, Menus } from './popovers/menus.ts'
import { isOver, StatusLine } from './status_line.ts'

const NO_LEVELS: readonly number[] = []

/** Everything that the view renders. */
export interface Model {
  state: State
  options: PlaybackOptions
  texts: FirstPlayerTexts
  locale: string
  isWaiting: boolean
  isDownloadable: boolean
  /** Code of a problem that does not affect playback, such as a failed download. */
  problem: string | null
  duration: number
  /** The seconds up to which the audio is loaded; null if it is not known. */
  loaded: number | null
  hasNext: boolean
  /** The seconds by which the skip buttons go back and forward. */
  skip: readonly [number, number]
  hasSkip: boolean
  /** The link to share; null if sharing is off. */
  link: string | null
  /** Whether other devices are available on which the track can be played. */
  hasRemote: boolean
  /** Whether the cover fills the player, which then shows the largest one. */
  isCover: boolean
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
  readonly #speed = this.#opener('speed', 'button speed', element('span', { dir: 'ltr' }))
  readonly #sleep = this.#opener('sleep', 'button sleep-button', icon(ICONS.sleep))
  readonly #share = this.#opener('share', 'button share-button', icon(ICONS.share))
  readonly #more = this.#opener('more', 'button more-button', icon(ICONS.more))
  #menus: Menus | null = null
  #model: Model | null = null
  readonly #volume = element('input', {
    type: 'range',
    part: 'volume',
    class: 'range volume',
    max: 1,
    step: 0.05,
  })
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
  readonly #status: StatusLine
  readonly #lists: Lists

  constructor(commands: Commands) {
    this.#commands = commands
    this.#status = new StatusLine(commands)
    this.#lists = new Lists(commands)
    this.root = this.#build()
    this.#cover.addEventListener('error', () => (this.#cover.hidden = true))
    this.#volume.addEventListener('input', () => commands.setVolume(Number(this.#volume.value)))
    this.waveform.addEventListener('tonearm-seek', (event) => {
      event.stopPropagation()
      commands.seek((event as CustomEvent<{ time: number }>).detail.time)
    })
  }

  #skipButton(name: 'back' | 'forward', step: 1 | -1): HTMLButtonElement {
    const skip = () => this.#commands.skip(step)
    return button(`button ${name}-button skip`, skip, icon(ICONS.forward), element('span', {}))
  }

  /** Creates a button that opens a popover. Their code is loaded with the first one; from then on, the browser opens them. */
  #opener(name: MenuName, part: string, content: Element): HTMLButtonElement {
    return button(part, () => this.#menus || void this.openMenu(name), content)
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
        row('left', this.#speed, this.#sleep),
        row('right', this.#mute, this.#volume, this.#share, this.#download, this.#more),
      ),
      this.#status.root,
      this.#lists.root,
    )
  }

  update(model: Model, time: number): void {
    const { texts, locale } = model
    this.#showRoot(model, time)
    this.#showTrack(model)
    setAttributes(this.waveform, { label: texts.position, 'value-text': texts.timeOf, locale })
    this.showTime(time, model.duration)
    this.#showTransport(model)
    this.#showVolume(model)
    this.#showMenus(model)
    setLabel(this.#download, texts.download)
    setAttributes(this.#download, { hidden: !model.isDownloadable })
    this.#status.update(model)
    this.#lists.update(model)
    this.#model = model
    this.#menus?.update(model)
  }

  /** Opens or closes a popover. */
  async openMenu(name: MenuName): Promise<void> {
    if (!this.#model || !('popover' in HTMLElement.prototype)) return
    if (!this.#menus) {
      const loaded = await import('./popovers/menus.ts').catch(() => null)
      if (this.#menus) return
      if (!loaded) return this.#status.update({ ...this.#model, problem: 'offline' })
      const { Menus, css } = loaded
      const { adoptedStyleSheets } = this.root.getRootNode() as ShadowRoot
      adoptedStyleSheets.push(sheet(css))
      const kit = { element, button, icon, setAttributes, setText, clock: formatClock, seconds, fill }
      const controls = {
        speed: this.#speed,
        sleep: this.#sleep,
        share: this.#share,
        more: this.#more,
        download: this.#download,
      }
      this.#menus = new Menus(kit, this.#commands, controls)
      this.root.append(...this.#menus.roots)
      this.#menus.update(this.#model)
      this.#menus.showTime(this.waveform.currentTime)
    }
    this.#menus.toggle(name)
  }

  showTime(time: number, duration: number): void {
    this.waveform.currentTime = time
    setText(this.#now, formatClock(time))
    setText(this.#duration, formatClock(duration))
    this.#menus?.showTime(time)
    setTitle(this.#chapter, this.#lists.showTime(time))
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
      'data-over': isOver(state) && (title ? 'known' : 'unknown'),
    })
    // A control that had the focus may be hidden now. The keys of the player still work.
    const { activeElement } = this.root.getRootNode() as ShadowRoot
    if (activeElement?.checkVisibility?.() === false) this.root.focus({ preventScroll: true })
  }

  #showTrack({ state, texts, duration, loaded, isCover }: Model): void {
    const { view } = state
    const { title, subtitle, album } = namesOf(state)
    setTitle(this.#album, album === title ? '' : album)
    setTitle(this.#title, title)
    setTitle(this.#subtitle, subtitle)
    const chapters = view?.chapters ?? NO_CHAPTERS
    if (this.waveform.chapters !== chapters) this.waveform.chapters = chapters
    showCover(this.#cover, ((isCover && view?.large_cover) || view?.cover_image.regular)?.url)
    const levels = view?.levels.levels ?? NO_LEVELS
    if (this.waveform.levels !== levels) this.waveform.levels = levels
    if (this.waveform.duration !== duration) this.waveform.duration = duration
    this.waveform.loaded = loaded
    if (this.waveform.clip !== state.clip) this.waveform.clip = state.clip
    this.#clip.update(state.clip, duration, texts)
  }

  #showMenus({ state, options: { rate }, texts, locale, link }: Model): void {
    const speed = `${rate.toLocaleString(locale)}×`
    setText(this.#speed.querySelector('span')!, speed)
    setLabel(this.#speed, `${texts.speed}: ${speed}`)
    setLabel(this.#sleep, texts.sleepTimer)
    setLabel(this.#share, texts.share)
    setLabel(this.#more, texts.more)
    setAttributes(this.#speed, { 'data-on': rate !== 1 })
    setAttributes(this.#sleep, { 'data-on': state.sleep !== null })
    setAttributes(this.#share, { hidden: link === null })
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
}

/**
 * Shows a cover. Every play view has a different signed URL for the same image, so the image is reloaded only if the path changes. While there is
 * no play view, the last cover stays.
 */
function showCover(cover: HTMLImageElement, url: string | undefined): void {
  const path = url?.split('?')[0]
  if (!url || cover.dataset.path === path) return
  cover.dataset.path = path
  cover.hidden = false
  cover.src = url
}
