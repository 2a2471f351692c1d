import type { Clip, State } from '../../client/playback/state.ts'
import type { button, element, setAttributes, setText } from '../shared/dom.ts'
import { partLink } from '../shared/part_link.ts'
import type { PlayerTexts } from '../texts/texts.ts'

import css from './menu.css'

/**
 * The menu with a link to share, the sleep timer, playback on other devices, and the list of keys. It is loaded when it is first opened. It
 * imports no code of the player, because that would split the player's bundle: the player passes the shared functions as `Kit`.
 */

export { css }

interface Kit {
  element: typeof element
  button: typeof button
  setAttributes: typeof setAttributes
  setText: typeof setText
  clock: (seconds: number) => string
  /** Parses a time such as `1:30`. */
  seconds: (text: string) => number
  fill: (text: string, values: Record<string, string | number>) => string
}

export interface MenuModel {
  texts: PlayerTexts
  /** The link to share, without a time; null if sharing is off. */
  link: string | null
  state: Pick<State, 'clip' | 'sleep'>
  duration: number
  hasRemote: boolean
  skip: readonly [number, number]
}
interface Commands {
  sleep: (minutes: number | 'track' | null) => void
  pickRemote: () => void
}

const MINUTES = [15, 30, 45, 60]
/** Seconds of a clip whose end was not chosen. */
const CLIP_LENGTH = 30

/**
 * A checkbox and a time, which are the start or the end of the link. Until the box is checked, the time follows playback, so listeners can check the boxes
 * when they hear the start and the end. They can also type the times.
 */
class TimeField {
  readonly root: HTMLElement
  readonly #label: HTMLElement
  readonly #box: HTMLInputElement
  readonly #input: HTMLInputElement
  readonly #kit: Kit

  constructor(kit: Kit, onChange: () => void) {
    const { element } = kit
    this.#kit = kit
    this.#box = element('input', { type: 'checkbox' })
    this.#label = element('span')
    this.#input = element('input', { class: 'clock', type: 'text', dir: 'ltr', autocomplete: 'off' })
    this.root = element('div', { class: 'row' }, element('label', {}, this.#box, this.#label), this.#input)
    this.#box.addEventListener('change', onChange)
    this.#input.addEventListener('input', () => {
      this.#box.checked = true
      onChange()
    })
    this.#input.addEventListener('keydown', (event) => {
      const step = { ArrowUp: 1, ArrowDown: -1 }[event.key]
      if (step === undefined) return
      event.preventDefault()
      this.set(Math.max(0, kit.seconds(this.#input.value) + step))
      onChange()
    })
  }

  /** The chosen seconds; null if the box is not checked. */
  get value(): number | null {
    return this.#box.checked ? this.#kit.seconds(this.#input.value) : null
  }

  /** Checks the box with a time; null clears it. */
  set(seconds: number | null): void {
    this.#box.checked = seconds !== null
    if (seconds !== null) this.#input.value = this.#textOf(seconds)
  }

  /** Shows the time that the box would get. */
  propose(seconds: number): void {
    const text = this.#textOf(Math.floor(seconds))
    if (!this.#box.checked && this.#input.value !== text) this.#input.value = text
  }

  show(label: string, isValid = true): void {
    this.#kit.setText(this.#label, label)
    this.#kit.setAttributes(this.#input, { 'aria-label': label, 'aria-invalid': isValid ? null : 'true' })
  }

  #textOf(seconds: number): string {
    const tenths = Math.floor((seconds % 1) * 10 + 0.01)
    return this.#kit.clock(seconds) + (tenths > 0 ? `.${tenths}` : '')
  }
}

export class Menu {
  readonly root: HTMLElement
  readonly #kit: Kit
  readonly #opener: HTMLButtonElement
  readonly #link: HTMLInputElement
  readonly #start: TimeField
  readonly #end: TimeField
  readonly #copy: HTMLButtonElement
  readonly #share: HTMLElement
  readonly #sleepLabel: HTMLElement
  readonly #sleep: HTMLSelectElement
  readonly #remote: HTMLButtonElement
  readonly #keysLabel: HTMLElement
  readonly #keyList: HTMLElement
  readonly #keys: HTMLDetailsElement
  #model: MenuModel | null = null
  #time = 0
  /** The link and the part for which the times were set. The model's own state changes in place. */
  #clip: { link: string | null; clip: Clip | null } = { link: null, clip: null }
  /** The texts that are rendered, as a key with which changes are detected. */
  #rendered = ''

