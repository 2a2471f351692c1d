import type { PartUpload } from '../../contract/multipart.ts'
import { type Client, uploadFile } from '../client.ts'
import { backoff, type Failure, isTransient, noResponse, sleep } from '../retry.ts'
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
/** Minimum factor by which an additional connection must raise the total speed; otherwise no more connections are added. */
const GAIN = 1.2
/** Milliseconds. If a part takes longer than this and the last additional connection did not raise the speed, that connection is removed. */
const SLOW = 5000
/** Maximum number of URLs per request. The same request reports the parts that have arrived. */
const URLS_AT_ONCE = 8
const REPORTED_AT_ONCE = 200
/** Minimum milliseconds until a URL expires; URLs that expire sooner are not used. */
const MARGIN = 60_000

const IN_SESSION = '/v1/upload/{upload_session_id}/track/{track_id}/multipart'

interface CallOptions {
  params: { upload_session_id: string; track_id: string; multipart_upload_id: string }
  signal: AbortSignal
}

/** Sends the missing parts of a file to the storage. */
export class PartSender {
  #item: UploadItem
  #file: File
  #target: Target
  #context: UploadContext
  #signal: AbortSignal
  #urls = new Map<number, PartUpload & { endsAt: number }>()
  #reported = new Set<number>()
  #inFlight = new Set<number>()
  /** Number of bytes that were sent of each part in flight, by part number. */
  #loaded = new Map<number, number>()
  #requesting: Promise<Failure | null> | null = null
  #active = 0
  /** Maximum number of connections. It grows only while additional connections raise the total speed, because every part in flight can be lost. */
  #maxActive = 1
  #isSettled = false
  /** The last measured speed over all connections, in parts per millisecond. */
  #rate = 0
  #result: Step | null = null

  constructor(item: UploadItem, file: File, target: Target, context: UploadContext, signal: AbortSignal) {
    this.#item = item
    this.#file = file
    this.#target = target
    this.#context = context
    this.#signal = signal
  }

