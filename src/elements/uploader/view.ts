import { button, element } from '../shared/dom.ts'
import { createAnnouncer } from './announce.ts'
import { acceptDrops } from './drop.ts'
import { keepFocus } from './focus.ts'
import type { Settings } from './host.ts'
import type { Item } from './item.ts'
import type { Queue } from './queue.ts'
import { createRow, type Row } from './row.ts'
import { COVER_ACCEPT } from './rules.ts'
import { createSummary } from './summary.ts'
import { createZone } from './zone.ts'

export type View = ReturnType<typeof createView>

/** Everything that is to be seen; it reads the queue and asks it to do things. */
export function createView(queue: Queue, settings: () => Settings, onFiles: (files: File[]) => void) {
  const rows = new Map<Item, Row>()
  const announcer = createAnnouncer()
  const zone = createZone(onFiles)
  const summary = createSummary(queue)
  const list = element('ul', { class: 'list', part: 'list' })
  const message = element('p')
  const again = button('button', () => queue.start())
  const alert = element('div', { class: 'alert', part: 'error', role: 'alert' }, message, again)
  const covers = element('input', { type: 'file', accept: COVER_ACCEPT, hidden: true, tabindex: -1 })
  const root = element('div', { class: 'base', part: 'base', role: 'group' })
  root.append(zone.root, alert, summary.root, list, announcer.root, covers)
  let dragging = false
  let coverFor: Item | null = null

  const actions = {
    pause: queue.pause,
    resume: queue.resume,
    retry: queue.retry,
    cancel: queue.cancel,
    remove,
    pickCover(item: Item) {
      coverFor = item
      covers.click()
    },
  }
  covers.addEventListener('change', () => {
    const [file] = covers.files ?? []
    if (file && coverFor) void queue.addCover(coverFor, file)
    covers.value = ''
  })
  acceptDrops(root, {
    onFiles,
    onCover: (target, file) => {
      const item = itemOf(target)
      if (item) void queue.addCover(item, file)
    },
    canTakeCover: (target) => (itemOf(target)?.state ?? 'rejected') !== 'rejected',
    onDrag(on) {
      dragging = on
      updateZone()
    },
  })

  const itemOf = (target: Element) => [...rows.values()].find((row) => row.root === target)?.item

  /** The focus goes to the neighbour of a row that is taken away, so that the keyboard keeps its place. */
  function remove(item: Item): void {
    const at = queue.items.indexOf(item)
    const neighbour = queue.items[at + 1] ?? queue.items[at - 1]
    queue.remove(item)
    const row = neighbour && rows.get(neighbour)
    if (row) row.root.focus()
    else zone.focus()
  }

  function updateZone(): void {
    const { accept, maxSize, texts } = settings()
    root.classList.toggle('dragging', dragging)
    zone.update(texts, { accept, maxSize, empty: queue.items.length === 0, dragging })
  }

  function updateAlert(): void {
    const { problem } = queue.state()
    const { texts } = settings()
    alert.hidden = problem === null
    // Written only when it is new: a live region is read again at each change.
    const text = problem?.message ?? ''
    if (message.textContent !== text) message.textContent = text
    again.textContent = texts.tryAgain
  }

  /** The list as a whole: rows come and go. */
  function update(): void {
    keepFocus(root, updateAll, zone.focus)
  }

  function updateAll(): void {
    const { texts } = settings()
    root.ariaLabel = texts.uploader
    list.ariaLabel = texts.list
    for (const [item, row] of rows) {
      if (queue.items.includes(item)) continue
      row.root.remove()
      rows.delete(item)
    }
    for (const item of queue.items) {
      if (rows.has(item)) continue
      const row = createRow(item, actions)
      rows.set(item, row)
      list.append(row.root)
    }
    for (const row of rows.values()) row.update(texts)
    list.hidden = rows.size === 0
    updateZone()
    updateAlert()
    summary.update(texts)
  }

  function updateItem(item: Item): void {
    rows.get(item)?.update(settings().texts)
    summary.update(settings().texts)
  }
  return { root, announcer, update, updateItem }
}
