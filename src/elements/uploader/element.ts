import { sheet, upgradeProperties } from '../shared/dom.ts'
import { pickLocale } from '../texts/texts.ts'
import { type Connection, connect, type Place } from './connection.ts'
import { acceptPastes } from './drop.ts'
import type { EventDetails } from './events.ts'
import { createGuard } from './guard.ts'
import type { Host, Settings } from './host.ts'
import { type Description, type FileView, isUnsent, type Item, viewOf } from './item.ts'
import { textsFor } from './languages.ts'
import { setAccent } from './look.ts'
import { createQueue } from './queue.ts'
import { DEFAULT_ACCEPT, parseSize } from './rules.ts'
import { speak } from './speak.ts'
import type { Texts } from './texts.ts'
import { createView } from './view.ts'

import css from './uploader.css'

const styles = sheet(css)
const PLACE = ['base-url', 'api-key', 'collection-id', 'upload-session-id']
const AT_ONCE = 3
const MOST_AT_ONCE = 6
/** Seconds until the next attempt are counted down. */
const TICK = 1000

/**
 * `<tonearm-uploader>`: takes audio files and brings them into a collection, each as a track.
 *
 * @attr api-key - an uploader key, with `collection-id` or `upload-session-id`
 * @attr base-url - where the service is; without it, where this script came from
 * @attr accept, max-size - what is taken, as `<input accept>`; a size such as `500MB`
 * @attr concurrency - files at the same time, 1–6; 3 without it
 * @attr manual - files wait for the button, or for `start()`
 * @attr theme - `auto`, `light` or `dark`
 * @attr accent - `#RRGGBB`
 * @attr locale - BCP 47; without it the page's language
 * @fires tonearm-uploader-* - see events.ts
 */
export class TonearmUploader extends HTMLElement {
  static observedAttributes = [...PLACE, 'accept', 'max-size', 'concurrency', 'manual', 'accent', 'locale']

