import type { SERVICE_ERRORS, TRACK_ERRORS } from '../../contract/errors.ts'
import { type Client, createClient, randomKey } from '../client.ts'
import { type Backoff, type Failure, isPassing, noAnswer } from '../retry.ts'
import type { Description, Problem, Target, TrackRequest, UploadEvents, UploadItem, UploadOptions } from './item.ts'
import type { Ledger } from './ledger.ts'

/** The service as uploads see it: the session, the tracks that are made in it, and what happens after a refusal. */

/** A session or URL this close to its end is not begun to be used, in milliseconds. */
const MARGIN = 60_000
/** Sessions last as long as their first URLs do, an hour (docs/architecture.md#uploads); here by this machine's clock. */
const SESSION_LENGTH = 3600_000

type Place = Pick<UploadOptions, 'baseUrl' | 'apiKey' | 'collectionId' | 'uploadSessionId'>
/** Where files go, as the ledger knows it. */
export const placeOf = ({ baseUrl, collectionId, uploadSessionId }: Omit<Place, 'apiKey'>) =>
  `${baseUrl} ${uploadSessionId || collectionId}`

type Opened = { ok: true; upload_session_id: string } | Failure

/** Where files go, and with which key: the service, and the upload session that is open there. */
export class UploadSession {
  readonly client: Client
  /** The page's own session. Without one, sessions are opened here, and an ended one is no obstacle. */
  readonly own: string | undefined
  #place: Place
  #current: { id: string; endsAt: number } | null = null
  #opening: Promise<Opened> | null = null

  constructor(place: Place) {
    this.#place = place
    this.client = createClient({ base_url: place.baseUrl, api_key: place.apiKey })
    this.own = place.uploadSessionId || undefined
  }

