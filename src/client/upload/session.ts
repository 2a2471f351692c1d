import { type Client, createClient, randomKey } from '../client.ts'
import { type Backoff, type Failure, isTransient, noResponse } from '../retry.ts'
import type { Description, Problem, Target, TrackRequest, UploadEvents, UploadItem, UploadOptions } from './item.ts'
import type { Ledger } from './ledger.ts'

/** Opens upload sessions, creates tracks in them, and decides what follows a refusal. */

/** Minimum milliseconds until a session or URL expires; those that expire sooner are not used. */
const MARGIN = 60_000
/**
 * Lifetime of a session in milliseconds: one hour, like that of its first URLs (docs/architecture.md#uploads). Measured by this machine's clock.
 */
const SESSION_LENGTH = 3600_000

type Destination = Pick<UploadOptions, 'baseUrl' | 'apiKey' | 'collectionId' | 'uploadSessionId'>

type Opened = { ok: true; upload_session_id: string } | Failure

/** The client for a destination, and its current upload session. */
export class UploadSession {
  readonly client: Client
  /** Id of the session that the page provided. If there is none, this class opens sessions and replaces them when they end. */
  readonly fixedId: string | undefined
  #place: Destination
  #current: { id: string; endsAt: number } | null = null
  #opening: Promise<Opened> | null = null

  constructor(place: Destination) {
    this.#place = place
    this.client = createClient({ base_url: place.baseUrl, api_key: place.apiKey })
    this.fixedId = place.uploadSessionId || undefined
  }

