import type { Clip } from '../../../client/playback/state.ts'
import { partLink } from '../../shared/part_link.ts'
import type { PlayerTexts } from '../../texts/texts.ts'
import type { Kit, MenuModel, Panel } from './panel.ts'

/** Seconds of a part whose end was not chosen. */
const CLIP_LENGTH = 30
const ICONS = {
  link: 'M10.6 13.4a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1.2 1.2 1.3 1.3 1.2-1.2a2.2 2.2 0 1 1 3.1 3.1l-3 3a2.2 2.2 0 0 1-3.1 0zM13.4 10.6a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1.2-1.2-1.3-1.3-1.2 1.2A2.2 2.2 0 1 1 6 14.9l3-3a2.2 2.2 0 0 1 3.1 0z',
  time: 'M12 3.6a8.4 8.4 0 1 0 .01 0zM12 5.4a6.6 6.6 0 1 1-.01 0zM11.1 7.6h1.8v4.2l3 2.9-1.2 1.3-3.6-3.4z',
  part: 'M4 5h4.6v1.8H5.8v10.4h2.8V19H4zM20 5h-4.6v1.8h2.8v10.4h-2.8V19H20zM11.1 8h1.8v8h-1.8z',
}

/** A time of the part, which can be typed or set to the current position. */
class TimeField {
  readonly root: HTMLElement
  readonly #kit: Kit
  readonly #label: HTMLElement
  readonly #input: HTMLInputElement
  readonly #now: HTMLButtonElement

  constructor(kit: Kit, now: () => number, onChange: () => void) {
    const { element, button } = kit
    this.#kit = kit
    this.#label = element('span')
    this.#input = element('input', { class: 'clock', type: 'text', dir: 'ltr', autocomplete: 'off' })
    this.#now = button('text-button', () => {
      this.seconds = now()
      onChange()
    })
    this.root = element('div', { class: 'row' }, element('label', {}, this.#label, this.#input), this.#now)
    this.#input.addEventListener('input', onChange)
    this.#input.addEventListener('keydown', (event) => {
      const step = { ArrowUp: 1, ArrowDown: -1 }[event.key]
      if (step === undefined) return
      event.preventDefault()
      this.seconds = Math.max(0, this.seconds + step)
      onChange()
    })
  }

  get seconds(): number {
    return this.#kit.seconds(this.#input.value)
  }
  set seconds(seconds: number) {
    const tenths = Math.floor((seconds % 1) * 10 + 0.01)
    this.#input.value = this.#kit.clock(seconds) + (tenths > 0 ? `.${tenths}` : '')
  }

  show(label: string, now: string, isValid = true): void {
    this.#kit.setText(this.#label, label)
    this.#kit.setText(this.#now, now)
    this.#kit.setAttributes(this.#now, { 'aria-label': `${label}: ${now}` })
    this.#kit.setAttributes(this.#input, { 'aria-invalid': isValid ? null : 'true' })
  }
}

/** Buttons that copy a link: to the track, to the current position, or to a part. */
export class SharePanel implements Panel {
  readonly root: HTMLElement
  readonly #kit: Kit
  readonly #buttons: Record<'link' | 'time' | 'part' | 'send' | 'copyPart', HTMLButtonElement>
  readonly #field: HTMLInputElement
  readonly #part: HTMLElement
  readonly #start: TimeField
  readonly #end: TimeField
  #model: MenuModel | null = null
  #time = 0
  /** The link and the part for which the times were set. The model's own state changes in place. */
  #shown: { link: string | null; clip: Clip | null } = { link: null, clip: null }
  /** The button whose link was copied last. */
  #copied: HTMLButtonElement | null = null