  /** The id of a session with time left: the page's own, or one that is opened when the first file needs it. */
  async open(): Promise<Opened> {
    if (this.own) return { ok: true, upload_session_id: this.own }
    if (this.#current && this.#current.endsAt > Date.now()) return { ok: true, upload_session_id: this.#current.id }
    // Several files may ask at once.
    this.#opening ??= this.#create().finally(() => (this.#opening = null))
    return this.#opening
  }

  /** The session has ended; the next file opens another. */
  forget(upload_session_id: string): void {
    if (this.#current?.id === upload_session_id) this.#current = null
  }

  async #create(): Promise<Opened> {
    const endsAt = Date.now() + SESSION_LENGTH - MARGIN
    const body = { collection_id: this.#place.collectionId ?? '' }
    const made = await this.client.post('/v1/upload_session', { body })
    if (made.ok) this.#current = { id: made.upload_session_id, endsAt }
    return made
  }
}

/** What the steps of an upload need of the queue around them. */
export interface UploadContext {
  session: () => UploadSession
  describe: (file: File) => Description
  keepsTracks: boolean
  emit: <K extends keyof UploadEvents>(type: K, item: UploadItem, detail: UploadEvents[K]) => void
  changed: (item?: UploadItem) => void
  ledger: Ledger
  /** Runs one piece of work after the other, in the order they came. */
  inOrder: <T>(work: () => Promise<T>) => Promise<T>
}

/** Whether there is time left to send a file to the track that was made for it. */
export const isFresh = ({ target, parts }: UploadItem) =>
  target !== null && Date.now() < (parts?.endsAt ?? target.received + target.track_upload.ttl * 1000 - MARGIN)

/** As `inOrder` of the context: a collection plays its tracks in the order they were made. */
export function oneByOne() {
  let last: Promise<unknown> = Promise.resolve()
  return function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
}

/** Makes the track of a file, where the page says now. A request in flight is not aborted: no item would own its track. */
export async function createTarget(
  item: UploadItem,
  context: UploadContext,
  signal: AbortSignal,
): Promise<{ ok: true; target: Target } | Failure> {
  for (;;) {
    if (signal.aborted) return noAnswer(true)
    const session = context.session()
    const created = await createTrack(item, session, context)
    // A refusal of a key or session that the page has replaced meanwhile says nothing of the next one.
    if (created.ok || isPassing(created) || session === context.session()) return created
  }
}

async function createTrack(item: UploadItem, session: UploadSession, context: UploadContext) {
  const opened = await session.open()
  if (!opened.ok) return opened
  const { client } = session
  const { upload_session_id } = opened
  // Under one `Idempotency-Key` the service takes but one path and one body.
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
    if (created.status === 404 || created.status === 410) session.forget(upload_session_id)
    // Refused, so nothing was made: the next request may say something else.
    if (!isPassing(created)) item.request = null
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
  // A copy, as it travels: the page may go on using what it gave.
  description: JSON.parse(JSON.stringify({ ...(file && describe(file)), ...(title && { title }) })) as Description,
})

const TRACK = '/v1/upload/{upload_session_id}/track/{track_id}'

/** Calls the service about a track, with the key that made it; when that is refused, with the page's present one. */
export async function callFor<T extends { ok: true }>(
  target: Target,
  context: UploadContext,
  call: (client: Client) => Promise<T | Failure>,
): Promise<T | Failure> {
  for (;;) {
    const client = (target.client ??= context.session().client)
    const answer = await call(client)
    const present = context.session().client
    if (answer.ok || client === present || ![401, 403].includes(answer.status)) return answer
    target.client = present
  }
}

/** What the service says of a file's track. */
export const readTrack = (target: Target, context: UploadContext, signal: AbortSignal) =>
  callFor(target, context, (client) => client.get(TRACK, { params: target, signal }))

/** Whether the bytes of a track are there, whoever sent them. */
export async function hasArrived(target: Target, context: UploadContext, signal: AbortSignal): Promise<boolean> {
  const seen = await readTrack(target, context, signal)
  return seen.ok && seen.track.status !== 'initializing' && seen.track.error?.code !== 'upload_expired'
}

/** Discards a track that never got its file, or, where tracks are kept, its parts; the service keeps one that has its file. */
export function discardTrack({ target, parts }: UploadItem, context: UploadContext): void {
  const keeps = context.keepsTracks
  if (!target || (keeps && !parts)) return
  const params = { ...target, multipart_upload_id: parts?.id ?? '' }
  const path = keeps ? (`${TRACK}/multipart/{multipart_upload_id}` as const) : TRACK
  void callFor(target, context, (client) => client.delete(path, { params }))
}

/**
 * `retry`: the same may succeed later. `renew`: it needs another URL. `stop`: it concerns every file (the key, the origin, the
 * session). `fail`: the file's own fault.
 */
export type Verdict = 'retry' | 'renew' | 'stop' | 'fail'

/** How a step of an upload ended. */
export type Step = { ok: true } | { ok: false; verdict: Verdict; problem: Problem }

export const stepOf = ({ code, message }: Problem, verdict: Verdict): Step => ({
  ok: false,
  verdict,
  problem: { code, message },
})

/** After a call to the service. */
export function afterCall(failure: Failure): Verdict {
  if (isPassing(failure)) return 'retry'
  return [401, 403, 404, 410].includes(failure.status) ? 'stop' : 'fail'
}

/** After the storage's answer to the bytes: 403 is how S3 refuses a URL that has expired. */
export function afterUpload(failure: Failure): Verdict {
  if (isPassing(failure)) return 'retry'
  return failure.status === 403 ? 'renew' : 'fail'
}

/** The storage's answer as a problem; without an answer, the connection's. */
export const problemOfUpload = ({ status, code, message }: Failure): Problem => ({
  code: status > 0 ? `storage_${status}` : code,
  message,
})

/** Their names alone: the sentences of the contract would be half a kilobyte here. */
const NOT_THE_FILE: Record<keyof typeof SERVICE_ERRORS | keyof typeof TRACK_ERRORS, 1> = {
  timed_out: 1,
  source_unavailable: 1,
  source_forbidden: 1,
  source_stalled: 1,
  source_too_slow: 1,
  upload_failed: 1,
  disk_full: 1,
  cancelled: 1,
  killed: 1,
  internal: 1,
  upload_expired: 1,
  transcoder_unavailable: 1,
}

/** Whether the same file may succeed another time; all other reasons are its own fault. */
export const mayHelpToRepeat = (code: string) => Object.hasOwn(NOT_THE_FILE, code)

/** Attempts in a row before something is given up; with the delays between them about two minutes. */
export const MAX_ATTEMPTS = 8
export const DELAYS: Backoff = { first: 1000, factor: 2, longest: 30_000, jitter: 0.25 }

/** Some machines call themselves offline and are not; so they ask again, if rarely. */
export const OFFLINE_DELAY = 30_000
/** Node knows no network of its own. */
export const isOffline = () => (globalThis.navigator as { onLine?: boolean } | undefined)?.onLine === false
