import { afterEach, beforeEach, vi } from 'vitest'

import type { OperationAt, Result } from '../../src/client/client.ts'
import type { QueueEvents, UploadEvents, UploadItem, UploadOptions, UploadState } from '../../src/client/upload/item.ts'
import { UploadQueue } from '../../src/client/upload/queue.ts'

/** The remote side of an upload: a fake service and storage, typed by the operation table. */

type Created = Extract<Result<OperationAt<'post', '/v1/upload/{upload_session_id}/track'>>, { ok: true }>

interface StoredTrack {
  id: string
  session: string
  idempotencyKey: string
  body: { file_name: string; organization_index?: string }
  bytes: number | null
  covers: number
  status: 'initializing' | 'processing' | 'ready' | 'failed'
  multipart: StoredMultipart | null
}

interface StoredMultipart {
  id: string
  file_size: number
  fingerprint?: string
  /** The ETags of the parts in storage, and the ETags that the client has reported. */
  stored: Map<number, string>
  reported: Map<number, string>
  /** How often each part was received completely. */
  times: Map<number, number>
}

const PART_SIZE = 8 * 1024 * 1024

export interface Call {
  method: string
  path: string
  signal: AbortSignal
  /** The `Authorization` header. */
  key: string | null
}

interface MultipartBody {
  file_size?: number
  fingerprint?: string
  done?: { part_number: number; etag: string }[]
  next?: number[]
}

/** Replaces the response of the service, or returns undefined to let the service respond. `carryOut` executes the request on the service. */
export type Intercept = (call: Call, carryOut: () => Promise<Response>) => Promise<Response> | Response | undefined

const ORIGIN = 'http://service.test'
export const refusal = (status: number, code: string, headers?: Record<string, string>) =>
  Response.json({ ok: false, code, message: `refused: ${code}` }, { status, headers: headers ?? {} })
export const lost = () => Promise.reject(new TypeError('fetch failed'))
/** Never responds until the caller aborts. */
export const silence = ({ signal }: Call) =>
  new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

class FakeService {
  tracks: StoredTrack[] = []
  sessions = new Set<string>()
  calls: string[] = []
  intercept: Intercept = () => undefined
  #made = 0

  constructor() {
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => this.#fetch(url, init))
  }

