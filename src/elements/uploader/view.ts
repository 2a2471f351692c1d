import { COVER_ACCEPT } from '../../client/upload/accept.ts'
import type { UploadItem } from '../../client/upload/item.ts'
import type { UploadQueue } from '../../client/upload/queue.ts'
import { button, element, icon } from '../shared/dom.ts'
import { formatSize, type Language, problemText } from '../shared/upload_status.ts'
import { fill } from '../texts/texts.ts'
import { icons, keepFocus } from './controls.ts'
import { acceptDrops } from './drop.ts'
import { FileRow, type RowAction } from './row.ts'
import { Announcer, Summary } from './summary.ts'

/** The settings from the element's attributes and texts. */
export interface Appearance extends Language {
  accept: string
  /** Maximum size of a file in bytes; null for no limit. */
  maxSize: number | null
  editsTitles: boolean
}

/** The user interface. It reads the state of the queue and calls the methods of the queue. */
export class View {
  readonly announcer = new Announcer()
  #queue: UploadQueue
  #appearance: () => Appearance
  #rows = new Map<UploadItem, FileRow>()
  #zone: Zone
  #summary: Summary
  #list = element('ul', { class: 'list', part: 'list' })
  #message = element('p')
  #again = button('button', () => this.#queue.start())
  #alert = element('div', { class: 'alert', part: 'error', role: 'alert' }, this.#message, this.#again)
  #covers = element('input', { type: 'file', accept: COVER_ACCEPT, hidden: true, tabindex: -1 })
  #files = element('input', { type: 'file', hidden: true, tabindex: -1 })
  /** The item whose file or cover is being chosen. */
  #choosingFor: UploadItem | null = null
  #isDragging = false
  readonly root = element('div', { class: 'base', part: 'base', role: 'group' })

  constructor(queue: UploadQueue, appearance: () => Appearance, onFiles: (files: File[]) => void) {
    this.#queue = queue
    this.#appearance = appearance
    this.#zone = new Zone(onFiles)
    this.#summary = new Summary(queue)
    const parts = [this.#zone.root, this.#alert, this.#summary.root, this.#list, this.announcer.root]
    this.root.append(...parts, this.#covers, this.#files)
    this.#onChosen(this.#covers, (item, file) => queue.addCover(item, file))
    this.#onChosen(this.#files, (item, file) => queue.choose(item, file))
    acceptDrops(this.root, {
      onFiles,
      onCover: (target, file) => {
        const item = this.#itemOf(target)
        if (item) queue.addCover(item, file)
      },
      canTakeCover: (target) => !['rejected', 'interrupted'].includes(this.#itemOf(target)?.state ?? 'rejected'),
      onDrag: (isDragging) => {
        this.#isDragging = isDragging
        this.#updateZone()
      },
    })
  }

  /** Updates the whole user interface, and adds and removes rows. */
  update(): void {
    keepFocus(
      this.root,
      () => this.#updateAll(),
      () => this.#zone.focus(),
    )
  }

  updateItem(item: UploadItem): void {
    const appearance = this.#appearance()
    const row = this.#rows.get(item)
    // The files behind one that starts or ends get another place in the queue.
    if (row && row.root.dataset.state !== item.state) return this.update()
    row?.update(appearance, appearance.editsTitles, this.#queue.placeOf(item))
    this.#summary.update(appearance)
  }

  #updateAll(): void {
    const appearance = this.#appearance()
    const { texts } = appearance
    this.root.ariaLabel = texts.uploader
    this.#list.ariaLabel = texts.list
    for (const [item, row] of this.#rows) {
      if (this.#queue.items.includes(item)) continue
      row.root.remove()
      this.#rows.delete(item)
    }
    for (const item of this.#queue.items) {
      if (this.#rows.has(item)) continue
      const row = new FileRow(item, (action) => this.#act(action, item))
      this.#rows.set(item, row)
      this.#list.append(row.root)
    }
    for (const [item, row] of this.#rows) row.update(appearance, appearance.editsTitles, this.#queue.placeOf(item))
    this.#list.hidden = this.#rows.size === 0
    this.#updateZone()
    this.#updateAlert()
    this.#summary.update(appearance)
  }

  #updateZone(): void {
    this.root.classList.toggle('dragging', this.#isDragging)
    this.#zone.update(this.#appearance(), this.#queue.items.length === 0, this.#isDragging)
  }

  #updateAlert(): void {
    const { problem } = this.#queue
    const appearance = this.#appearance()
    this.#alert.hidden = problem === null
    // The text is written only if it has changed, because screen readers repeat a live region after each write.
    const text = problem ? problemText(problem, appearance) : ''
    if (this.#message.textContent !== text) this.#message.textContent = text
    this.#again.textContent = appearance.texts.retry
  }

  #act(action: RowAction, item: UploadItem): void {
    if (action === 'remove') return this.#remove(item)
    if (action !== 'pickCover' && action !== 'pickFile') return this.#queue[action](item)
    this.#choosingFor = item
    if (action === 'pickCover') this.#covers.click()
    else this.#files.click()
  }

  #onChosen(input: HTMLInputElement, use: (item: UploadItem, file: File) => void): void {
    input.addEventListener('change', () => {
      const [file] = input.files ?? []
      if (file && this.#choosingFor) use(this.#choosingFor, file)
      // Without this, `change` would not fire if the user chose the same file again.
      input.value = ''
    })
  }

  /** Removes a file from the list and moves the focus to the next row, so that keyboard users keep their place. */
  #remove(item: UploadItem): void {
    const at = this.#queue.items.indexOf(item)
    const neighbor = this.#queue.items[at + 1] ?? this.#queue.items[at - 1]
    this.#queue.remove(item)
    const row = neighbor && this.#rows.get(neighbor)
    if (row) row.root.focus()
    else this.#zone.focus()
  }

  #itemOf(target: Element): UploadItem | undefined {
    return [...this.#rows.values()].find(({ root }) => root === target)?.item
  }
}

/** The drop zone, with a button to choose files. */
class Zone {
  #input = element('input', { type: 'file', multiple: true, hidden: true, tabindex: -1, 'aria-hidden': 'true' })
  #title = element('p', { class: 'title', part: 'prompt' })
  #hint = element('p', { class: 'hint' })
  #limit = element('p', { class: 'hint limit', part: 'limit' })
  #browse = button('button browse', () => this.#input.click())
  readonly root = element('div', { class: 'zone', part: 'dropzone' })

  constructor(onFiles: (files: File[]) => void) {
    this.#browse.classList.add('button')
    const emblem = element('span', { class: 'emblem' }, icon(icons.upload))
    const prompt = element('div', { class: 'prompt' }, this.#title, this.#hint)
    this.root.append(emblem, prompt, this.#browse, this.#limit, this.#input)
    this.#input.addEventListener('change', () => {
      onFiles([...(this.#input.files ?? [])])
      // Without this, `change` would not fire if the user chose the same file again.
      this.#input.value = ''
    })
  }

  update({ texts, locale, accept, maxSize }: Appearance, isEmpty: boolean, isDragging: boolean): void {
    this.root.dataset.size = isEmpty ? 'full' : 'small'
    this.#title.textContent = isDragging ? texts.dropNow : texts.drop
    this.#hint.textContent = texts.orPaste
    this.#browse.textContent = isEmpty ? texts.browse : texts.addMore
    this.#browse.classList.toggle('primary', isEmpty)
    this.#limit.textContent = maxSize === null ? '' : fill(texts.limit, { size: formatSize(maxSize, locale) })
    this.#input.accept = accept
  }

  focus(): void {
    this.#browse.focus()
  }
}
