import { recallCover, setCover } from './cover.ts'
import { deliver, type Delivery, type Turn } from './deliver.ts'
import { follow } from './follow.ts'
import type { Host } from './host.ts'
import { isSettled, isUnsent, type Item, newItem, type Problem, viewOf } from './item.ts'
import { isAccepted, isImage, isTextFile } from './rules.ts'
import { leave } from './target.ts'
import { formatSize } from './texts.ts'

export type Queue = ReturnType<typeof createQueue>

/** The list of files, and what may be done with it. A few travel at once, the others wait in line. */
export function createQueue(host: Host) {
  const items: Item[] = []
  const inOrder = oneAfterTheOther()
  let running = 0
  let held = false
  let started = false
  let problem: Problem | null = null
  /** Whether the page was told that all is done. */
  let told = false

  function add(files: Iterable<File>): Item[] {
    const added = [...files].map((file) => {
      const item = newItem(file)
      items.push(item)
      const refused = refusal(file, host)
      if (refused) {
        reject(item, refused)
      } else {
        host.emit('file-added', viewOf(item))
        void lookInto(item)
      }
      return item
    })
    told = false
    host.changed()
    return added
  }

  function reject(item: Item, reason: Problem): void {
    Object.assign(item, { state: 'rejected', problem: reason, retriable: false })
    host.emit('rejected', { ...viewOf(item), ...reason })
  }

  async function lookInto(item: Item): Promise<void> {
    if ((await isTextFile(item.file)) && isUnsent(item)) {
      reject(item, { code: 'text_file', message: host.settings().texts.textFile })
      host.changed(item)
      settle()
    }
    item.looked = true
    pump()
  }

  function pump(): void {
    if (items.every((item) => !isUnsent(item))) started = false
    if (held || problem || (host.settings().manual && !started)) return
    const waiting = items.filter(({ state }) => state === 'queued')
    const missing = host.missing()
    if (waiting.length > 0 && missing) return halt(missing)
    for (const item of waiting.slice(0, Math.max(0, host.settings().atOnce - running))) {
      // Nothing overtakes it: tracks have the order of the list.
      if (!item.looked) return
      void run(item)
    }
  }

  async function run(item: Item): Promise<void> {
    running++
    item.controller = new AbortController()
    const { signal } = item.controller
    // The page's own `describe` may throw.
    const ended = await deliver(item, host, inOrder).catch(broken)
    running--
    const delivery: Delivery = signal.aborted ? { end: 'aborted' } : ended
    if (delivery.end === 'done') {
      Object.assign(item, { state: 'processing', sent: item.file.size, status: 'initializing', progress: null })
      host.emit('upload-complete', viewOf(item))
      void followToEnd(item)
    } else if (delivery.end === 'failed') {
      Object.assign(item, { state: 'failed', problem: delivery.problem, retriable: true })
      host.emit('failed', { ...viewOf(item), ...delivery.problem })
    } else if (delivery.end === 'halted') {
      Object.assign(item, { state: 'queued', sent: 0 })
      halt(delivery.problem)
    }
    host.changed(item)
    if (delivery.end === 'failed') settle()
    pump()
  }

  async function followToEnd(item: Item): Promise<void> {
    await follow(item, host)
    settle()
  }

  function settle(): void {
    if (told || items.length === 0 || !items.every(isSettled)) return
    told = true
    const count = (...states: string[]) => items.filter(({ state }) => states.includes(state)).length
    host.emit('complete', { ready: count('ready'), failed: count('failed', 'rejected') })
  }

  /** Something concerns every file: nothing more is begun until it is put right. */
  function halt(reason: Problem): void {
    if (problem) return
    problem = reason
    host.emit('error', reason)
    host.changed()
  }

  function start(): void {
    started = true
    held = false
    problem = null
    host.changed()
    pump()
  }

  /** The page was changed: what stopped everything may be gone. */
  function reconsider(): void {
    if (!problem) return
    problem = null
    host.changed()
    pump()
  }

  /** One file, or (without one) the line of those that wait; what travels already arrives. */
  function pause(item?: Item): void {
    if (!item) held = true
    else if (['queued', 'uploading', 'waiting'].includes(item.state)) {
      Object.assign(item, { state: 'paused', problem: null, sent: 0 })
      item.controller.abort()
      host.emit('paused', viewOf(item))
    }
    host.changed(item)
  }

  function resume(item?: Item): void {
    if (!item) held = false
    for (const one of item ? [item] : [...items]) {
      if (one.state !== 'paused') continue
      one.state = 'queued'
      host.emit('resumed', viewOf(one))
    }
    host.changed()
    pump()
  }

  function cancel(item?: Item): void {
    const given = (item ? [item] : items).filter(isUnsent)
    for (const one of given) {
      if (!isUnsent(one)) continue
      Object.assign(one, { state: 'cancelled', problem: null, sent: 0 })
      one.controller.abort()
      if (one.cover?.state === 'uploading') recallCover(one)
      host.emit('cancelled', viewOf(one))
    }
    host.changed()
    if (given.length > 0) settle()
    pump()
  }

  function retry(item?: Item): void {
    for (const one of item ? [item] : items.filter(({ retriable }) => retriable)) {
      if (one.state === 'waiting') one.nudge()
      // What was cancelled comes back only by name.
      if (one.state !== 'failed' && !(item && one.state === 'cancelled')) continue
      // What failed in processing is looked at no more; a new track gets the bytes.
      if (one.status !== null) leave(one)
      if (one.cover?.state === 'failed') recallCover(one)
      Object.assign(one, { state: 'queued', problem: null, status: null, progress: null, sent: 0 })
      told = false
    }
    started = true
    host.changed()
    pump()
  }

  function remove(...gone: Item[]): void {
    for (const item of gone) {
      if (isUnsent(item)) cancel(item)
      item.controller.abort()
      item.cover?.controller.abort()
      const at = items.indexOf(item)
      if (at >= 0) items.splice(at, 1)
    }
    host.changed()
  }

  return {
    items: items as readonly Item[],
    state: () => ({ held, problem, idle: host.settings().manual && !started }),
    add,
    pump,
    start,
    reconsider,
    pause,
    resume,
    cancel,
    retry,
    remove,
    addCover: (item: Item, file: File) => setCover(item, file, host),
  }
}

const broken = (error: unknown): Delivery => ({ end: 'failed', problem: { code: 'internal', message: String(error) } })

function refusal(file: File, host: Host): Problem | null {
  const { accept, maxSize, texts } = host.settings()
  if (!isAccepted(file, accept)) {
    return { code: 'not_accepted', message: isImage(file) ? texts.imageDropped : texts.notAccepted }
  }
  if (file.size === 0) return { code: 'empty_file', message: texts.empty }
  if (maxSize !== null && file.size > maxSize)
    return { code: 'too_large', message: texts.tooLarge(formatSize(maxSize, texts.locale)) }
  return null
}

function oneAfterTheOther(): Turn {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }
}
