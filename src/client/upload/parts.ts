import type { PartUpload } from '../../contract/multipart.ts'
import { type Client, uploadFile } from '../client.ts'
import { backoff, type Failure, isPassing, noAnswer, sleep } from '../retry.ts'
import type { Parts, Target, UploadItem } from './item.ts'
import {
  afterCall,
  afterUpload,
  callFor,
  DELAYS,
  problemOfUpload,
  type Step,
  stepOf,
  type UploadContext,
  type Verdict,
} from './session.ts'

const AT_ONCE = 4
/** How much faster all connections together must become by one more. */
const GAIN = 1.2
/** A part that takes longer, in milliseconds, is sent alone when a second connection does not help. */
const SLOW = 5000
/** URLs that are asked for at a time; what has arrived is reported with it. */
const URLS_AT_ONCE = 8
const REPORTED_AT_ONCE = 200
/** A URL this close to its end is not begun to be used, in milliseconds. */
const MARGIN = 60_000

const IN_SESSION = '/v1/upload/{upload_session_id}/track/{track_id}/multipart'

interface About {
  params: { upload_session_id: string; track_id: string; multipart_upload_id: string }
  signal: AbortSignal
}

/** Brings a file into storage in parts, those that are not there yet. */
export class PartSender {
  #item: UploadItem
  #file: File
  #target: Target
  #context: UploadContext
  #signal: AbortSignal
  #urls = new Map<number, PartUpload & { endsAt: number }>()
  #reported = new Set<number>()
  #taken = new Set<number>()
  /** Bytes of the parts that are on their way. */
  #loaded = new Map<number, number>()
  #asking: Promise<Failure | null> | null = null
  #active = 0
  /** Connections at the same time: one more each time, as long as that makes the whole faster. What is under way can be lost. */
  #most = 1
  #isSettled = false
  /** Parts per millisecond, over all connections. */
  #rate = 0
  #result: Step | null = null

  constructor(item: UploadItem, file: File, target: Target, context: UploadContext, signal: AbortSignal) {
    this.#item = item
    this.#file = file
    this.#target = target
    this.#context = context
    this.#signal = signal
  }