  #texts: Partial<Texts> = {}
  #describe: (file: File) => Description = () => ({})
  #connection: Connection | null = null
  #settings: Settings | null = null
  #guard = createGuard()
  #tick: ReturnType<typeof setInterval> | undefined
  #abort = new AbortController()
  #host: Host = {
    settings: () => (this.#settings ??= this.#readSettings()),
    connection: () => (this.#connection ??= connect(this.#place())),
    missing: () => this.#missing(),
    emit: (name, detail) => this.#emit(name, detail),
    changed: (item) => this.#changed(item),
  }
  #queue = createQueue(this.#host)
  #view = createView(this.#queue, this.#host.settings, (files) => this.addFiles(files))

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true })
    root.adoptedStyleSheets = [styles]
    root.append(this.#view.root)
  }

  connectedCallback(): void {
    upgradeProperties(this)
    this.#abort = new AbortController()
    acceptPastes((files) => this.addFiles(files), this.#abort.signal)
    setAccent(this.#view.root, this.getAttribute('accent'))
    this.refresh()
  }

  disconnectedCallback(): void {
    this.#abort.abort()
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value) return
    if (name === 'accent') setAccent(this.#view.root, value)
    this.refresh()
    // Files that waited for the button, or for their turn, may begin.
    if (!PLACE.includes(name)) return this.#queue.pump()
    this.#connection = null
    // What stopped every file may be put right by this.
    this.#queue.reconsider()
  }

  /** Replaces texts, also for languages that are not here. */
  get texts(): Partial<Texts> {
    return this.#texts
  }
  set texts(texts: Partial<Texts>) {
    this.#texts = texts
    this.refresh()
  }

  /** What is kept with the track of a file. */
  get describe(): (file: File) => Description {
    return this.#describe
  }
  set describe(describe: (file: File) => Description) {
    this.#describe = describe
  }

  /** Reads the attributes and texts again, after a change within `texts` or of the page's language. */
  refresh(): void {
    this.#settings = null
    this.#view.update()
  }

  /** The files of the list, as they are now. */
  get files(): FileView[] {
    return this.#queue.items.map(viewOf)
  }

  /** Adds files to the list; answers their ids. */
  addFiles(files: Iterable<File>): string[] {
    const added = this.#queue.add(files)
    const taken = added.filter(({ state }) => state !== 'rejected').length
    if (taken > 0) this.#view.announcer.say(this.#host.settings().texts.added(taken))
    return added.map(({ id }) => id)
  }

  /** Begins, after `manual` or after an error that stopped everything. */
  start(): void {
    this.#queue.start()
  }

  /** Pauses one file (which starts from its beginning when it is resumed), or holds back all that have not begun. */
  pause(id?: string): void {
    this.#each(id, this.#queue.pause)
  }

  resume(id?: string): void {
    this.#each(id, this.#queue.resume)
  }

  /** Cancels one file, or all that have not arrived yet. */
  cancel(id?: string): void {
    this.#each(id, this.#queue.cancel)
  }

  /** Tries one file again, or all that failed. */
  retry(id?: string): void {
    this.#each(id, this.#queue.retry)
  }

  /** Uses a picture as the cover of a file's track. */
  addCover(id: string, picture: File): void {
    const item = this.#find(id)
    if (item) void this.#queue.addCover(item, picture)
  }

  /** Takes a file from the list; what is on its way is cancelled. */
  removeFile(id: string): void {
    const item = this.#find(id)
    if (item) this.#queue.remove(item)
  }

  /** Empties the list; what is on its way is cancelled. */
  clear(): void {
    this.#queue.remove(...this.#queue.items)
  }

  #find(id: string): Item | undefined {
    return this.#queue.items.find((item) => item.id === id)
  }

  #each(id: string | undefined, act: (item?: Item) => void): void {
    if (id === undefined) return act()
    const item = this.#find(id)
    if (item) act(item)
  }

  #place(): Place {
    const of = (name: string) => this.getAttribute(name)?.trim() ?? ''
    return {
      base_url: of('base-url') || new URL(import.meta.url).origin,
      api_key: of('api-key'),
      collection_id: of('collection-id'),
      upload_session_id: of('upload-session-id'),
    }
  }

  #missing() {
    const { api_key, collection_id, upload_session_id } = this.#place()
    if (api_key && (collection_id || upload_session_id)) return null
    return { code: 'not_set_up', message: this.#host.settings().texts.notSetUp }
  }

  #readSettings(): Settings {
    const inherited = this.closest('[lang]')?.getAttribute('lang')
    const locale = pickLocale(this.getAttribute('locale'), inherited, navigator.language)
    return {
      accept: this.getAttribute('accept') ?? DEFAULT_ACCEPT,
      maxSize: parseSize(this.getAttribute('max-size')),
      atOnce: Math.min(MOST_AT_ONCE, Math.max(1, Math.floor(Number(this.getAttribute('concurrency'))) || AT_ONCE)),
      manual: this.hasAttribute('manual'),
      texts: { ...textsFor(locale), ...this.texts },
      describe: (file) => this.describe(file),
    }
  }

  #emit<K extends keyof EventDetails>(name: K, detail: EventDetails[K]): void {
    speak(this.#view.announcer, name, detail, this.#queue.items, this.#host.settings().texts)
    this.dispatchEvent(new CustomEvent(`tonearm-uploader-${name}`, { detail, bubbles: true, composed: true }))
  }

  #changed(item?: Item): void {
    if (item) this.#view.updateItem(item)
    else this.#view.update()
    const { items } = this.#queue
    this.#guard(items.some((one) => isUnsent(one) || one.cover?.state === 'uploading'))
    const counting = items.some(({ state, retryAt }) => state === 'waiting' && retryAt !== null)
    if (counting) this.#tick ??= setInterval(() => this.#view.update(), TICK)
    else {
      clearInterval(this.#tick)
      this.#tick = undefined
    }
  }
}
