import type { UploadItem } from '../../client/upload/item.ts'
import { MAX_STRING } from '../../contract/facts.ts'
import { button, element, icon, setAttributes } from '../shared/dom.ts'
import { type Language, problemText, statusOf } from '../shared/upload_status.ts'
import { fill, type UploaderTexts } from '../texts/texts.ts'
import { createBar, icons, keepFocus } from './controls.ts'

export type RowAction = 'pause' | 'resume' | 'retry' | 'cancel' | 'remove' | 'pickCover' | 'pickFile'
/** Called when the user presses a button of a row. */
type OnAction = (action: RowAction, item: UploadItem) => void

/** The names of the texts that a button can show. */
type TextName = 'pause' | 'pauseHint' | 'resume' | 'retry' | 'retryNow' | 'cancel' | 'remove' | 'chooseFile'

interface Choice {
  action: RowAction
  icon: string
  label: TextName
  hint?: TextName
}

const PAUSE: Choice = { action: 'pause', icon: icons.pause, label: 'pause', hint: 'pauseHint' }
const PAUSE_PARTS: Choice = { action: 'pause', icon: icons.pause, label: 'pause' }
const CHOOSE: Choice = { action: 'pickFile', icon: icons.upload, label: 'chooseFile' }
const RESUME: Choice = { action: 'resume', icon: icons.play, label: 'resume' }
const RETRY: Choice = { action: 'retry', icon: icons.retry, label: 'retry' }
const RETRY_NOW: Choice = { action: 'retry', icon: icons.retry, label: 'retryNow' }
const CANCEL: Choice = { action: 'cancel', icon: icons.close, label: 'cancel' }
const REMOVE: Choice = { action: 'remove', icon: icons.close, label: 'remove' }

/** Returns the current action of a row's first button; null if it has none. */
function mainChoice({ state, retriable, problem, parts, file }: UploadItem): Choice | null {
  if (state === 'uploading') return parts ? PAUSE_PARTS : PAUSE
  if (state === 'interrupted' || problem?.code === 'file_changed') return CHOOSE
  if (state === 'paused') return RESUME
  if (state === 'waiting') return RETRY_NOW
  if (state !== 'cancelled' && !(state === 'failed' && retriable)) return null
  return file ? RETRY : CHOOSE
}

/** Returns the current action of a row's second button; null during processing, which cannot be canceled. */
function endChoice(item: UploadItem): Choice | null {
  if (item.state === 'queued') return REMOVE
  if (item.state === 'processing') return null
  return item.isUnsent ? CANCEL : REMOVE
}

