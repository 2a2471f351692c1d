import { findCovers, problemOfFile } from './accept.ts'
import {
  cancelItem,
  checkFile,
  endDelivery,
  pauseItem,
  renewItem,
  requeueItem,
  resumeItem,
  takeOver,
} from './actions.ts'
import { deliver, type Delivery, discardUpload, failedWith, followTrack, setCover } from './deliver.ts'
import { type Problem, resultOf, UploadItem, type UploadListener, type UploadOptions } from './item.ts'
import { findStored, openLedger, reattachFile } from './ledger.ts'
import { createSerialQueue, type UploadContext, UploadSession } from './session.ts'

const CONCURRENCY = 3

/** Uploads a list of files into a collection, a few at a time. Does not use the DOM, and contains no user-facing texts. */
export class UploadQueue {
  readonly items: readonly UploadItem[]
  #items: UploadItem[] = []
  #options: UploadOptions
  #session: UploadSession
  #listener: UploadListener
  #context: UploadContext
  #running = 0
  #isHeld = false
  #isStarted = false
  #problem: Problem | null = null
  /** Whether `queue-complete` was emitted for the current files. */
  #isComplete = false

  constructor(options: UploadOptions, listener: UploadListener = {}) {
    this.items = this.#items
    this.#options = options
    this.#session = new UploadSession(options)
    this.#listener = listener
    this.#context = {
      session: () => this.#session,
      describe: (file) => this.#options.describe?.(file) ?? {},
      keepsTracks: options.keepsTracks === true,
      emit: (type, item, detail) => this.#listener.onEvent?.(type, item, detail),
      changed: (item) => this.#listener.onChange?.(item),
      ledger: openLedger(() => this.#options),
      inOrder: createSerialQueue(),
    }
  }

  /** Whether new uploads are held back until `resumeAll` is called. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Whether files wait until `start` is called. */
  get isIdle(): boolean {
    return this.#options.manual === true && !this.#isStarted
  }

  /** The problem that stops all files; null if there is none. */
  get problem(): Problem | null {
    return this.#problem
  }