  /** Sends parts until the file is complete or paused, or until all connections have failed. In the last case, the caller retries. */
  async send(): Promise<Step> {
    const opened = await this.#open()
    if (opened) return opened
    // The file may be resumed while the parts that were in flight at the pause are still being sent.
    while (!this.#isHalted && this.#next !== undefined) await this.#work()
    return this.#result ?? (this.#isHalted ? stepOf(noResponse(true), 'retry') : this.#complete())
  }

  get #isHalted(): boolean {
    return this.#result !== null || this.#signal.aborted || this.#item.state === 'paused'
  }
  /** Calls the service with the parameters of this upload. */
  #call<T extends { ok: true }>(
    call: (client: Client, options: CallOptions) => Promise<T | Failure>,
  ): Promise<T | Failure> {
    const options = { params: { ...this.#target, multipart_upload_id: this.#parts.id }, signal: this.#signal }
    return callFor(this.#target, this.#context, (client) => call(client, options))
  }

  async #open(): Promise<Step | null> {
    const { parts, fingerprint } = this.#item
    if (parts) return null
    const body = { file_size: this.#file.size, ...(fingerprint && { fingerprint }) }
    const opened = await this.#call((client, options) => client.post(IN_SESSION, { ...options, body }))
    // The upload was completed before, but the response was lost.
    if (!opened.ok && opened.code === 'track_uploaded') return { ok: true }
    if (!opened.ok) return stepOf(opened, this.#afterCall(opened))
    const { id, part_size, part_count, parts: stored, expires_at } = opened.multipart_upload
    const etags = Object.fromEntries(stored.map(({ part_number, etag }) => [part_number, etag]))
    for (const { part_number } of stored) this.#reported.add(part_number)
    this.#item.parts = { id, part_size, part_count, endsAt: Date.parse(expires_at) - MARGIN, etags }
    this.#keepUrls(opened.parts)
    this.#save()
    return null
  }

  /**
   * Sends one part after another, concurrently with other calls. After a failure it waits if other calls are active; if it is the last
   * active call, the attempt ends.
   */
  async #work(): Promise<void> {
    const started: Promise<void>[] = []
    this.#active++
    for (let failures = 0; !this.#isHalted && this.#active <= this.#maxActive;) {
      const part_number = this.#next
      if (part_number === undefined) break
      this.#inFlight.add(part_number)
      const step = await this.#sendPart(part_number)
      this.#inFlight.delete(part_number)
      this.#loaded.delete(part_number)
      if (step.ok) {
        failures = 0
        for (let n = this.#active; n < this.#maxActive; n++) started.push(this.#work())
      } else if (step.verdict !== 'retry') this.#result ??= step
      else if (this.#isHalted || !(await this.#waitForOthers(step, failures++))) break
    }
    this.#active--
    await Promise.all(started)
  }

  /** Waits after a failure. Resolves to false if no other call of `#work` is active, before or after the wait; the attempt then ends. */
  async #waitForOthers(step: Step, failures: number): Promise<boolean> {
    if (--this.#active === 0) this.#result ??= step
    else await sleep(backoff(failures, DELAYS), this.#signal, { online: true })
    return this.#active++ > 0
  }

  /** The number of the first part that is neither stored nor in flight; undefined if there is none. */
  get #next(): number | undefined {
    const { part_count, etags } = this.#parts
    for (let n = 1; n <= part_count; n++) if (!(n in etags) && !this.#inFlight.has(n)) return n
    return undefined
  }

  async #sendPart(part_number: number): Promise<Step> {
    const failure = await this.#ensureUrl(part_number)
    if (failure) return stepOf(failure, this.#afterCall(failure))
    const url = this.#urls.get(part_number)
    if (!url || this.#isHalted) return stepOf(noResponse(this.#signal.aborted), 'retry')
    const start = (part_number - 1) * this.#parts.part_size
    const [startedAt, active] = [Date.now(), this.#active]
    const sent = await uploadFile(url, this.#file.slice(start, start + url.size), {
      signal: this.#signal,
      onProgress: (fraction) => this.#progress(part_number, fraction * url.size),
    })
    if (sent.ok) {
      this.#adaptConnections(active, Math.max(1, Date.now() - startedAt))
      return this.#store(part_number, sent.etag)
    }
    this.#urls.delete(part_number)
    return { ok: false, verdict: afterPart(sent), problem: problemOfUpload(sent) }
  }

  /** Adapts the number of connections after a part was sent in `time` milliseconds, while `active` connections were in use. */
  #adaptConnections(active: number, time: number): void {
    if (this.#isSettled || active < this.#maxActive) return
    const rate = active / time
    const isFaster = rate > this.#rate * GAIN
    this.#rate = rate
    if (isFaster) this.#maxActive++
    else if (time > SLOW) this.#maxActive--
    this.#isSettled = !isFaster || this.#maxActive === AT_ONCE
  }

  #store(part_number: number, etag: string | null): Step {
    // The ETags are necessary to complete the upload, so the bucket's CORS rules must have `ExposeHeaders: ETag`.
    if (!etag)
      return { ok: false, verdict: 'fail', problem: { code: 'etag_hidden', message: 'The storage hides ETags' } }
    this.#parts.etags[part_number] = etag
    this.#save()
    return { ok: true }
  }

  #progress(part_number: number, loaded: number): void {
    if (this.#signal.aborted) return
    const { size } = this.#file
    this.#loaded.set(part_number, loaded)
    const inFlight = [...this.#loaded.values()].reduce((sum, bytes) => sum + bytes, 0)
    this.#item.advance(Math.min(size, Math.round(this.#item.stored + inFlight)))
    this.#context.emit('upload-progress', this.#item, { loaded: this.#item.sent, total: size })
    this.#context.changed(this.#item)
  }

  /** Ensures that a part has a valid URL. Concurrent callers share one request. */
  async #ensureUrl(part_number: number): Promise<Failure | null> {
    while (!this.#isFresh(part_number)) {
      if (this.#signal.aborted) return noResponse(true)
      this.#requesting ??= this.#requestUrls(part_number).finally(() => (this.#requesting = null))
      const failure = await this.#requesting
      if (failure) return failure
    }
    return null
  }

  #isFresh(part_number: number): boolean {
    const url = this.#urls.get(part_number)
    return url !== undefined && url.endsAt > Date.now()
  }

  async #requestUrls(part_number: number): Promise<Failure | null> {
    const { part_count, etags } = this.#parts
    const next = [part_number]
    for (let n = 1; n <= part_count && next.length < URLS_AT_ONCE; n++) {
      if (!(n in etags) && n !== part_number && !this.#isFresh(n)) next.push(n)
    }
    const done = this.#unreported()
    const body = { done, next }
    const signed = await this.#call((client, options) =>
      client.post(`${IN_SESSION}/{multipart_upload_id}/part`, { ...options, body }),
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
        // After a reload, `#reported` is empty, but the first parts were reported before the reload.
        .slice(-REPORTED_AT_ONCE)
    )
  }

  async #complete(): Promise<Step> {
    const body = { done: this.#unreported() }
    const completed = await this.#call((client, options) =>
      client.post(`${IN_SESSION}/{multipart_upload_id}/complete`, { ...options, body }),
    )
    if (completed.ok) return { ok: true }
    const isMismatch = ['parts_missing', 'invalid_part', 'size_mismatch'].includes(completed.code)
    if (!isMismatch) return stepOf(completed, this.#afterCall(completed))
    // The storage does not have the expected parts, so the next attempt requests the list of parts again from the service.
    this.#item.parts = null
    return stepOf(completed, 'retry')
  }

  /** Decides what follows a refusal by the service. `renew`: the track or its session is gone, so the upload starts again with another track. */
  #afterCall(failure: Failure): Verdict {
    if (isTransient(failure)) return 'retry'
    const isOther = this.#target.upload_session_id !== this.#context.session().fixedId
    const isGone = failure.status === 404 || (failure.status === 410 && isOther)
    return isGone ? 'renew' : afterCall(failure)
  }

  get #parts(): Parts {
    return this.#item.parts ?? { id: '', part_size: 1, part_count: 0, endsAt: 0, etags: {} }
  }

  #save(): void {
    void this.#context.ledger.save(this.#item)
  }
}

/**
 * Decides what follows a refusal of a part by the storage. With 403, another URL is sufficient; 404 means that the multipart upload no
 * longer exists.
 */
function afterPart(failure: Failure): Verdict {
  const verdict = afterUpload(failure)
  if (failure.status === 404) return 'renew'
  return verdict === 'renew' ? 'retry' : verdict
}