  /** Sends until the file is complete, paused, or stuck; the caller retries a stuck one. */
  async send(): Promise<Step> {
    const opened = await this.#open()
    if (opened) return opened
    // It may be resumed while the last parts of a pause arrive.
    while (!this.#isHalted && this.#next !== undefined) await this.#work()
    return this.#result ?? (this.#isHalted ? stepOf(noAnswer(true), 'retry') : this.#complete())
  }

  get #isHalted(): boolean {
    return this.#result !== null || this.#signal.aborted || this.#item.state === 'paused'
  }
  /** Calls the service about this upload. */
  #call<T extends { ok: true }>(call: (client: Client, about: About) => Promise<T | Failure>): Promise<T | Failure> {
    const about = { params: { ...this.#target, multipart_upload_id: this.#parts.id }, signal: this.#signal }
    return callFor(this.#target, this.#context, (client) => call(client, about))
  }

  async #open(): Promise<Step | null> {
    const { parts, fingerprint } = this.#item
    if (parts) return null
    const body = { file_size: this.#file.size, ...(fingerprint && { fingerprint }) }
    const opened = await this.#call((client, about) => client.post(IN_SESSION, { ...about, body }))
    // It came whole, and only the answer got lost.
    if (!opened.ok && opened.code === 'track_uploaded') return { ok: true }
    if (!opened.ok) return stepOf(opened, this.#afterCall(opened))
    const { id, part_size, part_count, parts: stored, expires_at } = opened.multipart_upload
    const etags = Object.fromEntries(stored.map(({ part_number, etag }) => [part_number, etag]))
    for (const { part_number } of stored) this.#reported.add(part_number)
    this.#item.parts = { id, part_size, part_count, endsAt: Date.parse(expires_at) - MARGIN, etags }
    this.#keepUrls(opened.parts)
    this.#remember()
    return null
  }

  /** One of those that send at the same time. While others get on, a failure is waited out; the last one ends the attempt. */
  async #work(): Promise<void> {
    const others: Promise<void>[] = []
    this.#active++
    for (let failures = 0; !this.#isHalted && this.#active <= this.#most;) {
      const part_number = this.#next
      if (part_number === undefined) break
      this.#taken.add(part_number)
      const step = await this.#sendPart(part_number)
      this.#taken.delete(part_number)
      this.#loaded.delete(part_number)
      if (step.ok) {
        failures = 0
        for (let n = this.#active; n < this.#most; n++) others.push(this.#work())
      } else if (step.verdict !== 'retry') this.#result ??= step
      else if (this.#isHalted || !(await this.#waitForOthers(step, failures++))) break
    }
    this.#active--
    await Promise.all(others)
  }

  /** Whether to go on: not, when nobody else gets on either. */
  async #waitForOthers(step: Step, failures: number): Promise<boolean> {
    if (--this.#active === 0) this.#result ??= step
    else await sleep(backoff(failures, DELAYS), this.#signal, { online: true })
    return this.#active++ > 0
  }

  /** The first part that is neither there nor under way. */
  get #next(): number | undefined {
    const { part_count, etags } = this.#parts
    for (let n = 1; n <= part_count; n++) if (!(n in etags) && !this.#taken.has(n)) return n
    return undefined
  }

  async #sendPart(part_number: number): Promise<Step> {
    const failure = await this.#ensureUrl(part_number)
    if (failure) return stepOf(failure, this.#afterCall(failure))
    const url = this.#urls.get(part_number)
    if (!url || this.#isHalted) return stepOf(noAnswer(this.#signal.aborted), 'retry')
    const start = (part_number - 1) * this.#parts.part_size
    const [begun, active] = [Date.now(), this.#active]
    const sent = await uploadFile(url, this.#file.slice(start, start + url.size), {
      signal: this.#signal,
      onProgress: (fraction) => this.#progress(part_number, fraction * url.size),
    })
    if (sent.ok) {
      this.#pace(active, Math.max(1, Date.now() - begun))
      return this.#store(part_number, sent.etag)
    }
    this.#urls.delete(part_number)
    return { ok: false, verdict: afterPart(sent), problem: problemOfUpload(sent) }
  }

  /** After a part that was sent beside others in so many milliseconds. */
  #pace(active: number, time: number): void {
    if (this.#isSettled || active < this.#most) return
    const rate = active / time
    const isFaster = rate > this.#rate * GAIN
    this.#rate = rate
    if (isFaster) this.#most++
    else if (time > SLOW) this.#most--
    this.#isSettled = !isFaster || this.#most === AT_ONCE
  }

  #store(part_number: number, etag: string | null): Step {
    // Without CORS' `ExposeHeaders: ETag` of the bucket, it cannot be put together.
    if (!etag)
      return { ok: false, verdict: 'fail', problem: { code: 'etag_hidden', message: 'The storage hides ETags' } }
    this.#parts.etags[part_number] = etag
    this.#remember()
    return { ok: true }
  }

  #progress(part_number: number, loaded: number): void {
    if (this.#signal.aborted) return
    const { size } = this.#file
    this.#loaded.set(part_number, loaded)
    const onTheirWay = [...this.#loaded.values()].reduce((sum, bytes) => sum + bytes, 0)
    this.#item.sent = Math.min(size, Math.round(this.#item.stored + onTheirWay))
    this.#context.emit('upload-progress', this.#item, { loaded: this.#item.sent, total: size })
    this.#context.changed(this.#item)
  }

  /** Sees to a URL with time left; all who need one share a request. */
  async #ensureUrl(part_number: number): Promise<Failure | null> {
    while (!this.#isFresh(part_number)) {
      if (this.#signal.aborted) return noAnswer(true)
      this.#asking ??= this.#ask(part_number).finally(() => (this.#asking = null))
      const failure = await this.#asking
      if (failure) return failure
    }
    return null
  }

  #isFresh(part_number: number): boolean {
    const url = this.#urls.get(part_number)
    return url !== undefined && url.endsAt > Date.now()
  }

  async #ask(part_number: number): Promise<Failure | null> {
    const { part_count, etags } = this.#parts
    const next = [part_number]
    for (let n = 1; n <= part_count && next.length < URLS_AT_ONCE; n++) {
      if (!(n in etags) && n !== part_number && !this.#isFresh(n)) next.push(n)
    }
    const done = this.#unreported()
    const body = { done, next }
    const signed = await this.#call((client, about) =>
      client.post(`${IN_SESSION}/{multipart_upload_id}/part`, { ...about, body }),
    )
    if (!signed.ok) return signed
    for (const part of done) this.#reported.add(part.part_number)
    this.#keepUrls(signed.parts)
    return null
  }

  #keepUrls(parts: PartUpload[]): void {
    const now = Date.now()
    for (const part of parts) this.#urls.set(part.part_number, { ...part, endsAt: now + part.ttl * 1000 - MARGIN })
  }

  #unreported() {
    return (
      Object.entries(this.#parts.etags)
        .map(([part_number, etag]) => ({ part_number: Number(part_number), etag }))
        .filter(({ part_number }) => !this.#reported.has(part_number))
        // After a reload the first ones were reported long ago, though nothing here tells.
        .slice(-REPORTED_AT_ONCE)
    )
  }

  async #complete(): Promise<Step> {
    const body = { done: this.#unreported() }
    const completed = await this.#call((client, about) =>
      client.post(`${IN_SESSION}/{multipart_upload_id}/complete`, { ...about, body }),
    )
    if (completed.ok) return { ok: true }
    const isWrong = ['parts_missing', 'invalid_part', 'size_mismatch'].includes(completed.code)
    if (!isWrong) return stepOf(completed, this.#afterCall(completed))
    // The storage has other parts than we think: it is asked anew.
    this.#item.parts = null
    return stepOf(completed, 'retry')
  }

  /** What is not there any more is begun anew, with another track. */
  #afterCall(failure: Failure): Verdict {
    if (isPassing(failure)) return 'retry'
    const isOther = this.#target.upload_session_id !== this.#context.session().own
    const isGone = failure.status === 404 || (failure.status === 410 && isOther)
    return isGone ? 'renew' : afterCall(failure)
  }

  get #parts(): Parts {
    return this.#item.parts ?? { id: '', part_size: 1, part_count: 0, endsAt: 0, etags: {} }
  }

  #remember(): void {
    void this.#context.ledger.remember(this.#item)
  }
}

/** After the storage's answer to a part: against 403, another URL is enough; 404 says that the upload in parts has ended. */
function afterPart(failure: Failure): Verdict {
  const verdict = afterUpload(failure)
  if (failure.status === 404) return 'renew'
  return verdict === 'renew' ? 'retry' : verdict
}
