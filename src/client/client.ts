import type { Calls } from '../contract/client_operations.ts'
import { MAX_PAGE } from '../contract/facts.ts'
import type { UploadHandle } from '../contract/media.ts'
import type { Track } from '../contract/track.ts'
import {
  backoff,
  type Backoff,
  deadline,
  type Failure,
  isTransient,
  noResponse,
  poll,
  readFailure,
  retry,
} from './retry.ts'

/**
 * The HTTP client: calls the API, iterates over lists, polls a track, and uploads a file. Its types are derived from the operation table at
 * compile time, so the bundle contains no schemas.
 */

type Operation = Calls[keyof Calls]
export type Method = Operation['method']

/** The paths that support a method, e.g. `'/v1/track'` for `post`. */
export type Path<M extends Method> = Extract<Operation, { method: M }>['path']
export type OperationAt<M extends Method, P extends string> = Extract<Operation, { method: M; path: P }>

type Field<T, K extends string> = T extends { [P in K]: infer S } ? { [P in K]: S } : unknown
type Query<T> = T extends { query: infer Q } ? { query?: { [K in keyof Q]: Readonly<Q[K]> } } : unknown

export interface CallOptions {
  signal?: AbortSignal
  /** The `Idempotency-Key` of a POST; random by default. Set it so that the call can be repeated safely after a reload of the page. */
  idempotency_key?: string
}
/** The conditional type distributes over the operations, because an intersection of unions over all of them is too complex for the compiler. */
export type Arguments<T> = T extends unknown
  ? Field<T, 'params'> & Query<T> & Partial<Field<T, 'headers'>> & Field<T, 'body'> & CallOptions
  : never

/** The arguments of a call. `options` can be omitted if none of its fields is required. */
export type CallArguments<T> = {} extends Arguments<T> ? [options?: Arguments<T>] : [options: Arguments<T>]

export type Success<T extends { response: object }> = T['response'] & { ok: true }
export type Result<T extends { response: object }> = Success<T> | Failure

export interface ClientOptions {
  /** URL of the service, e.g. `https://audio.example.com`. */
  base_url: string
  /** The API key. Reading a play view does not require one. */
  api_key?: string
  fetch?: typeof fetch
}

type Call<M extends Method> = <const P extends Path<M>>(
  path: P,
  ...rest: CallArguments<OperationAt<M, P>>
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
 * Creates a client whose calls never throw: they resolve to `{ok: true, …}` or `{ok: false, message, code, status}`. If the network or the
 * service fails, a call that is safe to repeat is retried twice. Every POST is safe to repeat, because it has an `Idempotency-Key`.
 *
 * @example
 * ```ts
 * import { createClient } from '@tonearm/client'
 *
 * const client = createClient({ base_url: 'https://audio.example.com', api_key: process.env.TONEARM_KEY! })
 * const created = await client.post('/v1/collection', { body: { title: 'Tidal Rooms' } })
 * if (!created.ok) throw new Error(`${created.code}: ${created.message}`)
 * const { collection_id } = created
 * const read = await client.get('/v1/collection/{collection_id}', { params: { collection_id } })
 * if (read.ok) console.log(read.collection.title)
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const base = options.base_url.replace(/\/+$/, '')
  const send = options.fetch ?? ((input, init) => fetch(input, init))

  function call(method: Method, path: string, { params, query, body, signal, ...request }: LooseOptions = {}) {
    const pathname = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? ''))
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query ?? {})) {
      // oxlint-disable-next-line typescript/no-base-to-string -- the types allow only strings, numbers and lists of them
      if (value !== undefined) search.set(name, String(value))
    }
    // `new URL` would throw if `base_url` is invalid; `fetch` rejects instead, which becomes a failed call.
    const url = [base + pathname, search.toString()].filter(Boolean).join('?')
    const headers: Record<string, string> = { ...request.headers }
    if (options.api_key) headers.authorization = `Bearer ${options.api_key}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (method === 'post') headers['idempotency-key'] = request.idempotency_key ?? randomKey()
    const init: RequestInit = {
      method: method.toUpperCase(),
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    }
    // If the first response was lost, a repeated DELETE would return 404, and a repeated conditional change would return 412.
    const repeatable = method !== 'delete' && !('if-match' in headers)
    return sendRequest((signal) => send(url, { ...init, signal }), repeatable, signal)
  }

  const calls = (method: Method) => (path: string, request?: LooseOptions) => call(method, path, request)
  // The types come from the operation table, which does not exist at run time.
  return { get: calls('get'), post: calls('post'), put: calls('put'), delete: calls('delete') } as unknown as Client
}