/** The row of a file in the list, with its cover, name, status and actions. */
export class FileRow {
  readonly item: UploadItem
  #thumb = createThumb(() => this.#onAction('pickCover', this.item))
  #name = element('span', { class: 'name', part: 'name', dir: 'auto' })
  #title = element('input', { class: 'title-field', part: 'title', maxlength: MAX_STRING, hidden: true })
  #state = element('span', { class: 'state', part: 'state' })
  #note = element('span', { class: 'note', part: 'note' })
  #bar = createBar('progress')
  #main = new ActionButton('action', (action) => this.#onAction(action, this.item))
  #end = new ActionButton('dismiss', (action) => this.#onAction(action, this.item))
  #badge = element('span', { class: 'badge', part: 'badge' })
  #text = element('div', { class: 'text' }, this.#name, this.#title, this.#state, this.#bar.root, this.#note)
  #tail = element('div', { class: 'tail' }, this.#badge, this.#main.root, this.#end.root)
  #onAction: OnAction
  readonly root = element('li', { class: 'item', part: 'item', tabindex: -1 }, this.#thumb.root, this.#text, this.#tail)

  constructor(item: UploadItem, onAction: OnAction) {
    this.item = item
    this.#onAction = onAction
    this.#title.addEventListener('input', () => (item.title = this.#title.value.trim()))
  }

  /** Updates the row. If `isEditable` is true, the row has a field for the title until the title is sent. `place` is the file's place in the queue, or 0. */
  update(language: Language, isEditable: boolean, place: number): void {
    keepFocus(
      this.root,
      () => this.#update(language, isEditable, place),
      () => this.root.focus(),
    )
  }

  #update(language: Language, isEditable: boolean, place: number): void {
    const { item } = this
    const { texts } = language
    const status = statusOf(item, language, place)
    this.root.dataset.state = item.state
    const name = item.title || item.name
    if (this.#name.textContent !== name) this.#name.textContent = this.#name.title = name
    // A file that is queued again after a pause or a failure may already have a track with its title, or a request for one. The title can
    // then no longer be edited.
    this.#name.hidden = isEditable && item.state === 'queued' && !item.target && !item.request
    this.#title.hidden = !this.#name.hidden
    this.#title.placeholder = item.name
    this.#title.ariaLabel = fill(texts.titleOf, { name: item.name })
    this.#state.textContent = status.text
    this.#state.classList.toggle('problem', status.isProblem ?? false)
    this.#bar.root.hidden = status.fraction === undefined
    this.#bar.show(fill(texts.progressOf, { name: item.name }), status.fraction ?? null, status.text)
    this.#updateCover(language)
    this.#updateBadge()
    this.#main.update(mainChoice(item), item.name, texts)
    this.#end.update(endChoice(item), item.name, texts)
  }

  #updateCover(language: Language): void {
    const { texts } = language
    const { cover, name, state } = this.item
    const title = cover ? texts.changeCover : texts.addCover
    this.#thumb.root.disabled = state === 'rejected' || state === 'interrupted'
    this.#thumb.root.dataset.cover = cover?.state ?? 'none'
    this.#thumb.show(cover?.file, title, fill(texts.actionOn, { action: title, name }))
    const reason = cover?.problem ? problemText(cover.problem, language) : null
    this.#note.classList.toggle('problem', reason !== null)
    const sending = cover?.state === 'uploading' ? texts.coverSending : ''
    this.#note.textContent = reason === null ? sending : fill(texts.coverFailed, { reason })
  }

  #updateBadge(): void {
    const { state } = this.item
    const isBad = state === 'failed' || state === 'rejected'
    const kind = state === 'ready' || state === 'uploaded' ? 'check' : isBad ? 'alert' : null
    if (kind === (this.#badge.dataset.kind ?? null)) return
    setAttributes(this.#badge, { 'data-kind': kind })
    this.#badge.replaceChildren(...(kind ? [icon(icons[kind])] : []))
  }
}

class ActionButton {
  readonly root: HTMLButtonElement
  #choice: Choice | null = null

  constructor(part: string, onAction: (action: RowAction) => void) {
    this.root = button(`icon-button ${part}`, () => this.#choice && onAction(this.#choice.action))
    this.root.classList.add('icon-button')
    this.root.hidden = true
  }

  update(choice: Choice | null, name: string, texts: UploaderTexts): void {
    this.root.hidden = choice === null
    if (choice) {
      const title = texts[choice.hint ?? choice.label]
      setAttributes(this.root, { 'aria-label': fill(texts.actionOn, { action: texts[choice.label], name }), title })
      if (choice !== this.#choice) this.root.replaceChildren(icon(choice.icon))
    }
    this.#choice = choice
  }
}

const THUMB_SIZE = 104

/** Creates the thumbnail of a row. It shows the cover, and a click lets the user choose one. */
function createThumb(onPick: () => void) {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = THUMB_SIZE
  canvas.hidden = true
  const root = button('thumb', onPick, icon(icons.note), canvas)
  let shown: File | undefined

  function show(picture: File | undefined, title: string, label: string): void {
    setAttributes(root, { 'aria-label': label, title })
    if (picture === shown) return
    shown = picture
    canvas.hidden = true
    if (shown) void draw(shown)
  }

  // Draws the image on a canvas, because a strict Content-Security-Policy blocks blob: URLs.
  async function draw(file: File): Promise<void> {
    const picture = await createImageBitmap(file).catch(() => null)
    if (!picture || file !== shown) return
    const side = Math.min(picture.width, picture.height)
    const [x, y] = [(picture.width - side) / 2, (picture.height - side) / 2]
    canvas.getContext('2d')?.drawImage(picture, x, y, side, side, 0, 0, THUMB_SIZE, THUMB_SIZE)
    picture.close()
    canvas.hidden = false
  }
  return { root, show }
}