  /** Resolves to the id of a valid session: the one that the page provided, or one that is opened when the first file needs it. */
  async open(): Promise<Opened> {
    if (this.fixedId) return { ok: true, upload_session_id: this.fixedId }
    if (this.#current && this.#current.endsAt > Date.now()) return { ok: true, upload_session_id: this.#current.id }
    // Several files may need a session at the same time, so they share the request.
    this.#opening ??= this.#create().finally(() => (this.#opening = null))
    return this.#opening
  }

  /** Discards a session that has ended. The next file opens another. */
  drop(upload_session_id: string): void {
    if (this.#current?.id === upload_session_id) this.#current = null
  }

  async #create(): Promise<Opened> {
    const endsAt = Date.now() + SESSION_LENGTH - MARGIN
    const body = { collection_id: this.#place.collectionId ?? '' }
    const created = await this.client.post('/v1/upload_session', { body })
    if (created.ok) this.#current = { id: created.upload_session_id, endsAt }
    return created
  }
}

/** The parts of the queue that the steps of an upload use. */
export interface UploadContext {
  session: () => UploadSession
  describe: (file: File) => Description
  keepsTracks: boolean
  emit: <K extends keyof UploadEvents>(type: K, item: UploadItem, detail: UploadEvents[K]) => void
  changed: (item?: UploadItem) => void
  ledger: Ledger
  /** Runs tasks one at a time, in the order in which they are passed. */
  inOrder: <T>(work: () => Promise<T>) => Promise<T>
}

/** Whether the upload URLs of the item's track are still valid. */
export const isFresh = ({ target, parts }: UploadItem) =>
  target?.track_upload !== undefined &&
  Date.now() < (parts?.endsAt ?? target.received + target.track_upload.ttl * 1000 - MARGIN)

/**
 * Creates the function `inOrder` of a context. With it, tracks are created in the order of the list of files, because a collection plays its
 * tracks in the order in which they were created.
 */
export function createSerialQueue() {
  let last: Promise<unknown> = Promise.resolve()
  return function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
}

/**
 * Creates the track of a file in the current session. A request in flight is never aborted, because a track that it creates would not
 * belong to any item.
 */
export async function createTarget(
  item: UploadItem,
  context: UploadContext,
  signal: AbortSignal,
): Promise<{ ok: true; target: Target } | Failure> {
  for (;;) {
    if (signal.aborted) return noResponse(true)
    const session = context.session()
    const created = await createTrack(item, session, context)
    // If the page has replaced the key or the session during the request, the refusal does not apply to the new one, so the loop tries again.
    if (created.ok || isTransient(created) || session === context.session()) return created
  }
}

async function createTrack(item: UploadItem, session: UploadSession, context: UploadContext) {
  const opened = await session.open()
  if (!opened.ok) return opened
  const { client } = session
  const { upload_session_id } = opened
  // The service accepts an `Idempotency-Key` only with the same path and body, so another session needs another key.
  if (item.request?.upload_session_id !== upload_session_id) item.request = newRequest(item, upload_session_id, context)
  const { idempotencyKey, description } = item.request
  const { title, organizationIndex, metadata } = description
  const created = await client.post('/v1/upload/{upload_session_id}/track', {
    params: { upload_session_id },
    body: {
      file_name: item.name,
      file_size: item.size,
      ...(title !== undefined && { title }),
      ...(organizationIndex !== undefined && { organization_index: organizationIndex }),
      ...(metadata !== undefined && { metadata }),
    },
    idempotency_key: idempotencyKey,
  })
  if (!created.ok) {
    if (created.status === 404 || created.status === 410) session.drop(upload_session_id)
    // The service refused, so no track exists and the next request may differ.
    if (!isTransient(created)) item.request = null
    return created
  }
  const { track_id, track_upload, track_cover_upload } = created
  const target = { client, upload_session_id, track_id, track_upload, track_cover_upload, received: Date.now() }
  return { ok: true as const, target }
}

const newRequest = (
  { title, file }: UploadItem,
  upload_session_id: string,
  { describe }: UploadContext,
): TrackRequest => ({
  upload_session_id,
  idempotencyKey: randomKey(),
  // The JSON is copied, because the page may change the object later.
  description: JSON.parse(JSON.stringify({ ...(file && describe(file)), ...(title && { title }) })) as Description,
})

const TRACK = '/v1/upload/{upload_session_id}/track/{track_id}'

/**
 * Calls the service about a track with the key that created the track. If the service refuses that key, repeats the call with the page's
 * current key.
 */
export async function callFor<T extends { ok: true }>(
  target: Target,
  context: UploadContext,
  call: (client: Client) => Promise<T | Failure>,
): Promise<T | Failure> {
  for (;;) {
    const client = (target.client ??= context.session().client)
    const answer = await call(client)
    const current = context.session().client
    if (answer.ok || client === current || ![401, 403].includes(answer.status)) return answer
    target.client = current
  }
}

/** Reads a file's track from the service. */
export const readTrack = (target: Target, context: UploadContext, signal: AbortSignal) =>
  callFor(target, context, (client) => client.get(TRACK, { params: target, signal }))

/** Whether the file of a track has arrived, from this tab or another. */
export async function hasArrived(target: Target, context: UploadContext, signal: AbortSignal): Promise<boolean> {
  const answer = await readTrack(target, context, signal)
  return answer.ok && answer.track.status !== 'initializing' && answer.track.error?.code !== 'upload_expired'
}

/**
 * Deletes a track whose file has not arrived, or with `keepsTracks` only its parts. The service does not delete a track that already has
 * its file.
 */
export function discardTrack({ target, parts }: UploadItem, context: UploadContext): void {
  const keeps = context.keepsTracks
  if (!target || (keeps && !parts)) return
  const params = { ...target, multipart_upload_id: parts?.id ?? '' }
  const path = keeps ? (`${TRACK}/multipart/{multipart_upload_id}` as const) : TRACK
  void callFor(target, context, (client) => client.delete(path, { params }))
}

/**
 * `retry`: the same request may succeed later. `renew`: another URL is needed. `stop`: the problem affects all files (the key, the
 * origin, the session). `fail`: the file itself is the problem.
 */
export type Verdict = 'retry' | 'renew' | 'stop' | 'fail'

/** How a step of an upload ended. */
export type Step = { ok: true } | { ok: false; verdict: Verdict; problem: Problem }

export const stepOf = ({ code, message, quota }: Problem, verdict: Verdict): Step => ({
  ok: false,
  verdict,
  problem: { code, message, quota },
})

/** Decides what follows a failed call to the service. */
export function afterCall(failure: Failure): Verdict {
  if (isTransient(failure)) return 'retry'
  return [401, 403, 404, 410].includes(failure.status) ? 'stop' : 'fail'
}

/** Decides what follows a failed upload to the storage. S3 returns 403 if the URL has expired. */
export function afterUpload(failure: Failure): Verdict {
  if (isTransient(failure)) return 'retry'
  // R2 documents 400 for an expired URL; its local simulation returns 403.
  return failure.status === 403 || failure.storage_code === 'ExpiredRequest' ? 'renew' : 'fail'
}

/** The code of a problem for as long as it is unknown whether only the storage cannot be reached. Browsers hide a 503 without CORS headers. */
export const STORAGE_LOST = 'storage_lost'

/** Returns the problem of a failed upload. Its code is the storage's status, or the connection error if there was no response. */
export const problemOfUpload = ({ status, code, message }: Failure): Problem => ({
  code: status > 0 ? `storage_${status}` : code === 'network' ? STORAGE_LOST : code,
  message,
})

/**
 * Whether another attempt with the same file may succeed: the codes of SERVICE_ERRORS and TRACK_ERRORS. All other errors are due to the file
 * itself. The codes are repeated here because the tables, with their meanings, would add half a kilobyte to the bundle.
 */
export const isRetriable = (code: string) =>
  /^(timed_out|source_(unavailable|forbidden|stalled|too_slow)|upload_(failed|expired)|disk_full|cancelled|killed|internal|transcoder_unavailable)$/.test(
    code,
  )

/** Maximum number of consecutive attempts before an upload fails. With the delays, they take about two minutes. */
export const MAX_ATTEMPTS = 8
export const DELAYS: Backoff = { first: 1000, factor: 2, longest: 30_000, jitter: 0.25 }

/**
 * Milliseconds between attempts while the browser reports that it is offline. Some browsers report that wrongly, so attempts continue, but
 * rarely.
 */
export const OFFLINE_DELAY = 30_000
/** Whether the browser reports that it is offline. False in Node, where `navigator` has no `onLine`. */
export const isOffline = () => (globalThis.navigator as { onLine?: boolean } | undefined)?.onLine === false
