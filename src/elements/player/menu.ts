import type { button, element, setAttributes } from '../shared/dom.ts'
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
  clock: (seconds: number) => string
  fill: (text: string, values: Record<string, string | number>) => string
}

export interface MenuModel {
  texts: PlayerTexts
  /** The link to share, without a time; null if sharing is off. */
  link: string | null
  sleep: number | 'track' | null
  hasRemote: boolean
  time: number
  skip: readonly [number, number]
}
interface Commands {
  sleep: (minutes: number | 'track' | null) => void
  pickRemote: () => void
}

const MINUTES = [15, 30, 45, 60]

export class Menu {
  readonly root: HTMLElement
  readonly #kit: Kit
  readonly #opener: HTMLButtonElement
  readonly #link: HTMLInputElement
  readonly #withTime: HTMLInputElement
  readonly #time: HTMLElement
  readonly #copy: HTMLButtonElement
  readonly #share: HTMLElement
  readonly #sleepLabel: HTMLElement
  readonly #sleep: HTMLSelectElement
  readonly #remote: HTMLButtonElement
  readonly #keysLabel: HTMLElement
  readonly #keyList: HTMLElement
  readonly #keys: HTMLDetailsElement
  #model: MenuModel | null = null
  /** The texts that are rendered, as a key with which changes are detected. */
  #rendered = ''

  constructor(kit: Kit, commands: Commands, opener: HTMLButtonElement) {
    const { element, button } = kit
    this.#kit = kit
    this.#opener = opener
    this.#link = element('input', { class: 'link', readonly: true, type: 'url', dir: 'ltr' })
    this.#copy = button('text-button', () => void this.#copyLink())
    this.#withTime = element('input', { type: 'checkbox' })
    this.#time = element('span')
    this.#share = element(
      'div',
      {},
      element('div', { class: 'row' }, this.#link, this.#copy),
      element('label', {}, this.#withTime, this.#time),
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
    this.#withTime.addEventListener('change', () => this.#showLink())
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
    const { texts, link, sleep, hasRemote } = model
    this.#model = model
    this.#kit.setAttributes(this.root, { 'aria-label': texts.more })
    this.#share.hidden = link === null
    this.#remote.hidden = !hasRemote
    this.#render(texts, model.skip)
    const value = sleep === null ? 'off' : sleep === 'track' ? 'track' : this.#sleep.value
    if (this.#sleep.value !== value) this.#sleep.value = value
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
    const { link, time, texts } = this.#model ?? {}
    if (!link || !texts || time === undefined) return
    const { fill, clock } = this.#kit
    this.#time.textContent = fill(texts.startAt, { time: clock(time) })
    this.#link.value = this.#withTime.checked ? withTime(link, time) : link
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

/** Returns a link with a time in its hash. */
export function withTime(link: string, seconds: number): string {
  const url = new URL(link)
  const params = new URLSearchParams(url.hash.slice(1))
  params.set('t', String(Math.floor(seconds)))
  url.hash = params.toString()
  return url.href
}

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
