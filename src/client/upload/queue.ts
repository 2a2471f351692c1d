import { findCovers, isTextFile, problemOfFile } from './accept.ts'
import { abandon, deliver, type Delivery, follow, leaveTrack, setCover } from './deliver.ts'
import { PARTS_FROM, type Problem, UploadItem, type UploadListener, type UploadOptions } from './item.ts'
import { findInterrupted, openLedger, recall, takeAgain } from './ledger.ts'
import { oneByOne, placeOf, type UploadContext, UploadSession } from './session.ts'
import { cancelItem, pauseItem, requeueItem, resumeItem } from './steer.ts'

const CONCURRENCY = 3

/** A list of files on their way into a collection: a few travel at once, the others wait in line. No DOM, and no sentences. */
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
  /** Whether it was told that nothing is left to do. */
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
      ledger: openLedger(() => placeOf(this.#options)),
      inOrder: oneByOne(),
    }
  }

  /** Nothing more is begun until `resumeAll`. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Files wait for `start`. */
  get isIdle(): boolean {
    return this.#options.manual === true && !this.#isStarted
  }

  /** What stops every file; null while they travel. */
  get problem(): Problem | null {
    return this.#problem
  }

  /** Changes some options. Files whose tracks are made already keep these; the key that made them only until it is refused. */
  configure(options: Partial<UploadOptions>): void {
    const before = this.#options
    this.#options = { ...before, ...options }
    const place = ['baseUrl', 'apiKey', 'collectionId', 'uploadSessionId'] as const
    if (place.every((name) => before[name] === this.#options[name])) return this.#pump()
    this.#session = new UploadSession(this.#options)
    // What is set in one go, attribute by attribute, counts as a whole.
    queueMicrotask(() => this.reconsider())
  }

  add(files: Iterable<File>): UploadItem[] {
    const given = [...files]
    const covers = findCovers(given, this.#options)
    const pictures = new Set(covers.values())
    const added = given.filter((file) => !pictures.has(file)).map((file) => this.#addOne(file))
    for (const item of added) {
      const cover = item.file && covers.get(item.file)
      if (cover) this.addCover(item, cover)
    }
    this.#isComplete = false
    this.#changed()
    return added
  }

  /** Begins, after `manual` or after something that stopped everything. */
  start(): void {
    this.#isStarted = true
    this.#isHeld = false
    this.reconsider()
  }

  /** What stopped everything may be gone. */
  reconsider(): void {
    this.#problem = null
    this.#changed()
    this.#pump()
  }

  /** Parts in flight still arrive; a second pause aborts them. */
  pause(item: UploadItem): void {
    pauseItem(item, this.#context)
  }

  /** Lists the files that were on their way when the page was left: each goes on when it is chosen again. */
  async restore(): Promise<void> {
    this.#items.push(...(await findInterrupted(this.items, this.#context.ledger)))
    this.#changed()
  }

  /** Gives an item its file again, that was interrupted, or another one in place of one that was changed since. */
  choose(item: UploadItem, file: File): void {
    if (item.state === 'interrupted') return void this.#chooseAgain(item, file)
    const isAlike = file.name === item.name && file.size === item.size
    if (!isAlike || item.parts) {
      leaveTrack(item, this.#context)
      void this.#context.ledger.forget(item)
    }
    const { name, size } = file
    Object.assign(item, { file, name, size, state: 'queued', problem: null, sent: 0, checked: false })
    this.#isComplete = false
    this.#changed()
    void this.#check(item, file)
  }

  async #chooseAgain(item: UploadItem, file: File): Promise<void> {
    if (await takeAgain(item, file)) this.#context.emit('upload-resume', item, {})
    this.#isComplete = false
    this.#changed()
    this.#pump()
  }

  /** Holds back the files that have not begun; those on their way arrive. */
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
    const given = items.filter((item) => item.isUnsent)
    for (const item of given) cancelItem(item, this.#context)
    this.#changed()
    if (given.length > 0) this.#completeIfSettled()
    this.#pump()
  }

  /** Tries a file again that failed or was cancelled, or does not let it wait any longer. */
  retry(item: UploadItem): void {
    if (item.state === 'waiting') item.wake.abort()
    this.#retry(['failed', 'cancelled'].includes(item.state) ? [item] : [])
  }

  /** Tries all again that failed; what was cancelled comes back only by name. */
  retryFailed(): void {
    for (const item of this.items) if (item.state === 'waiting') item.wake.abort()
    this.#retry(this.items.filter(({ state, retriable }) => state === 'failed' && retriable))
  }

  /** Takes files from the list; what is on its way is cancelled. */
  remove(...items: UploadItem[]): void {
    for (const item of items) {
      if (item.isUnsent) this.cancel(item)
      item.controller.abort()
      item.cover?.controller.abort()
      const at = this.#items.indexOf(item)
      if (at >= 0) this.#items.splice(at, 1)
      // The end of a run sees to it.
      if (!item.isActive) void abandon(item, this.#context)
    }
    this.#changed()
  }

  /** A picture for a file's track. */
  addCover(item: UploadItem, file: File): void {
    void setCover(item, file, this.#context)
  }

  #addOne(file: File): UploadItem {
    const left = this.items.find(
      (one) => one.state === 'interrupted' && one.name === file.name && one.size === file.size,
    )
    if (left) {
      this.choose(left, file)
      return left
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
    if (file.size > PARTS_FROM) await recall(item, file, this.#context.ledger)
    if ((await isTextFile(file)) && item.isUnsent) {
      this.#reject(item, { code: 'text_file', message: '' })
      this.#changed(item)
      this.#completeIfSettled()
    }
    item.checked = true
    this.#pump()
  }

  /** Begins as many files as may travel now. */
  #pump(): void {
    if (!this.items.some((item) => item.isUnsent)) this.#isStarted = false
    if (this.#isHeld || this.#problem || this.isIdle) return
    const waiting = this.items.filter(({ state, isActive }) => state === 'queued' && !isActive)
    const { apiKey, collectionId, uploadSessionId, concurrency = CONCURRENCY } = this.#options
    if (waiting.length > 0 && !(apiKey && (collectionId || uploadSessionId))) {
      return this.#stop({ code: 'not_set_up', message: '' })
    }
    for (const item of waiting.slice(0, Math.max(0, concurrency - this.#running))) {
      // Nothing overtakes it: tracks have the order of the list.
      if (!item.checked) return
      void this.#run(item)
    }
  }

  async #run(item: UploadItem): Promise<void> {
    this.#running++
    // Ends the wait for another tab.
    item.controller.abort()
    item.controller = new AbortController()
    item.isActive = true
    const { signal } = item.controller
    // The page's own `describe` may throw.
    const ended = await deliver(item, this.#context).catch(broken)
    item.isActive = false
    this.#running--
    if (!signal.aborted) this.#end(item, ended)
    if (item.state === 'paused') item.sent = item.stored
    if (!this.items.includes(item)) void abandon(item, this.#context)
    this.#changed(item)
    this.#pump()
  }

  #end(item: UploadItem, delivery: Delivery): void {
    if (delivery.end === 'done') {
      Object.assign(item, { state: 'processing', sent: item.size, status: 'initializing', progress: null })
      void this.#context.ledger.forget(item)
      this.#context.emit('upload-complete', item, {})
      void follow(item, this.#context).then(() => this.#completeIfSettled())
    } else if (delivery.end === 'failed') {
      Object.assign(item, {
        state: 'failed',
        problem: delivery.problem,
        retriable: delivery.problem.code !== 'file_changed',
      })
      this.#context.emit('file-failed', item, delivery.problem)
      // Another file makes another track.
      if (!item.retriable && !this.#context.keepsTracks) void abandon(item, this.#context)
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

  /** Goes on with a file when the other tab that sent it has ended. */
  async #takeOver(item: UploadItem): Promise<void> {
    if ((await this.#context.ledger.claim(item, item.controller.signal)) && item.state === 'interrupted') {
      // Without a track to go on with, the user must choose the file again.
      Object.assign(item, { problem: null }, item.target ? { state: 'paused' } : { file: null })
      if (!item.file) void this.#context.ledger.forget(item)
      this.resume(item)
    }
    // The item may be off the list now, or wait for the user.
    this.#completeIfSettled()
  }

  #retry(items: UploadItem[]): void {
    for (const item of items) requeueItem(item, this.#context)
    if (items.length > 0) this.#isComplete = false
    this.#isStarted = true
    this.#changed()
    this.#pump()
  }

  /** Something concerns every file: nothing more is begun until it is put right. */
  #stop(problem: Problem): void {
    if (this.#problem) return
    this.#problem = problem
    this.#listener.onQueueEvent?.('upload-error', problem)
    this.#changed()
  }

  #completeIfSettled(): void {
    // An interrupted item that has its file waits for the tab that sends it.
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

const broken = (error: unknown): Delivery => ({ end: 'failed', problem: { code: 'internal', message: String(error) } })