  constructor(kit: Kit, commands: Commands, opener: HTMLButtonElement) {
    const { element, button } = kit
    this.#kit = kit
    this.#opener = opener
    this.#link = element('input', { class: 'link', readonly: true, type: 'url', dir: 'ltr' })
    this.#copy = button('text-button', () => void this.#copyLink())
    this.#start = new TimeField(kit, () => this.#showLink())
    this.#end = new TimeField(kit, () => this.#showLink())
    this.#share = element(
      'div',
      { class: 'share' },
      element('div', { class: 'row' }, this.#link, this.#copy),
      this.#start.root,
      this.#end.root,
    )
    this.#sleepLabel = element('span')
    this.#sleep = element('select')
    this.#remote = button('text-button', commands.pickRemote)
    this.#keysLabel = element('summary')
    this.#keyList = element('dl')
    this.#keys = element('details', {}, this.#keysLabel, this.#keyList)
    this.root = element(
      'div',
      { class: 'menu', part: 'menu', role: 'dialog', popover: 'auto' },
      this.#share,
      element('label', { class: 'row' }, this.#sleepLabel, this.#sleep),
      this.#remote,
      this.#keys,
    )
    this.#sleep.addEventListener('change', () => commands.sleep(sleepOf(this.#sleep.value)))
    this.root.addEventListener('beforetoggle', (event) => event.newState === 'open' && this.#open())
    this.root.addEventListener('toggle', () =>
      this.root.querySelector<HTMLElement>(':is(input, select):not([hidden] *)')?.focus(),
    )
    // From now on, the browser opens and closes the menu. With a click handler, a click on the button of an open menu would close the menu
    // and open it again.
    opener.popoverTargetElement = this.root
  }

  /** Opens or closes the menu. If `keys` is true, also expands the list of keys. */
  toggle(keys: boolean): void {
    if (keys) this.#keys.open = true
    this.root.togglePopover()
  }

  update(model: MenuModel): void {
    const { texts, link, hasRemote } = model
    const { clip, sleep } = model.state
    const before = this.#clip
    this.#model = model
    this.#clip = { link, clip }
    if (link !== before.link || (clip && clip !== before.clip)) {
      this.#start.set(clip && clip.start)
      this.#end.set(clip && clip.end)
    }
    this.#showLink()
    this.#kit.setAttributes(this.root, { 'aria-label': texts.more })
    this.#share.hidden = link === null
    this.#remote.hidden = !hasRemote
    this.#render(texts, model.skip)
    const value = sleep === null ? 'off' : sleep === 'track' ? 'track' : this.#sleep.value
    if (this.#sleep.value !== value) this.#sleep.value = value
  }

  /** Shows the position of the player, which is the time of a box that is checked next. */
  showTime(time: number): void {
    const isSame = Math.floor(time) === Math.floor(this.#time)
    this.#time = time
    if (!isSame) this.#showLink()
  }

  #render(texts: PlayerTexts, skip: readonly [number, number]): void {
    const key = JSON.stringify([texts, skip])
    if (key === this.#rendered) return
    this.#rendered = key
    this.#kit.setAttributes(this.#link, { 'aria-label': texts.link })
    this.#copy.textContent = texts.copy
    this.#sleepLabel.textContent = texts.sleepTimer
    this.#remote.textContent = texts.remote
    this.#keysLabel.textContent = texts.keys
    const { element, fill } = this.#kit
    const option = (value: string | number, text: string) => element('option', { value }, text)
    this.#sleep.replaceChildren(
      option('off', texts.off),
      ...MINUTES.map((minutes) => option(minutes, fill(texts.minutes, { minutes }))),
      option('track', texts.endOfTrack),
    )
    this.#keyList.replaceChildren(
      ...keysOf(texts, skip, fill).flatMap(([keys, text]) => [
        element('dt', {}, ...keys.split(' ').map((each) => element('kbd', {}, each))),
        element('dd', {}, text),
      ]),
    )
  }

  #open(): void {
    this.#copy.textContent = this.#model?.texts.copy ?? ''
    this.#showLink()
    place(this.root, this.#opener)
  }

  #showLink(): void {
    const { link, texts, duration } = this.#model ?? {}
    if (!link || !texts || duration === undefined) return
    const now = this.#time
    this.#start.propose(now)
    const start = this.#start.value ?? 0
    this.#end.propose(now > start + 1 ? now : Math.min(start + CLIP_LENGTH, duration || Infinity))
    const end = this.#end.value
    const isValid = end === null || end > start
    this.#start.show(texts.startAt)
    this.#end.show(texts.endAt, isValid)
    this.#link.value = partLink(link, this.#start.value, isValid ? end : null)
  }

  async #copyLink(): Promise<void> {
    this.#link.select()
    try {
      await navigator.clipboard.writeText(this.#link.value)
    } catch {
      // A frame may not be allowed to write to the clipboard. The link is selected, so the listener can copy it.
      return
    }
    this.#copy.textContent = this.#model?.texts.copied ?? ''
  }
}

const sleepOf = (value: string) => (value === 'off' ? null : value === 'track' ? value : Number(value))

const EDGE = 8

/** Positions a popover below or above its button, or over the whole window if there is little space. */
function place({ style }: HTMLElement, anchor: HTMLElement): void {
  const { top, bottom, right } = anchor.getBoundingClientRect()
  const [above, below] = [top, innerHeight - bottom].map((room) => room - 2 * EDGE) as [number, number]
  const isTight = Math.max(above, below) < 200
  const isBelow = below >= Math.min(above, 320)
  style.right = `${Math.max(EDGE, Math.min(innerWidth - right, innerWidth - 320 - EDGE))}px`
  style.top = isTight ? `${EDGE}px` : isBelow ? `${bottom + EDGE}px` : 'auto'
  style.bottom = isTight || isBelow ? 'auto' : `${innerHeight - top + EDGE}px`
  style.maxHeight = `${isTight ? innerHeight - 2 * EDGE : isBelow ? below : above}px`
}

/** Returns the keys with their descriptions, which are composed of the labels of the buttons. */
function keysOf(
  texts: PlayerTexts,
  [back, forward]: readonly [number, number],
  fill: Kit['fill'],
): [keys: string, text: string][] {
  const both = (a: string, b: string) => `${a} / ${b}`
  const move = (a: number, b: number) => both(fill(texts.back, { seconds: a }), fill(texts.forward, { seconds: b }))
  return [
    ['␣ K', both(texts.play, texts.pause)],
    ['← →', move(5, 5)],
    ['J L', move(back, forward)],
    ['↑ ↓', texts.volume],
    ['M', both(texts.mute, texts.unmute)],
    ['P N', both(texts.previous, texts.next)],
    ['[ ]', both(texts.previousChapter, texts.nextChapter)],
    ['?', texts.keys],
  ]
}
