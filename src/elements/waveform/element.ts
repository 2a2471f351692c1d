import { spoken } from '../shared/clock.ts'
import { element, setAttributes, sheet, upgradeProperties } from '../shared/dom.ts'
import { barCount, barHeights, changedColumns, column, drawWaveform, type Picture } from '../shared/draw.ts'
import { followMedia, loadedUntil } from './follow.ts'
import { keyTarget } from './keys.ts'
import { listenToPointers } from './pointer.ts'

import css from './waveform.css'

const styles = sheet(css)
interface Chapter {
  /** Start of the chapter in seconds. */
  start: number
  title: string | null
}

/** A part of the track, in seconds. */
interface Clip {
  start: number
  end: number
}

/** Widths of the bars, the gaps and the line in CSS pixels. */
const BAR = 3
const GAP = 1.5
const LINE = 2

/**
 * `<tonearm-waveform>`: shows levels as a time slider. Can be used alone, and is part of `<tonearm-player>`.
 *
 * @attr levels - JSON array of numbers from 0 to 1, like a play view's `levels.levels`
 * @attr duration, current-time - in seconds
 * @attr for - the id of an `<audio>` or `<video>` in the same document to follow and to seek
 * @attr label, value-text, locale - text for screen readers; `value-text` is `{time} of {duration}` in another language
 * @attr disabled - shows the position, but does not seek
 * @fires tonearm-seek - `{time}` in seconds, when the user has chosen a position
 */
export class TonearmWaveform extends HTMLElement {
  static observedAttributes = ['levels', 'duration', 'current-time', 'for', 'label', 'value-text', 'locale', 'disabled']

  #levels: readonly number[] = []
  #chapters: readonly Chapter[] = []
  #clip: Clip | null = null
  #duration = 0
  #time = 0
  #loaded: number | null = null
  /** Position of the current drag in seconds; null while nothing is dragged. */
  #dragged: number | null = null
  #media: HTMLMediaElement | null = null
  #picture: Picture | null = null
  /** The values in the current `aria-valuetext`, as a key with which changes are detected. */
  #described = ''
  #canvas = element('canvas', { part: 'canvas', 'aria-hidden': 'true' })
  #marks = element('div', { class: 'marks', part: 'chapters', 'aria-hidden': 'true' })
  #frame = element('div', { class: 'clip', part: 'clip', 'aria-hidden': 'true' })
  #label = element('span', { class: 'time', part: 'time' })
  #hover = element('div', { class: 'hover', part: 'hover', 'aria-hidden': 'true' }, this.#label)
  #slider = element('div', { class: 'slider', part: 'slider', role: 'slider', tabindex: 0, 'aria-valuemin': 0 })
  #resized = new ResizeObserver(() => this.#redraw())
  #connected = new AbortController()
  #following = new AbortController()