/** Returns a random `Idempotency-Key`. Does not use `crypto.randomUUID`, which is unavailable on pages without https. */
export const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

const RETRIES = 2
const DELAYS: Backoff = { first: 300, factor: 2, longest: 5000, jitter: 0.25 }
/** Milliseconds without a response after which a request counts as failed. */
const REQUEST_TIMEOUT = 60_000
/** Maximum `Retry-After` that the client waits for, in milliseconds. If it is longer, the call fails and the caller decides. */
const LONGEST_RETRY_AFTER = 5000

type Send = (signal: AbortSignal) => Promise<Response>

/** Sends a request and reads the response. Retries the request if the service did not execute it, or if it failed and is safe to repeat. */
async function sendRequest(send: Send, repeatable: boolean, signal?: AbortSignal) {
  const { result } = await retry(
    (attempt) => sendOnce(send, repeatable, attempt, signal),
    ({ retryIn }, attempt) =>
      retryIn === null || attempt === RETRIES || retryIn > LONGEST_RETRY_AFTER ? null : retryIn,
    signal,
  )
  return signal?.aborted && !(result as { ok?: boolean }).ok ? noResponse(true) : result
}

/** Handles an error of `Response.json()`. Any other error means that the response was cut off, or that the caller aborted the request. */
function onlySyntax(error: unknown): void {
  if (!(error instanceof SyntaxError)) throw error
}

async function sendOnce(send: Send, repeatable: boolean, attempt: number, signal?: AbortSignal) {
  const delay = backoff(attempt, DELAYS)
  const limit = deadline(REQUEST_TIMEOUT, signal)
  try {
    const response = await send(limit.signal)
    const { ok, status, headers } = response
    const answer: unknown = status === 204 ? { ok: true } : await response.json().catch(onlySyntax)
    if (ok && answer) return { result: answer, retryIn: null }
    const retryAfter = Number(headers.get('retry-after')) * 1000 || delay
    const result = readFailure(status, answer)
    // With 429, the service did not execute the request; with a 5xx status it may have. 409 with Retry-After means that the same POST is
    // still in flight.
    const notExecuted = status === 429 || (status === 409 && headers.has('retry-after'))
    return { result, retryIn: notExecuted || (isTransient(result) && repeatable) ? retryAfter : null }
  } catch {
    // `sendRequest` replaces the result if the caller aborted the request.
    return { result: noResponse(false), retryIn: repeatable ? delay : null }
  } finally {
    limit.end()
  }
}

/** The paths of the lists, whose responses are pages. */
export type ListPath = {
  [P in Path<'get'>]: Result<OperationAt<'get', P>> & { ok: true } extends { count: number } ? P : never
}[Path<'get'>]

/**
 * Returns an iterator over the pages of a list: `for await (const page of pages(client, '/v1/collection')) …`. If a page cannot be read,
 * the iterator yields `{ok: false, …}` and ends.
 *
 * @example
 * ```ts
 * import { createClient, pages } from '@tonearm/client'
 *
 * const client = createClient({ base_url: 'https://audio.example.com', api_key: process.env.TONEARM_KEY! })
 * for await (const page of pages(client, '/v1/track', { query: { status: ['failed'] } })) {
 *   if (!page.ok) throw new Error(page.message)
 *   for (const track of page.tracks) console.log(track.file_name)
 * }
 * ```
 */
export async function* pages<P extends ListPath>(
  client: Client,
  path: P,
  options?: Arguments<OperationAt<'get', P>>,
  limit = MAX_PAGE,
): AsyncGenerator<Result<OperationAt<'get', P>>> {
  const get = client.get as unknown as (path: string, options: object) => Promise<Result<OperationAt<'get', P>>>
  const query = (options as { query?: object } | undefined)?.query
  let place: { offset: number } | { after: string } = { offset: 0 }
  for (let offset = 0; ;) {
    const page = await get(path, { ...options, query: { ...query, limit, ...place } })
    yield page
    if (!page.ok) return
    const { after } = page as { after?: string | null }
    if (after === null || (after === undefined && isLast(page, offset, limit))) return
    place = after === undefined ? { offset: (offset += limit) } : { after }
  }
}

/** Whether a page of a list without `after` is its last one. If `count` is not exact, the first page that is not full is the last. */
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

