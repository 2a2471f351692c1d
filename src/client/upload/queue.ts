import { findCovers, isTextFile, problemOfFile } from './accept.ts'
import { cancelItem, pauseItem, requeueItem, resumeItem } from './actions.ts'
import { discardUpload, deliver, type Delivery, followTrack, detachTrack, setCover } from './deliver.ts'
import { MULTIPART_THRESHOLD, type Problem, UploadItem, type UploadListener, type UploadOptions } from './item.ts'
import { findInterrupted, openLedger, restoreUpload, reattachFile } from './ledger.ts'
import { createSerialQueue, destinationOf, type UploadContext, UploadSession } from './session.ts'

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
      ledger: openLedger(() => destinationOf(this.#options)),
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

  /** Adds the uploads that were interrupted when the user left the page. Each continues when the user chooses its file again. */
  async restore(): Promise<void> {
    this.#items.push(...(await findInterrupted(this.items, this.#context.ledger)))
    this.#changed()
  }

  /** Assigns a file to an item: the file of an interrupted item, or a new version of a file that has changed on disk. */
  choose(item: UploadItem, file: File): void {
    if (item.state === 'interrupted') return void this.#chooseAgain(item, file)
    const isAlike = file.name === item.name && file.size === item.size
    if (!isAlike || item.parts) {
      detachTrack(item, this.#context)
      void this.#context.ledger.remove(item)
    }
    const { name, size } = file
    Object.assign(item, { file, name, size, state: 'queued', problem: null, sent: 0, checked: false })
    this.#isComplete = false
    this.#changed()
    void this.#check(item, file)
  }

  async #chooseAgain(item: UploadItem, file: File): Promise<void> {
    if (await reattachFile(item, file)) this.#context.emit('upload-resume', item, {})
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
    this.#retry(this.items.filter(({ state, retriable }) => state === 'failed' && retriable))
  }

  /** Removes files from the list and cancels their uploads. */
  remove(...items: UploadItem[]): void {
    for (const item of items) {
      if (item.isUnsent) this.cancel(item)
      item.controller.abort()
      item.cover?.controller.abort()
      const at = this.#items.indexOf(item)
      if (at >= 0) this.#items.splice(at, 1)
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
    this.#context.emit('file-rejected', item, problem)
  }

  async #check(item: UploadItem, file: File): Promise<void> {
    if (file.size > MULTIPART_THRESHOLD) await restoreUpload(item, file, this.#context.ledger)
    if ((await isTextFile(file)) && item.isUnsent) {
      this.#reject(item, { code: 'text_file', message: '' })
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
    const delivery = await deliver(item, this.#context).catch(failed)
    item.isActive = false
    this.#running--
    if (!signal.aborted) this.#end(item, delivery)
    if (item.state === 'paused') item.sent = item.stored
    if (!this.items.includes(item)) void discardUpload(item, this.#context)
    this.#changed(item)
    this.#pump()
  }

  #end(item: UploadItem, delivery: Delivery): void {
    if (delivery.end === 'done') {
      Object.assign(item, { state: 'processing', sent: item.size, status: 'initializing', progress: null })
      void this.#context.ledger.remove(item)
      this.#context.emit('upload-complete', item, {})
      void followTrack(item, this.#context).then(() => this.#completeIfSettled())
    } else if (delivery.end === 'failed') {
      Object.assign(item, {
        state: 'failed',
        problem: delivery.problem,
        retriable: delivery.problem.code !== 'file_changed',
      })
      this.#context.emit('file-failed', item, delivery.problem)
      // The file that replaces it gets another track.
      if (!item.retriable && !this.#context.keepsTracks) void discardUpload(item, this.#context)
      this.#completeIfSettled()
    } else if (delivery.end === 'stopped') {
      Object.assign(item, { state: 'queued', sent: item.stored })
      this.#stop(delivery.problem)
    } else if (delivery.end === 'elsewhere') {
      Object.assign(item, { state: 'interrupted', problem: { code: 'other_tab', message: '' } })
      this.#context.emit('upload-pause', item, {})
      void this.#takeOver(item)
    }
  }

  /** Waits until the other tab releases the file, and then continues the upload in this tab. */
  async #takeOver(item: UploadItem): Promise<void> {
    if ((await this.#context.ledger.claim(item, item.controller.signal)) && item.state === 'interrupted') {
      // If the item has no track with which it can continue, the user must choose the file again.
      Object.assign(item, { problem: null }, item.target ? { state: 'paused' } : { file: null })
      if (!item.file) void this.#context.ledger.remove(item)
      this.resume(item)
    }
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
    // An interrupted item that has its file is not done: it waits for another tab.
    const isDone = (item: UploadItem) => item.isSettled && !(item.state === 'interrupted' && item.file)
    if (this.#isComplete || this.items.length === 0 || !this.items.every(isDone)) return
    this.#isComplete = true
    const count = (...states: string[]) => this.items.filter(({ state }) => states.includes(state)).length
    this.#listener.onQueueEvent?.('queue-complete', { ready: count('ready'), failed: count('failed', 'rejected') })
  }

  #changed(item?: UploadItem): void {
    this.#listener.onChange?.(item)
  }
}

const failed = (error: unknown): Delivery => ({ end: 'failed', problem: { code: 'internal', message: String(error) } })