  constructor(kit: Kit) {
    const { element, button } = kit
    this.#kit = kit
    const item = (path: string, act: () => void) => button('item', act, kit.icon(path), element('span'))
    const copy = (name: 'link' | 'time' | 'copyPart', link: () => string) => () =>
      void this.#copy(this.#buttons[name], link())
    this.#buttons = {
      link: item(
        ICONS.link,
        copy('link', () => this.#link()),
      ),
      time: item(
        ICONS.time,
        copy('time', () => this.#link(Math.floor(this.#time))),
      ),
      part: item(ICONS.part, () => this.#togglePart()),
      send: button('item', () => void navigator.share({ url: this.#link() }).catch(() => {}), element('span')),
      copyPart: button(
        'copy-part',
        copy('copyPart', () => this.#partLink()),
        element('span'),
      ),
    }
    const now = () => Math.floor(this.#time)
    this.#start = new TimeField(kit, now, () => this.#show())
    this.#end = new TimeField(kit, now, () => this.#show())
    const { link, time, part, send, copyPart } = this.#buttons
    this.#part = element('div', { class: 'part', hidden: true }, this.#start.root, this.#end.root, copyPart)
    this.#field = element('input', { class: 'link', readonly: true, type: 'url', dir: 'ltr', hidden: true })
    send.hidden = !('share' in navigator) || !matchMedia('(pointer: coarse)').matches
    this.root = element('div', { class: 'items' }, link, time, send, part, this.#part, this.#field)
  }

  update(model: MenuModel): void {
    const { link, texts, duration } = model
    const { clip } = model.state
    const before = this.#shown
    this.#model = model
    this.#shown = { link, clip }
    this.#kit.setAttributes(this.#field, { 'aria-label': texts.link })
    if (clip && (link !== before.link || clip !== before.clip)) {
      this.#start.seconds = clip.start
      this.#end.seconds = Math.min(clip.end, duration || Infinity)
      this.#part.hidden = false
    }
    this.#show()
  }

  onOpen(): void {
    this.#copied = null
    this.#field.hidden = true
    this.#show()
  }

  showTime(time: number): void {
    const isSame = Math.floor(time) === Math.floor(this.#time)
    this.#time = time
    if (!isSame) this.#show()
  }

  #togglePart(): void {
    this.#part.hidden = !this.#part.hidden
    if (!this.#part.hidden && !this.#shown.clip) {
      const { duration = 0 } = this.#model ?? {}
      this.#start.seconds = Math.floor(this.#time)
      this.#end.seconds = Math.floor(Math.min(this.#time + CLIP_LENGTH, duration || Infinity))
    }
    this.#show()
  }

  #link(start: number | null = null, end: number | null = null): string {
    return partLink(this.#model!.link!, start, end)
  }

  #partLink(): string {
    return this.#link(this.#start.seconds, this.#end.seconds)
  }

  #show(): void {
    const { texts } = this.#model ?? {}
    if (!texts) return
    const { link, time, part, send, copyPart } = this.#buttons
    const { setText, setAttributes, fill, clock } = this.#kit
    for (const [button, text] of [
      [link, texts.copyLink],
      [time, fill(texts.copyLinkAt, { time: clock(this.#time) })],
      [part, texts.linkToPart],
      [send, `${texts.share} …`],
      [copyPart, texts.copyLink],
    ] as const) {
      setText(button.querySelector('span')!, button === this.#copied ? texts.copied : text)
      setAttributes(button, { 'data-on': button === this.#copied })
    }
    setAttributes(part, { 'aria-expanded': String(!this.#part.hidden) })
    this.#showPart(texts)
  }

  #showPart(texts: PlayerTexts): void {
    const isValid = this.#end.seconds > this.#start.seconds
    this.#start.show(texts.startAt, texts.now)
    this.#end.show(texts.endAt, texts.now, isValid)
    this.#buttons.copyPart.disabled = !isValid
  }

  async #copy(button: HTMLButtonElement, link: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(link)
    } catch {
      // A frame may not be allowed to write to the clipboard. The listener can copy the selected link.
      this.#field.value = link
      this.#field.hidden = false
      return this.#field.select()
    }
    this.#copied = button
    this.#show()
  }
}
