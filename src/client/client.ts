import { MAX_PAGE } from '../contract/facts.ts'
import type { Calls } from '../contract/index.ts'
import type { UploadHandle } from '../contract/media.ts'
import type { Track } from '../contract/track.ts'
import {
  backoff,
  type Backoff,
  deadline,
  type Failure,
  isPassing,
  noAnswer,
  poll,
  readFailure,
  retry,
} from './retry.ts'

/**
 * The service by HTTP: calls, lists, waiting for a track, sending a file. The types are derived from the operation table, at compile
 * time only: no schema reaches the browser.
 */

type Operation = Calls[keyof Calls]
export type Method = Operation['method']

/** The paths that have a method, e.g. `'/v1/track'` for `post`. */
export type Path<M extends Method> = Extract<Operation, { method: M }>['path']
export type OperationAt<M extends Method, P extends string> = Extract<Operation, { method: M; path: P }>

type Field<T, K extends string> = T extends { [P in K]: infer S } ? { [P in K]: S } : unknown
// A query travels as text, so numbers are welcome where the schema reads digits.
type Loose<Q> = { [K in keyof Q]: Q[K] | number }
type Query<T> = T extends { query: infer Q } ? { query?: Loose<Q> } : unknown

export interface CallOptions {
  signal?: AbortSignal
  /** Of a POST: made at random unless given. Give one to make a call safe to repeat across reloads. */
  idempotency_key?: string
}
/** For one operation at a time: an intersection of unions over all of them would be too much for the compiler. */
export type Arguments<T> = T extends unknown
  ? Field<T, 'params'> & Query<T> & Partial<Field<T, 'headers'>> & Field<T, 'body'> & CallOptions
  : never

/** The arguments may be left out where nothing in them is required. */
export type Rest<T> = {} extends Arguments<T> ? [options?: Arguments<T>] : [options: Arguments<T>]

export type Success<T extends { response: object }> = T['response'] & { ok: true }
export type Result<T extends { response: object }> = Success<T> | Failure

export interface ClientOptions {
  /** Where the service is, e.g. `https://audio.example.com`. */
  base_url: string
  /** Not needed for play views. */
  api_key?: string
  fetch?: typeof fetch
}

type Call<M extends Method> = <const P extends Path<M>>(
  path: P,
  ...rest: Rest<OperationAt<M, P>>
) => Promise<Result<OperationAt<M, P>>>

/** One function per HTTP method, typed by path: `client.get('/v1/track/{track_id}', { params: { track_id } })`. */
export type Client = { [M in Method]: Call<M> }

interface LooseOptions {
  params?: Record<string, string>
  query?: Record<string, unknown>
  headers?: Record<string, string>
  body?: unknown
  signal?: AbortSignal
  idempotency_key?: string
}

/**
 * A client that never throws: it answers `{ok: true, …}` or `{ok: false, message, code, status}`. Calls that can safely be repeated are
 * repeated twice when the network or the service fails: every POST carries an `Idempotency-Key`.
 */