  constructor() {
    super()
    this.#slider.append(this.#canvas, this.#frame, this.#marks, this.#hover)
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [styles]
    root.append(this.#slider)
    this.#listen()
  }

  get levels(): readonly number[] {
    return this.#levels
  }
  set levels(levels: readonly number[]) {
    this.#levels = levels
    this.#redraw()
  }

  /** The chapters, which are drawn as ticks. The title of the chapter under the pointer is shown. */
  get chapters(): readonly Chapter[] {
    return this.#chapters
  }
  set chapters(chapters: readonly Chapter[]) {
    this.#chapters = chapters
    this.#mark()
  }

  /** The part of the track that is marked; null for none. */
  get clip(): Clip | null {
    return this.#clip
  }
  set clip(clip: Clip | null) {
    this.#clip = clip
    this.#mark()
  }

  get duration(): number {
    return this.#duration
  }
  set duration(seconds: number) {
    this.#duration = Number.isFinite(seconds) && seconds > 0 ? seconds : 0
    this.#mark()
    this.#show()
  }

  get currentTime(): number {
    return this.#time
  }
  set currentTime(seconds: number) {
    this.#time = seconds
    this.#show()
  }

  /** The seconds up to which the audio is loaded; the bars after them are paler. Null if that is not known. */
  get loaded(): number | null {
    return this.#loaded
  }
  set loaded(seconds: number | null) {
    if (this.#loaded === seconds) return
    this.#loaded = seconds
    this.#redraw()
  }

  connectedCallback(): void {
    upgradeProperties(this)
    this.#connected = new AbortController()
    this.#resized.observe(this.#canvas)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', () => this.#redraw(), { signal: this.#connected.signal })
    this.#follow()
    this.#describe()
  }

  disconnectedCallback(): void {
    this.#connected.abort()
    this.#following.abort()
    this.#resized.disconnect()
  }

  attributeChangedCallback(name: string, _before: string | null, value: string | null): void {
    if (name === 'levels') this.levels = parseLevels(value)
    else if (name === 'duration') this.duration = Number(value)
    else if (name === 'current-time') this.currentTime = Number(value)
    else if (name === 'for' && this.isConnected) this.#follow()
    else this.#describe()
  }

  /** Redraws the waveform. Call it after the colors have changed. */
  refresh(): void {
    this.#redraw()
  }

  #mark(): void {
    const marks = this.#chapters.map(({ start }) => {
      const mark = element('i')
      mark.style.left = `${(start / this.#duration) * 100}%`
      return mark
    })
    this.#marks.replaceChildren(...marks)
    const { start = 0, end = 0 } = this.#clip ?? {}
    const at = (seconds: number) => Math.min(1, seconds / this.#duration || 0) * 100
    Object.assign(this.#frame, { hidden: !(at(end) > 0) })
    this.#frame.style.left = `${at(start)}%`
    this.#frame.style.width = `${at(end) - at(start)}%`
  }

  #describe(): void {
    const disabled = this.hasAttribute('disabled')
    setAttributes(this.#slider, {
      'aria-label': this.getAttribute('label') ?? 'Position',
      'aria-disabled': String(disabled),
      tabindex: disabled ? -1 : 0,
    })
    this.#show()
  }

  /** Shows the position on the canvas and describes it for screen readers. */
  #show(): void {
    const time = this.#dragged ?? this.#time
    const locale = this.getAttribute('locale') || document.documentElement.lang || 'en'
    const template = this.getAttribute('value-text') ?? '{time} of {duration}'
    const key = [Math.round(time), Math.round(this.#duration), locale, template].join('|')
    if (this.#described !== key) {
      this.#described = key
      const text = template
        .replace('{time}', spoken(time, locale))
        .replace('{duration}', spoken(this.#duration, locale))
      setAttributes(this.#slider, {
        'aria-valuemax': Math.round(this.#duration),
        'aria-valuenow': Math.round(time),
        'aria-valuetext': text,
      })
    }
    this.#advance(this.#duration > 0 ? time / this.#duration : 0)
  }

  /** Draws only the columns that change with the progress, because this method runs on every frame. */
  #advance(progress: number): void {
    const picture = this.#picture
    const context = this.#canvas.getContext('2d')
    if (!picture || !context) return
    const before = picture.progress
    picture.progress = progress
    if (column(before, picture.width) === column(progress, picture.width)) return
    drawWaveform(context, picture, ...changedColumns(before, progress, picture))
  }

  #redraw(): void {
    const { clientWidth, clientHeight } = this.#canvas
    const context = this.#canvas.getContext('2d')
    if (!context || clientWidth === 0) return
    const ratio = devicePixelRatio || 1
    const width = Math.round(clientWidth * ratio)
    const height = Math.round(clientHeight * ratio)
    // Setting the size clears the canvas, so the size is set only if it changes.
    if (this.#canvas.width !== width) this.#canvas.width = width
    if (this.#canvas.height !== height) this.#canvas.height = height
    const bar = Math.max(1, Math.round(BAR * ratio))
    const gap = Math.max(1, Math.round(GAP * ratio))
    const { fill: played, stroke: rest, color: head } = getComputedStyle(this.#canvas)
    this.#picture = {
      width,
      height,
      heights: barHeights(this.#levels, barCount(width, bar, gap)),
      bar,
      gap,
      progress: this.#duration > 0 ? (this.#dragged ?? this.#time) / this.#duration : 0,
      loaded: (this.#loaded ?? Infinity) / (this.#duration || 1),
      played,
      rest,
      head,
      line: Math.round(LINE * ratio),
    }
    drawWaveform(context, this.#picture)
  }

  /** Follows the media element whose id is the value of `for`. */
  #follow(): void {
    this.#following.abort()
    const id = this.getAttribute('for')
    const found = id === null ? null : (this.getRootNode() as Document | ShadowRoot).getElementById(id)
    const media = found instanceof HTMLMediaElement ? found : null
    this.#media = media
    if (!media) return
    this.#following = new AbortController()
    const update = () => {
      if (Number.isFinite(media.duration)) this.#duration = media.duration
      this.currentTime = media.currentTime
      this.loaded = loadedUntil(media)
    }
    followMedia(media, update, this.#following.signal)
  }

  #seek(time: number): void {
    if (this.hasAttribute('disabled') || this.#duration === 0) return
    this.currentTime = time
    // The maximum is slightly before the end, so that a click at the right edge does not end the track.
    if (this.#media) this.#media.currentTime = Math.min(time, Math.max(0, this.#duration - 0.05))
    this.dispatchEvent(new CustomEvent('tonearm-seek', { detail: { time }, bubbles: true, composed: true }))
  }

  #listen(): void {
    const slider = this.#slider
    listenToPointers(
      slider,
      { line: this.#hover, time: this.#label },
      {
        duration: () => this.#duration,
        nameAt: (time) => this.#chapters.findLast(({ start }) => start <= time)?.title ?? '',
        enabled: () => !this.hasAttribute('disabled'),
        drag: (time) => {
          this.#dragged = time
          this.#show()
        },
        seek: (time) => this.#seek(time),
      },
    )
    slider.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      const target = keyTarget(event.key, this.#time, this.#duration)
      if (target === undefined) return
      event.preventDefault()
      this.#seek(target)
    })
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'tonearm-waveform': TonearmWaveform
  }
}

function parseLevels(text: string | null): number[] {
  try {
    const parsed: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(parsed) ? parsed.filter((value): value is number => typeof value === 'number') : []
  } catch {
    return []
  }
}