  /** Number of calls that start with a prefix, such as `PUT`. */
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
      key: new Headers(init.headers).get('authorization'),
    }
    this.calls.push(`${call.method} ${call.path}`)
    // Responds asynchronously, as a network does.
    await Promise.resolve()
    if (call.signal.aborted) throw new Error('aborted')
    const carryOut = async () => this.#answer(call, init)
    return (await this.intercept(call, carryOut)) ?? carryOut()
  }

  #answer({ method, path }: Call, init: RequestInit): Response {
    const [, kind, session = '', id = ''] = /^\/(?:v1\/)?(\w+)\/?([\w-]*)(?:\/track\/?)?([\w-]*)$/.exec(path) ?? []
    if (kind === 'upload_session') return Response.json({ ok: true, upload_session_id: this.openSession() })
    const track = this.tracks.find((candidate) => candidate.id === (id || session))
    if (kind === 'storage' && track) {
      track.bytes = (init.body as Blob).size
      track.status = 'processing'
      return new Response('', { headers: { etag: '"e"' } })
    }
    if (kind === 'cover' && track) {
      track.covers++
      return Response.json({ ok: true })
    }
    const multipart = /^\/v1\/upload\/[\w-]+\/track\/([\w-]+)\/multipart\/?([\w-]*)\/?(\w*)$/.exec(path)
    if (multipart) return this.#multipart(method, multipart[1]!, multipart[2]!, multipart[3]!, init)
    const part = /^\/part\/([\w-]+)\/(\d+)$/.exec(path)
    if (part) return this.#storePart(part[1]!, Number(part[2]), init)
    if (!this.sessions.has(session) && method !== 'DELETE') return refusal(410, 'session_expired')
    if (method === 'POST') return this.#create(session, init)
    if (!track || track.session !== session) return refusal(404, 'not_found')
    if (method === 'DELETE') {
      if (track.status !== 'initializing') return refusal(409, 'track_uploaded')
      this.tracks.splice(this.tracks.indexOf(track), 1)
    }
    // A track becomes ready at the second poll.
    const { status } = track
    if (status === 'processing') track.status = 'ready'
    return Response.json({ ok: true, track: { status, progress: 0.5, duration: 3, error: null } })
  }

  #multipart(method: string, track_id: string, id: string, action: string, init: RequestInit): Response {
    const track = this.tracks.find((candidate) => candidate.id === track_id)
    const sent = JSON.parse((init.body as string | null) ?? '{}') as MultipartBody
    if (!track) return refusal(404, 'not_found')
    if (method === 'POST' && !id) {
      const { file_size = 0, fingerprint } = sent
      const open = track.multipart
      track.multipart =
        open && fingerprint && open.fingerprint === fingerprint
          ? open
          : {
              id: `multipart-${++this.#made}`,
              file_size,
              ...(fingerprint && { fingerprint }),
              stored: new Map(),
              reported: new Map(),
              times: new Map(),
            }
    }
    const { multipart } = track
    if (!multipart || (id && id !== multipart.id)) return refusal(404, 'not_found')
    if (action === 'part' && track.status !== 'initializing') return refusal(409, 'multipart_complete')
    for (const { part_number, etag } of sent.done ?? []) multipart.reported.set(part_number, etag)
    const part_count = Math.ceil(multipart.file_size / PART_SIZE)
    if (action === 'complete') {
      if (multipart.reported.size < part_count) return refusal(409, 'parts_missing')
      for (const [n, etag] of multipart.reported) {
        if (multipart.stored.get(n) === etag) continue
        multipart.reported.clear()
        return refusal(409, 'invalid_part')
      }
      Object.assign(track, { status: 'processing', bytes: multipart.file_size })
    }
    const first = Array.from({ length: part_count }, (_, n) => n + 1).filter((n) => !multipart.reported.has(n))
    return Response.json({
      ok: true,
      multipart_upload: {
        ...multipart,
        part_size: PART_SIZE,
        part_count,
        parts: [...multipart.reported].map(([part_number, etag]) => ({ part_number, etag })),
        expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      },
      parts: (id ? (sent.next ?? []) : first.slice(0, 8)).map((part_number) => ({
        part_number,
        size: Math.min(PART_SIZE, multipart.file_size - (part_number - 1) * PART_SIZE),
        method: 'PUT',
        upload_url: `${ORIGIN}/part/${multipart.id}/${part_number}`,
        ttl: 3600,
        expires_at: '2030-01-01T00:00:00Z',
      })),
      track: {},
    })
  }

  #storePart(id: string, part_number: number, init: RequestInit): Response {
    const multipart = this.tracks.find((track) => track.multipart?.id === id)?.multipart
    const size = multipart && Math.min(PART_SIZE, multipart.file_size - (part_number - 1) * PART_SIZE)
    if (!multipart || (init.body as Blob).size !== size) return new Response('<Code>Wrong</Code>', { status: 403 })
    multipart.times.set(part_number, (multipart.times.get(part_number) ?? 0) + 1)
    const etag = `"etag-${part_number}-${multipart.times.get(part_number)}"`
    multipart.stored.set(part_number, etag)
    return new Response('', { headers: { etag } })
  }

  #create(session: string, init: RequestInit): Response {
    const idempotencyKey = new Headers(init.headers).get('idempotency-key') ?? ''
    const body = JSON.parse(init.body as string) as StoredTrack['body']
    const before = this.tracks.find((candidate) => candidate.idempotencyKey === idempotencyKey)
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

  #add(input: Pick<StoredTrack, 'session' | 'idempotencyKey' | 'body'>): StoredTrack {
    const track: StoredTrack = {
      id: `track-${++this.#made}`,
      bytes: null,
      covers: 0,
      status: 'initializing',
      multipart: null,
      ...input,
    }
    this.tracks.push(track)
    return track
  }
}

/** An event with its details in one flat object, which simplifies assertions. */
export interface RecordedEvent {
  type: keyof (UploadEvents & QueueEvents)
  name?: string
  code?: string
  [key: string]: unknown
}

/** Opens a queue on the fake service and records its events. */
export function openQueue(
  options: Partial<UploadOptions> = {},
  onEvent: (type: string, item: UploadItem) => void = () => {},
  tab = { UploadQueue },
) {
  const events: RecordedEvent[] = []
  const queue = new tab.UploadQueue(
    { baseUrl: ORIGIN, apiKey: 'ta_uk_1', collectionId: 'collection', accept: '', ...options },
    {
      onEvent(type, item, detail) {
        events.push({ type, name: item.name, ...detail })
        onEvent(type, item)
      },
      onQueueEvent: (type, detail) => events.push({ type, ...detail }),
    },
  )
  return { queue, events, types: () => events.map(({ type }) => type) }
}

/** A file with a valid audio header. */
export const aSong = (name: string) => new File(['RIFF\0\0\0\0WAVE'], name, { type: 'audio/wav' })
export const aPicture = (name = 'front.png') => new File(['picture'], name, { type: 'image/png' })

/** Advances time until a file reaches one of the states. */
export async function until(item: UploadItem | undefined, ...states: UploadState[]): Promise<void> {
  for (let second = 0; second < 2000; second++) {
    if (item && states.includes(item.state)) return
    await vi.advanceTimersByTimeAsync(1000)
  }
  throw new Error(`${item?.name} is ${item?.state}, not ${states.join(' or ')}`)
}

/** The service and the fake clock are recreated for each test. */
export let service: FakeService
beforeEach(() => {
  vi.useFakeTimers()
  service = new FakeService()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})
