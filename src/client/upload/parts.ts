import type { PartUpload } from '../../contract/multipart.ts'
import { type Client, uploadFile } from '../client.ts'
import { backoff, type Failure, isPassing, noAnswer, sleep } from '../retry.ts'
import type { Parts, Target, UploadItem } from './item.ts'
import {
  afterCall,
  afterUpload,
  DELAYS,
  problemOfUpload,
  type Step,
  stepOf,
  type UploadContext,
  type Verdict,
} from './session.ts'

/** Files of more bytes travel in parts: a lost connection costs one of them, and a pause none. */
export const PARTS_FROM = 32_000_000
const AT_ONCE = 4
/** URLs that are asked for at a time; what has arrived is reported with it. */
const URLS_AT_ONCE = 8
const REPORTED_AT_ONCE = 200
/** A URL this close to its end is not begun to be used, in milliseconds. */
const MARGIN = 60_000

const IN_SESSION = '/v1/upload/{upload_session_id}/track/{track_id}/multipart'

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
  #result: Step | null = null

  constructor(item: UploadItem, file: File, target: Target, context: UploadContext, signal: AbortSignal) {
    this.#item = item
    this.#file = file
    this.#target = target
    this.#context = context
    this.#signal = signal
  }

  /** Sends until all is there, or nothing moves any more: then somebody waits and sends again. */
  async send(): Promise<Step> {
    const opened = await this.#open()
    if (opened) return opened
    this.#active = AT_ONCE
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#work()))
    return this.#result ?? this.#complete()
  }

  get #client(): Client {
    return this.#target.client
  }
  get #place() {
    const { upload_session_id, track_id } = this.#target
    return { upload_session_id, track_id }
  }

  async #open(): Promise<Step | null> {
    const { parts, fingerprint } = this.#item
    if (parts) return null
    const opened = await this.#client.post(IN_SESSION, {
      params: this.#place,
      body: { file_size: this.#file.size, ...(fingerprint && { fingerprint }) },
      signal: this.#signal,
    })
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
    for (let failures = 0; !this.#result && !this.#signal.aborted;) {
      const part_number = this.#take()
      if (part_number === null) break
      const step = await this.#sendPart(part_number)
      this.#taken.delete(part_number)
      this.#loaded.delete(part_number)
      if (step.ok) failures = 0
      else if (step.verdict !== 'retry') this.#result ??= step
      else if (!(await this.#waitForOthers(step, failures++))) return
    }
    this.#active--
  }

  /** Whether to go on: not, when nobody else gets on either. */
  async #waitForOthers(step: Step, failures: number): Promise<boolean> {
    if (--this.#active === 0) {
      this.#result ??= step
      return false
    }
    await sleep(backoff(failures, DELAYS), this.#signal, { online: true })
    if (this.#result || this.#active === 0) return false
    this.#active++
    return true
  }

  #take(): number | null {
    const { part_count, etags } = this.#parts
    for (let n = 1; n <= part_count; n++) {
      if (n in etags || this.#taken.has(n)) continue
      this.#taken.add(n)
      return n
    }
    return null
  }

  async #sendPart(part_number: number): Promise<Step> {
    const failure = await this.#ensureUrl(part_number)
    if (failure) return stepOf(failure, this.#afterCall(failure))
    const url = this.#urls.get(part_number)
    if (!url) return stepOf(noAnswer(this.#signal.aborted), 'retry')
    const start = (part_number - 1) * this.#parts.part_size
    const sent = await uploadFile(url, this.#file.slice(start, start + url.size), {
      signal: this.#signal,
      onProgress: (fraction) => this.#progress(part_number, fraction * url.size),
    })
    if (sent.ok) return this.#store(part_number, sent.etag)
    this.#urls.delete(part_number)
    const verdict = afterUpload(sent)
    // Another URL of the part is enough, where a file that travels whole needs another track.
    return { ok: false, verdict: verdict === 'renew' ? 'retry' : verdict, problem: problemOfUpload(sent) }
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
    const { part_count, etags, id } = this.#parts
    const next = [part_number]
    for (let n = 1; n <= part_count && next.length < URLS_AT_ONCE; n++) {
      if (!(n in etags) && n !== part_number && !this.#isFresh(n)) next.push(n)
    }
    const done = this.#unreported()
    const signed = await this.#client.post(`${IN_SESSION}/{multipart_upload_id}/part`, {
      params: { ...this.#place, multipart_upload_id: id },
      body: { done, next },
      signal: this.#signal,
    })
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
    if (this.#signal.aborted) return stepOf(noAnswer(true), 'fail')
    const done = this.#unreported()
    const completed = await this.#client.post(`${IN_SESSION}/{multipart_upload_id}/complete`, {
      params: { ...this.#place, multipart_upload_id: this.#parts.id },
      body: { done },
      signal: this.#signal,
    })
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
    const isGone = failure.status === 404 || (failure.status === 410 && this.#context.session().renews)
    return isGone ? 'renew' : afterCall(failure)
  }

  get #parts(): Parts {
    return this.#item.parts ?? { id: '', part_size: 1, part_count: 0, endsAt: 0, etags: {} }
  }

  #remember(): void {
    void this.#context.ledger.remember(this.#item)
  }
}

/** Nothing of a file is kept: not here, nor in storage, which would otherwise keep its parts for a day. */
export async function abandon(item: UploadItem, { ledger }: UploadContext): Promise<void> {
  await ledger.forget(item)
  const { parts, target } = item
  if (!parts || !target) return
  const { client, upload_session_id, track_id } = target
  const params = { upload_session_id, track_id, multipart_upload_id: parts.id }
  await client.delete(`${IN_SESSION}/{multipart_upload_id}`, { params })
}
