import { DEFAULT_ACCEPT, parseSize } from '../../client/upload/accept.ts'
import type { Description, UploadEvents, UploadItem, UploadOptions } from '../../client/upload/item.ts'
import { UploadQueue } from '../../client/upload/queue.ts'
import { inkOn, isHex, readable } from '../shared/color.ts'
import { sheet, upgradeProperties } from '../shared/dom.ts'
import { createLeaveGuard } from '../shared/leave_guard.ts'
import { uploader as english } from '../texts/en.ts'
import { languageOf } from '../texts/languages.ts'
import { fillNumber, type Overrides, pickLocale, type UploaderTexts, withOverrides } from '../texts/texts.ts'
import { acceptPastes } from './drop.ts'
import { detailOf, type EventDetails, type FileView, withMessage, viewOf } from './events.ts'
import { type Appearance, View } from './view.ts'

import css from './uploader.css'

const styles = sheet(css)
const CONCURRENCY = 3
const MAX_CONCURRENCY = 6
/** Milliseconds between two updates of the countdown to the next attempt. */
const TICK = 1000

/**
 * `<tonearm-uploader>`: uploads audio files into a collection. Each file becomes a track.
 *
 * @attr api-key - an uploader key, with `collection-id` or `upload-session-id`
 * @attr base-url - URL of the service; by default the origin of this script
 * @attr accept, max-size - the accepted files, as in `<input accept>`; the maximum size, such as `500MB`
 * @attr concurrency - maximum number of files that are uploaded at the same time, 1–6; 3 by default
 * @attr manual - files wait until the user presses the button, or for `start()`
 * @attr no-memory - the list is not stored in the browser
 * @attr edit-titles - shows a field for the title of each file until the title is sent
 * @attr theme - `auto`, `light` or `dark`
 * @attr accent - `#RRGGBB`
 * @attr locale - a BCP 47 language tag; by default the page's language
 * @fires tonearm-file-*, tonearm-upload-*, tonearm-track-*, tonearm-cover-*, tonearm-queue-complete - see events.ts
 */
export class TonearmUploader extends HTMLElement {
  static observedAttributes =
    'base-url api-key collection-id upload-session-id accept max-size concurrency manual no-memory edit-titles accent locale'.split(
      ' ',
    )