  /** Changes some options. Existing tracks are kept. They use the key that created them until the service refuses it. */
  configure(options: Partial<UploadOptions>): void {
    const previous = this.#options
    this.#options = { ...previous, ...options }
    const place = ['baseUrl', 'apiKey', 'collectionId', 'uploadSessionId'] as const
    if (place.every((name) => previous[name] === this.#options[name])) return this.#pump()
    this.#session = new UploadSession(this.#options)
    // Runs in a microtask, so that attributes that are set one after the other take effect together.
    queueMicrotask(() => this.reconsider())
  }

  add(files: Iterable<File>): UploadItem[] {
    const all = [...files]
    const covers = findCovers(all, this.#options)
    const pictures = new Set(covers.values())
    const added = all.filter((file) => !pictures.has(file)).map((file) => this.#addOne(file))
    for (const item of added) {
      const cover = item.file && covers.get(item.file)
      if (cover) this.addCover(item, cover)
    }
    this.#isComplete = false
    this.#changed()
    return added
  }

  /** Starts the uploads that wait because of `manual`, or resumes after a problem that stopped all files. */
  start(): void {
    this.#isStarted = true
    this.#isHeld = false
    this.reconsider()
  }

  /** Clears the problem that stopped all files, and continues the uploads. */
  reconsider(): void {
    this.#problem = null
    this.#changed()
    this.#pump()
  }

  /** Pauses a file. Parts that are in flight are still sent; a second pause aborts them. */
  pause(item: UploadItem): void {
    pauseItem(item, this.#context)
  }

  /** The place of a file in the queue, from 1; 0 if it does not wait, or if no file is started. */
  placeOf(item: UploadItem): number {
    if (this.#isHeld || this.#problem || this.isIdle) return 0
    return this.items.filter(({ state }) => state === 'queued').indexOf(item) + 1
  }

  /** Adds the uploads of an earlier visit: those that are done, and those that were interrupted, which continue when the user chooses their files again. */
  async restore(): Promise<void> {
    const stored = await findStored(this.items, this.#context.ledger)
    this.#items.push(...stored)
    for (const item of stored) if (item.state === 'processing') void this.#follow(item)
    this.#changed()
  }

  /** Assigns a file to an item: the file of an interrupted item, or a new version of a file that has changed on disk. */
  choose(item: UploadItem, file: File): void {
    if (item.state === 'interrupted') return void this.#chooseAgain(item, file)
    this.#renew(item, file)
  }

  /** Queues another file for an item. */
  #renew(item: UploadItem, file: File): void {
    renewItem(item, file, this.#context)
    this.#isComplete = false
    this.#changed()
    void this.#check(item, file)
  }

  async #chooseAgain(item: UploadItem, file: File): Promise<void> {
    if (await reattachFile(item, file)) this.#context.emit('upload-resume', item, {})
    else if (item.state === 'interrupted' && item.stored === 0) {
      // Another version of the file. Nothing of the previous one is stored, so nothing is lost.
      return this.#renew(item, file)
    }
    this.#isComplete = false
    this.#changed()
    this.#pump()
  }

  /** Holds back the files that have not started; active uploads finish. */
  pauseAll(): void {
    this.#isHeld = true
    this.#changed()
  }

  resume(...items: UploadItem[]): void {
    for (const item of items) resumeItem(item, this.#context)
    this.#changed()
    this.#pump()
  }

  resumeAll(): void {
    this.#isHeld = false
    this.resume(...this.items)
  }

  cancel(...items: UploadItem[]): void {
    const unsent = items.filter((item) => item.isUnsent)
    for (const item of unsent) cancelItem(item, this.#context)
    this.#changed()
    if (unsent.length > 0) this.#completeIfSettled()
    this.#pump()
  }

  /** Retries a file that failed or was canceled. If the file waits for its next attempt, the attempt starts now. */
  retry(item: UploadItem): void {
    if (item.state === 'waiting') item.wake.abort()
    this.#retry(['failed', 'cancelled'].includes(item.state) ? [item] : [])
  }

  /** Retries all failed files, and those that wait for their next attempt. Canceled files are retried only by `retry`. */
  retryFailed(): void {
    for (const item of this.items) if (item.state === 'waiting') item.wake.abort()
    this.#retry(this.items.filter(({ state, retriable, file }) => state === 'failed' && retriable && file))
  }

  /** Removes files from the list and cancels their uploads. */
  remove(...items: UploadItem[]): void {
    for (const item of items) {
      if (item.isUnsent) this.cancel(item)
      item.controller.abort()
      item.cover?.controller.abort()
      const at = this.#items.indexOf(item)
      if (at >= 0) this.#items.splice(at, 1)
      void this.#context.ledger.forget(item)
      // The upload of an active item is discarded by `#run` when it ends.
      if (!item.isActive) void discardUpload(item, this.#context)
    }
    this.#changed()
  }

  /** Sets the cover of the file's track. */
  addCover(item: UploadItem, file: File): void {
    void setCover(item, file, this.#context)
  }

  #addOne(file: File): UploadItem {
    const interrupted = this.items.find(
      (item) => item.state === 'interrupted' && item.name === file.name && item.size === file.size,
    )
    if (interrupted) {
      this.choose(interrupted, file)
      return interrupted
    }
    const item = new UploadItem(file, file)
    this.#items.push(item)
    const problem = problemOfFile(file, this.#options)
    if (problem) {
      this.#reject(item, problem)
    } else {
      this.#context.emit('file-added', item, {})
      void this.#check(item, file)
    }
    return item
  }

  #reject(item: UploadItem, problem: Problem): void {
    Object.assign(item, { state: 'rejected', problem, retriable: false })
    void this.#context.ledger.finish(item)
    this.#context.emit('file-rejected', item, problem)
  }

  async #check(item: UploadItem, file: File): Promise<void> {
    const problem = await checkFile(item, file, this.#context, () => this.items.includes(item))
    if (problem) {
      this.#reject(item, problem)
      this.#changed(item)
      this.#completeIfSettled()
    }
    item.checked = true
    this.#pump()
  }

  /** Starts queued files until `concurrency` files are being uploaded. */
  #pump(): void {
    if (!this.items.some((item) => item.isUnsent)) this.#isStarted = false
    if (this.#isHeld || this.#problem || this.isIdle) return
    const waiting = this.items.filter(({ state, isActive }) => state === 'queued' && !isActive)
    const { apiKey, collectionId, uploadSessionId, concurrency = CONCURRENCY } = this.#options
    if (waiting.length > 0 && !(apiKey && (collectionId || uploadSessionId))) {
      return this.#stop({ code: 'not_set_up', message: '' })
    }
    for (const item of waiting.slice(0, Math.max(0, concurrency - this.#running))) {
      // Later files wait for this file, because the tracks must be created in the order of the list.
      if (!item.checked) return
      void this.#run(item)
    }
  }

  async #run(item: UploadItem): Promise<void> {
    this.#running++
    // Aborts the previous controller, which ends a wait for another tab.
    item.controller.abort()
    item.controller = new AbortController()
    item.isActive = true
    const { signal } = item.controller
    // The callback `describe` of the page may throw.
    const delivery = await deliver(item, this.#context).catch(failedWith)
    item.isActive = false
    this.#running--
    if (!signal.aborted) this.#end(item, delivery)
    if (item.state === 'paused') item.sent = item.stored
    if (!this.items.includes(item)) void discardUpload(item, this.#context)
    this.#changed(item)
    this.#pump()
  }

  #end(item: UploadItem, delivery: Delivery): void {
    endDelivery(item, delivery, this.#context)
    if (delivery.end === 'done') void this.#follow(item)
    else if (delivery.end === 'failed') this.#completeIfSettled()
    else if (delivery.end === 'stopped') this.#stop(delivery.problem)
    else if (delivery.end === 'elsewhere') void this.#takeOver(item)
  }

  async #follow(item: UploadItem): Promise<void> {
    await followTrack(item, this.#context)
    if (this.items.includes(item)) void this.#context.ledger.finish(item)
    this.#completeIfSettled()
  }

  /** Waits until the other tab releases the file, and then continues the upload in this tab. */
  async #takeOver(item: UploadItem): Promise<void> {
    await takeOver(item, this.#context)
    this.resume(item)
    // The queue may be complete now, because the item was removed or waits for the user.
    this.#completeIfSettled()
  }

  #retry(items: UploadItem[]): void {
    for (const item of items) requeueItem(item, this.#context)
    if (items.length > 0) this.#isComplete = false
    this.#isStarted = true
    this.#changed()
    this.#pump()
  }

  /** Starts no more files until the problem is solved. */
  #stop(problem: Problem): void {
    if (this.#problem) return
    this.#problem = problem
    this.#listener.onQueueEvent?.('upload-error', problem)
    this.#changed()
  }

  #completeIfSettled(): void {
    const result = this.#isComplete ? null : resultOf(this.items)
    if (!result) return
    this.#isComplete = true
    this.#listener.onQueueEvent?.('queue-complete', result)
  }

  #changed(item?: UploadItem): void {
    this.#listener.onChange?.(item)
  }
}