/**
 * Polls a track until it is `ready`, `incomplete` or `failed`. The first delay is half a second, the longest four seconds.
 *
 * @example
 * ```ts
 * import { createClient, waitForTrack } from '@tonearm/client'
 *
 * const client = createClient({ base_url: 'https://audio.example.com', api_key: process.env.TONEARM_KEY! })
 * const processed = await waitForTrack(client, process.argv[2]!, {
 *   onChange: ({ status, info }) => console.log(status, info.progress),
 * })
 * if (processed.ok) console.log(processed.track.duration, 'seconds')
 * ```
 */
export async function waitForTrack(
  client: Client,
  track_id: string,
  { onChange, signal }: WaitOptions = {},
): Promise<{ ok: true; track: Track } | Failure> {
  const readTrack = () => client.get('/v1/track/{track_id}', { params: { track_id }, ...(signal && { signal }) })
  const last = await poll(
    readTrack,
    ({ track }) => {
      onChange?.(track)
      return isFinal(track)
    },
    { signal },
  )
  return last.ok ? { ok: true, track: last.track } : last
}

/** Whether the track has finished processing; its status then changes only after another request. */
export const isFinal = (track: Pick<Track, 'status'>) =>
  track.status === 'ready' || track.status === 'incomplete' || track.status === 'failed'

export interface UploadFileOptions {
  /** Called with the fraction of the file that has been sent, from 0 to 1. */
  onProgress?: (fraction: number) => void
  signal?: AbortSignal
}

export type UploadResult = { ok: true; etag: string | null } | Failure
type Handle = Pick<UploadHandle, 'method' | 'upload_url'>

/** Milliseconds without progress after which a connection is considered dead. */
const SILENCE_TIMEOUT = 60_000
/** Milliseconds to wait for a response after all bytes were sent: the storage needs time to finish a large file. */
const ANSWER_TIMEOUT = 300_000

/** Sends a file to an upload handle (specification §2, UploadHandle). `uploadFile` of packages/client explains the failures. */
export async function uploadFile(handle: Handle, file: Blob, options: UploadFileOptions = {}): Promise<UploadResult> {
  const stall = deadline(SILENCE_TIMEOUT, options.signal)
  const onProgress = (fraction: number) => {
    stall.extend(fraction < 1 ? SILENCE_TIMEOUT : ANSWER_TIMEOUT)
    options.onProgress?.(fraction)
  }
  const send = typeof XMLHttpRequest === 'undefined' ? sendByFetch : sendByRequest
  const sent = await send(handle, file, stall.signal, onProgress)
  stall.end()
  return stall.signal.aborted && !sent.ok ? noResponse(options.signal?.aborted ?? false) : sent
}

type SendFile = (
  handle: Handle,
  file: Blob,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
) => Promise<UploadResult>

/** Uses XMLHttpRequest, because `fetch` does not report upload progress. */
const sendByRequest: SendFile = (handle, file, signal, onProgress) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(noResponse(true))
    const request = new XMLHttpRequest()
    const abort = () => request.abort()
    const finish = (result: UploadResult) => {
      signal.removeEventListener('abort', abort)
      resolve(result)
    }
    signal.addEventListener('abort', abort)
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total)
    request.onerror = () => finish(noResponse(false, 'The upload was interrupted'))
    request.onabort = () => finish(noResponse(true))
    request.onload = () => {
      const { status } = request
      if (status >= 300) return finish(refusal(status, request.responseText))
      // `getResponseHeader` logs a console error for a header that CORS hides.
      finish({ ok: true, etag: /^etag: *(.+?)\r?$/im.exec(request.getAllResponseHeaders())?.[1] ?? null })
    }
    // By default, Firefox parses an empty response as XML and logs a console error.
    request.responseType = 'text'
    request.open(handle.method, handle.upload_url)
    request.send(file)
  })

/** Used in Node and Workers, which have no XMLHttpRequest. */
const sendByFetch: SendFile = async (handle, file, signal, onProgress) => {
  try {
    const answer = await fetch(handle.upload_url, { method: handle.method, body: file, signal })
    if (!answer.ok) return refusal(answer.status, await answer.text())
    await answer.body?.cancel()
    onProgress(1)
    return { ok: true, etag: answer.headers.get('etag') }
  } catch {
    return noResponse(signal.aborted, 'The upload was interrupted')
  }
}

/** Reads a failed response: JSON from the service, or XML from the bucket. */
function refusal(status: number, text: string): Failure {
  try {
    return readFailure(status, JSON.parse(text))
  } catch {
    const storage_code = /<Code>(\w+)<\/Code>/.exec(text)?.[1]
    const message = `The upload was refused: ${storage_code ?? status}`
    return { ...readFailure(status, undefined), message, ...(storage_code && { storage_code }) }
  }
}