  #texts: Overrides<UploaderTexts> = {}
  #describe: (file: File) => Description = () => ({})
  /** Cached result of `#appearance`. */
  #cached: Appearance | null = null
  #guard = createLeaveGuard()
  #tick: ReturnType<typeof setInterval> | undefined
  #connected = new AbortController()
  #queue = new UploadQueue(this.#options(), {
    onEvent: (type, item, detail) => this.#onEvent(type, item, detail),
    onQueueEvent: (type, detail) => {
      this.#view.announcer.report(type, this.#queue.items, this.#appearance)
      this.#dispatch(type, 'code' in detail ? withMessage(detail, this.#appearance) : detail)
    },
    onChange: (item) => this.#onChange(item),
  })
  #view = new View(
    this.#queue,
    () => this.#appearance,
    (files) => this.addFiles(files),
  )

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true })
    root.adoptedStyleSheets = [styles]
    root.append(this.#view.root)
  }

  connectedCallback(): void {
    upgradeProperties(this)
    this.#connected = new AbortController()
    acceptPastes((files) => this.addFiles(files), this.#connected.signal)
    setAccent(this.#view.root, this.getAttribute('accent'))
    this.refresh()
    void this.#queue.restore()
  }

  disconnectedCallback(): void {
    this.#connected.abort()
    this.#onChange()
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value) return
    if (name === 'accent') setAccent(this.#view.root, value)
    this.refresh()
    this.#queue.configure(this.#options())
    if (this.isConnected && /^(base-url|collection-id|upload-session-id)$/.test(name)) void this.#queue.restore()
  }

  /** Texts that override the default texts, for example in another language. */
  get texts(): Overrides<UploaderTexts> {
    return this.#texts
  }
  set texts(texts: Overrides<UploaderTexts>) {
    this.#texts = texts
    this.refresh()
  }

  /** A function that returns the fields to store with the track of a file. */
  get describe(): (file: File) => Description {
    return this.#describe
  }
  set describe(describe: (file: File) => Description) {
    this.#describe = describe
  }

  /** Reads the attributes and texts again. Call it after a change within `texts` or to the language of the page. */
  refresh(): void {
    this.#cached = null
    this.#view.update()
  }

  /** Snapshots of all files in the list. */
  get files(): FileView[] {
    return this.#queue.items.map((item) => viewOf(item, this.#appearance))
  }

  /** Adds files to the list and returns their ids. */
  addFiles(files: Iterable<File>): string[] {
    const added = this.#queue.add(files)
    const accepted = added.filter(({ state }) => state !== 'rejected').length
    const { texts, locale } = this.#appearance
    if (accepted > 0) this.#view.announcer.say(fillNumber(texts.added, accepted, locale))
    return added.map(({ id }) => id)
  }

  /** Starts the uploads that wait because of `manual`, or resumes after an error that stopped all files. */
  start(): void {
    this.#queue.start()
  }

  /** Pauses one file. Without an id, holds back all files that have not started. */
  pause(id?: string): void {
    if (id === undefined) this.#queue.pauseAll()
    else this.#find(id).forEach((item) => this.#queue.pause(item))
  }

  resume(id?: string): void {
    if (id === undefined) this.#queue.resumeAll()
    else this.#queue.resume(...this.#find(id))
  }

  /** Cancels one file. Without an id, cancels all incomplete uploads. */
  cancel(id?: string): void {
    this.#queue.cancel(...(id === undefined ? this.#queue.items : this.#find(id)))
  }

  /** Retries one file. Without an id, retries all failed files. */
  retry(id?: string): void {
    if (id === undefined) this.#queue.retryFailed()
    else this.#find(id).forEach((item) => this.#queue.retry(item))
  }

  /** Sets the cover of a file's track. */
  addCover(id: string, picture: File): void {
    this.#find(id).forEach((item) => this.#queue.addCover(item, picture))
  }

  /** Provides the file with an id again, after its upload was interrupted or the file has changed on disk. */
  chooseFile(id: string, file: File): void {
    this.#find(id).forEach((item) => this.#queue.choose(item, file))
  }

  /** Removes a file from the list and cancels its upload. */
  removeFile(id: string): void {
    this.#queue.remove(...this.#find(id))
  }

  /** Removes all files from the list and cancels their uploads. */
  clear(): void {
    this.#queue.remove(...this.#queue.items)
  }

  #find(id: string): UploadItem[] {
    return this.#queue.items.filter((item) => item.id === id)
  }

  #options(): UploadOptions {
    const read = (name: string) => this.getAttribute(name)?.trim() ?? ''
    const concurrency = Math.floor(Number(read('concurrency'))) || CONCURRENCY
    return {
      baseUrl: read('base-url') || new URL(import.meta.url).origin,
      apiKey: read('api-key'),
      collectionId: read('collection-id'),
      uploadSessionId: read('upload-session-id'),
      accept: this.getAttribute('accept') ?? DEFAULT_ACCEPT,
      maxSize: parseSize(this.getAttribute('max-size')),
      concurrency: Math.min(MAX_CONCURRENCY, Math.max(1, concurrency)),
      manual: this.hasAttribute('manual'),
      remembers: !this.hasAttribute('no-memory'),
      describe: (file) => this.describe(file),
    }
  }

  /** The settings from the attributes and properties, which are cached until the next change. */
  get #appearance(): Appearance {
    if (this.#cached) return this.#cached
    const { accept = DEFAULT_ACCEPT, maxSize = null } = this.#options()
    const inherited = this.closest('[lang]')?.getAttribute('lang')
    const locale = pickLocale(this.getAttribute('locale'), inherited, navigator.language)
    // The texts are English until the language has loaded.
    const texts = withOverrides(languageOf(locale, () => this.refresh())?.uploader ?? english, this.texts)
    const editsTitles = this.hasAttribute('edit-titles')
    return (this.#cached = { accept, maxSize, editsTitles, locale, texts })
  }

  #onEvent<K extends keyof UploadEvents>(type: K, item: UploadItem, detail: UploadEvents[K]): void {
    this.#view.announcer.report(type, this.#queue.items, this.#appearance, item)
    this.#dispatch(type, detailOf(detail, item, this.#appearance))
  }

  #dispatch(type: keyof EventDetails, detail: EventDetails[keyof EventDetails]): void {
    this.dispatchEvent(new CustomEvent(`tonearm-${type}`, { detail, bubbles: true, composed: true }))
  }

  #onChange(item?: UploadItem): void {
    if (item) this.#view.updateItem(item)
    else this.#view.update()
    const { items } = this.#queue
    // If the element is not in the document, only active uploads can be lost.
    const unsent = this.isConnected ? 'isUnsent' : 'isActive'
    this.#guard(items.some((item) => item[unsent] || item.cover?.state === 'uploading'))
    const counting = items.some(({ state, retryAt }) => state === 'waiting' && retryAt !== null)
    if (counting) this.#tick ??= setInterval(() => this.#view.update(), TICK)
    else {
      clearInterval(this.#tick)
      this.#tick = undefined
    }
  }
}

/** The default accent color. */
const ACCENT = '#B5541A'
const TEXT_CONTRAST = 4.5
/** The backgrounds on which the accent is shown: those of cards and of fields, as in uploader.css. */
const BACKGROUNDS: Record<string, [string, string]> = { light: ['#f3f3f5', '#ffffff'], dark: ['#24272e', '#17191e'] }

/**
 * Sets the accent color as custom properties of an element, one for light and one for dark backgrounds. Darkens or lightens the color until
 * it has enough contrast for text (WCAG 2.2, 1.4.3). Uses the CSSOM, which a strict Content-Security-Policy allows.
 */
function setAccent(target: HTMLElement, accent: string | null): void {
  for (const [name, backgrounds] of Object.entries(BACKGROUNDS)) {
    const color = readable(isHex(accent) ? accent : ACCENT, TEXT_CONTRAST, ...backgrounds)
    target.style.setProperty(`--_accent-${name}`, color)
    target.style.setProperty(`--_ink-${name}`, inkOn(color))
  }
}