export function createClient(options: ClientOptions): Client {
  const base = options.base_url.replace(/\/+$/, '')
  const send = options.fetch ?? ((input, init) => fetch(input, init))

  function call(method: Method, path: string, { params, query, body, signal, ...rest }: LooseOptions = {}) {
    const place = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? ''))
    const asked = new URLSearchParams()
    for (const [name, value] of Object.entries(query ?? {})) {
      // oxlint-disable-next-line typescript/no-base-to-string -- the types let only text, numbers and booleans in
      if (value !== undefined) asked.set(name, String(value))
    }
    // `new URL` would throw at a `base_url` that is none; `fetch` fails as any call may.
    const url = [base + place, asked.toString()].filter(Boolean).join('?')
    const headers: Record<string, string> = { ...rest.headers }
    if (options.api_key) headers.authorization = `Bearer ${options.api_key}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (method === 'post') headers['idempotency-key'] = rest.idempotency_key ?? randomKey()
    const init: RequestInit = {
      method: method.toUpperCase(),
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    }
    // A delete or a conditional change that was carried out unseen would answer 404 or 412 the second time.
    const repeatable = method !== 'delete' && !('if-match' in headers)
    return request((signal) => send(url, { ...init, signal }), repeatable, signal)
  }

  const calls = (method: Method) => (path: string, rest?: LooseOptions) => call(method, path, rest)
  // The types come from the operation table; at run time a method and a path are all there is to know.
  return { get: calls('get'), post: calls('post'), put: calls('put'), delete: calls('delete') } as unknown as Client
}

/** A random `Idempotency-Key`, also on pages without https, where browsers have no `crypto.randomUUID`. */
export const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

const RETRIES = 2
const DELAYS: Backoff = { first: 300, factor: 2, longest: 5000, jitter: 0.25 }
/** Milliseconds; the service answers sooner, or not at all. */
const REQUEST_TIMEOUT = 60_000
/** Longest `Retry-After` that is waited for, in milliseconds; a longer one is the caller's to decide. */
const LONGEST_RETRY_AFTER = 5000

type Send = (signal: AbortSignal) => Promise<Response>

/** Sends a request and reads its answer; again when it was not carried out, or may be carried out twice. */
async function request(send: Send, repeatable: boolean, signal?: AbortSignal) {
  const { result } = await retry(
    (attempt) => once(send, repeatable, attempt, signal),
    ({ retryIn }, attempt) =>
      retryIn === null || attempt === RETRIES || retryIn > LONGEST_RETRY_AFTER ? null : retryIn,
    signal,
  )
  return signal?.aborted && !(result as { ok?: boolean }).ok ? noAnswer(true) : result
}

async function once(send: Send, repeatable: boolean, attempt: number, signal?: AbortSignal) {
  const delay = backoff(attempt, DELAYS)
  const limit = deadline(REQUEST_TIMEOUT, signal)
  try {
    const response = await send(limit.signal)
    const answer: unknown = await response.json().catch(() => undefined)
    if (response.ok && answer !== undefined) return { result: answer, retryIn: null }
    // An answer that broke off is as good as none.
    if (response.ok || signal?.aborted) return unanswered()
    const { status } = response
    const retryAfter = Number(response.headers.get('retry-after')) * 1000 || delay
    const result = readFailure(status, answer)
    // 429 and 503 were not carried out; another fault of the server may have been. A POST in flight answers 409 with Retry-After.
    const refused = status === 429 || status === 503 || (status === 409 && response.headers.has('retry-after'))
    return { result, retryIn: refused ? retryAfter : isPassing(result) && repeatable ? delay : null }
  } catch {
    return unanswered()
  } finally {
    limit.end()
  }

  function unanswered() {
    const aborted = signal?.aborted ?? false
    return { result: noAnswer(aborted), retryIn: repeatable && !aborted ? delay : null }
  }
}

/** The paths that answer a page of a list. */
export type ListPath = {
  [P in Path<'get'>]: Result<OperationAt<'get', P>> & { ok: true } extends { count: number } ? P : never
}[Path<'get'>]

/**
 * All pages of a list, one after the other: `for await (const page of pages(client, '/v1/collection')) …`. A page that could not be
 * read is `{ok: false, …}` and the last one.
 */
export async function* pages<P extends ListPath>(
  client: Client,
  path: P,
  options?: Arguments<OperationAt<'get', P>>,
  limit = MAX_PAGE,
): AsyncGenerator<Result<OperationAt<'get', P>>> {
  const get = client.get as unknown as (path: string, options: object) => Promise<Result<OperationAt<'get', P>>>
  const query = (options as { query?: object } | undefined)?.query
  for (let offset = 0; ; offset += limit) {
    const page = await get(path, { ...options, query: { ...query, limit, offset } })
    yield page
    if (!page.ok || isLast(page, offset, limit)) return
  }
}

/** Whether nothing comes behind a page. Where a list was not counted to its end, that is the page that is not full. */
function isLast(page: object, offset: number, limit: number): boolean {
  const { count, is_count_exact } = page as { count: number; is_count_exact?: boolean }
  if (is_count_exact !== false) return offset + limit >= count
  return !Object.values(page).some((rows) => Array.isArray(rows) && rows.length >= limit)
}

export interface WaitOptions {
  /** Called after every poll. */
  onChange?: (track: Track) => void
  signal?: AbortSignal
}

/** Polls a track until it is `ready`, `incomplete` or `failed`. */
export async function waitForTrack(
  client: Client,
  track_id: string,
  { onChange, signal }: WaitOptions = {},
): Promise<{ ok: true; track: Track } | Failure> {
  const ask = () => client.get('/v1/track/{track_id}', { params: { track_id }, ...(signal && { signal }) })
  const last = await poll(
    ask,
    ({ track }) => {
      onChange?.(track)
      return isFinal(track)
    },
    { signal },
  )
  return last.ok ? { ok: true, track: last.track } : last
}

/** Whether nothing more happens to a track by itself. */
export const isFinal = (track: Pick<Track, 'status'>) =>
  track.status === 'ready' || track.status === 'incomplete' || track.status === 'failed'

export interface UploadFileOptions {
  /** Called with a fraction from 0 to 1. */
  onProgress?: (fraction: number) => void
  signal?: AbortSignal
}

export type Sent = { ok: true; etag: string | null } | Failure
type Handle = Pick<UploadHandle, 'method' | 'upload_url'>

/** A connection that is dead without having been closed is noticed by its silence, in milliseconds. */
const SILENCE_TIMEOUT = 60_000
/** Once all bytes are on their way, the storage may take its time with a large file. */
const ANSWER_TIMEOUT = 300_000

/** Sends a file to an upload handle (specification §2, UploadHandle); when nothing is heard of it for too long, the connection is lost. */
export async function uploadFile(handle: Handle, file: Blob, options: UploadFileOptions = {}): Promise<Sent> {
  const stall = deadline(SILENCE_TIMEOUT, options.signal)
  const onProgress = (fraction: number) => {
    stall.extend(fraction < 1 ? SILENCE_TIMEOUT : ANSWER_TIMEOUT)
    options.onProgress?.(fraction)
  }
  const send = typeof XMLHttpRequest === 'undefined' ? sendByFetch : sendByRequest
  const sent = await send(handle, file, stall.signal, onProgress)
  stall.end()
  return stall.signal.aborted && !sent.ok ? noAnswer(options.signal?.aborted ?? false) : sent
}

type SendFile = (
  handle: Handle,
  file: Blob,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
) => Promise<Sent>

/** XMLHttpRequest, because `fetch` tells no progress. */
const sendByRequest: SendFile = (handle, file, signal, onProgress) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(noAnswer(true))
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    const finish = (result: Sent) => {
      signal.removeEventListener('abort', abort)
      resolve(result)
    }
    signal.addEventListener('abort', abort)
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total)
    request.onerror = () => finish(noAnswer(false, 'The upload was interrupted'))
    request.onabort = () => finish(noAnswer(true))
    request.onload = () => {
      const { status } = request
      if (status >= 300) return finish(refusal(status, request.responseText))
      // Asked for by its name, a header that CORS hides would be an error in the console.
      finish({ ok: true, etag: /^etag: *(.+?)\r?$/im.exec(request.getAllResponseHeaders())?.[1] ?? null })
    }
    // Firefox reads an empty answer as XML otherwise, and says so in the console.
    request.responseType = 'text'
    request.open(handle.method, handle.upload_url)
    request.send(file)
  })

/** Where there is no XMLHttpRequest: Node and Workers. */
const sendByFetch: SendFile = async (handle, file, signal, onProgress) => {
  try {
    const answer = await fetch(handle.upload_url, { method: handle.method, body: file, signal })
    if (!answer.ok) return refusal(answer.status, await answer.text())
    await answer.body?.cancel()
    onProgress(1)
    return { ok: true, etag: answer.headers.get('etag') }
  } catch {
    return noAnswer(signal.aborted, 'The upload was interrupted')
  }
}

/** Our own routes answer JSON; the bucket answers XML, and a refusal there almost always means that the URL has expired. */
function refusal(status: number, text: string): Failure {
  try {
    return readFailure(status, JSON.parse(text))
  } catch {
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? 'no reason given'
    return { ...readFailure(status, undefined), message: `The upload was refused (${status}, ${code})` }
  }
}
