import { vi } from 'vitest'

import type { OperationAt, Result } from '../../src/client/types.ts'
import type { QueueEvents, UploadEvents, UploadOptions } from '../../src/client/upload/events.ts'
import type { UploadItem, UploadState } from '../../src/client/upload/item.ts'
import { UploadQueue } from '../../src/client/upload/queue.ts'

/** The other end of an upload, played: what the service and the storage answer to the engine, by the types of the operation table. */

type Created = Extract<Result<OperationAt<'post', '/v1/upload/{upload_session_id}/track'>>, { ok: true }>

interface StoredTrack {
  id: string
  session: string
  idempotencyKey: string
  body: { file_name: string; organization_index?: string }
  bytes: number | null
  covers: number
  status: 'initializing' | 'processing' | 'ready' | 'failed'
}

export interface Call {
  method: string
  path: string
  signal: AbortSignal
}

/** Answers in place of the service; undefined leaves it to the service. `carryOut` lets the service do its part. */
export type Intercept = (call: Call, carryOut: () => Promise<Response>) => Promise<Response> | Response | undefined

const ORIGIN = 'http://service.test'
export const refusal = (status: number, code: string, headers?: Record<string, string>) =>
  Response.json({ ok: false, code, message: `refused: ${code}` }, { status, headers: headers ?? {} })
export const lost = () => Promise.reject(new TypeError('fetch failed'))
/** Neither an answer nor an end, until the caller gives up. */
export const silence = ({ signal }: Call) =>
  new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

export class PlayedService {
  tracks: StoredTrack[] = []
  sessions = new Set<string>()
  calls: string[] = []
  intercept: Intercept = () => undefined
  #made = 0

  constructor() {
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => this.#fetch(url, init))
  }

  /** How often something was asked for, e.g. `PUT`. */
  count = (start: string) => this.calls.filter((call) => call.startsWith(start)).length

  openSession(): string {
    const id = `session-${this.sessions.size + 1}`
    this.sessions.add(id)
    return id
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const call: Call = {
      method: init.method ?? 'GET',
      path: url.replace(ORIGIN, ''),
      signal: init.signal ?? new AbortController().signal,
    }
    this.calls.push(`${call.method} ${call.path}`)
    // As a network does: never in the same turn.
    await Promise.resolve()
    if (call.signal.aborted) throw new Error('aborted')
    const carryOut = async () => this.#answer(call, init)
    return (await this.intercept(call, carryOut)) ?? carryOut()
  }

  #answer({ method, path }: Call, init: RequestInit): Response {
    const [, kind, session = '', id = ''] = /^\/(?:v1\/)?(\w+)\/?([\w-]*)(?:\/track\/?)?([\w-]*)$/.exec(path) ?? []
    if (kind === 'upload_session') return Response.json({ ok: true, upload_session_id: this.openSession() })
    const track = this.tracks.find((one) => one.id === (id || session))
    if (kind === 'storage' && track) {
      track.bytes = (init.body as Blob).size
      track.status = 'processing'
      return new Response('', { headers: { etag: '"e"' } })
    }
    if (kind === 'cover' && track) {
      track.covers++
      return Response.json({ ok: true })
    }
    if (!this.sessions.has(session)) return refusal(410, 'session_expired')
    if (method === 'POST') return this.#create(session, init)
    if (!track || track.session !== session) return refusal(404, 'not_found')
    // Ready as soon as it is asked for a second time.
    const { status } = track
    if (status === 'processing') track.status = 'ready'
    return Response.json({ ok: true, track: { status, progress: 0.5, duration: 3, error: null } })
  }

  #create(session: string, init: RequestInit): Response {
    const idempotencyKey = new Headers(init.headers).get('idempotency-key') ?? ''
    const body = JSON.parse(init.body as string) as StoredTrack['body']
    const before = this.tracks.find((one) => one.idempotencyKey === idempotencyKey)
    if (before && JSON.stringify(before.body) !== JSON.stringify(body)) return refusal(422, 'idempotency_key_reused')
    const track = before ?? this.#add({ session, idempotencyKey, body })
    const handle = (method: 'PUT' | 'POST', place: string) => ({
      method,
      upload_url: `${ORIGIN}/${place}/${track.id}`,
      ttl: 3600,
      expires_at: '2030-01-01T00:00:00Z',
    })
    const answer: Pick<Created, 'ok' | 'track_id' | 'track_upload' | 'track_cover_upload'> = {
      ok: true,
      track_id: track.id,
      track_upload: handle('PUT', 'storage'),
      track_cover_upload: handle('POST', 'cover'),
    }
    return Response.json(answer)
  }

  #add(given: Pick<StoredTrack, 'session' | 'idempotencyKey' | 'body'>): StoredTrack {
    const track: StoredTrack = { id: `track-${++this.#made}`, bytes: null, covers: 0, status: 'initializing', ...given }
    this.tracks.push(track)
    return track
  }
}

/** An event as tests look at it. */
export interface Told {
  type: keyof (UploadEvents & QueueEvents)
  name?: string
  code?: string
  [key: string]: unknown
}

/** A queue on a played service, and what it tells. */
export function openQueue(
  options: Partial<UploadOptions> = {},
  onEvent: (type: string, item: UploadItem) => void = () => {},
) {
  const told: Told[] = []
  const queue = new UploadQueue(
    { baseUrl: ORIGIN, apiKey: 'ta_uk_1', collectionId: 'collection', accept: '', ...options },
    {
      onEvent(type, item, detail) {
        told.push({ type, name: item.file.name, ...detail })
        onEvent(type, item)
      },
      onQueueEvent: (type, detail) => told.push({ type, ...detail }),
    },
  )
  return { queue, told, types: () => told.map(({ type }) => type) }
}

/** A file that is sound at first sight. */
export const aSong = (name: string) => new File(['RIFF\0\0\0\0WAVE'], name, { type: 'audio/wav' })
export const aPicture = (name = 'front.png') => new File(['picture'], name, { type: 'image/png' })

/** Lets time pass until a file is in a state. */
export async function until(item: UploadItem | undefined, ...states: UploadState[]): Promise<void> {
  for (let second = 0; second < 2000; second++) {
    if (item && states.includes(item.state)) return
    await vi.advanceTimersByTimeAsync(1000)
  }
  throw new Error(`${item?.file.name} is ${item?.state}, not ${states.join(' or ')}`)
}
