import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect } from 'vitest'

import { openDatabase } from '../../../src/adapters/db/database.ts'
import type { ErrorCode } from '../../../src/contract/error_status.ts'
import { operations } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import worker from '../../../src/index.ts'
import type { Refusal, ResponseOf, Unchecked } from './response.ts'

/** The real D1 database, for states that the API does not show or cannot cause, such as elapsed time. */
export const db = openDatabase(env.DB)

/** Runs an SQL statement and returns its rows. */
export const query = async <T = Record<string, unknown>>(text: string, ...values: unknown[]) =>
  (
    await env.DB.prepare(text)
      .bind(...values)
      .all<T>()
  ).results

/** A queue that passes each message to `hold` instead of delivering it. */
export const heldQueue = <T = unknown>(hold: (body: T) => unknown) =>
  ({ send: async (body: T) => void hold(body) }) as unknown as Queue<T>
/** A queue that discards its messages. */
export const silentQueue = heldQueue(() => undefined)

/** The real bindings without work in the background: no job is sent to a consumer. */
export const quietBindings: Env = { ...env, TASK_QUEUE: silentQueue, TRANSCODE_QUEUE: silentQueue }

/** The messages that were sent to the transcode queue without a delay. */
export const sentWakes: unknown[] = []
/** The real bindings, with a transcode queue that also records its messages in `sentWakes`. */
export const recordingBindings: Env = {
  ...env,
  TRANSCODE_QUEUE: {
    send(body: unknown, options?: QueueSendOptions) {
      if (!options?.delaySeconds) sentWakes.push(body)
      return env.TRANSCODE_QUEUE.send(body, options)
    },
  } as Queue,
}

export { DAY, HOUR } from '../../../src/contract/time.ts'
export const UNKNOWN_ID = '00000000-0000-4000-8000-00000000dead'

/** Values for the field `creator_id`. */
export const CREATORS = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const
export const [CREATOR] = CREATORS

interface Options {
  key?: string | undefined
  body?: unknown
  headers?: Record<string, string>
  /** Bindings that replace `recordingBindings`, for tests that must cause a change during a request. */
  bindings?: Env
}

/** Calls the real Worker and parses the body of its response. The type of the body is that of the operation with this method and path. */
export async function call<const M extends string, const P extends string>(method: M, path: P, options: Options = {}) {
  const { key, body: sent, headers, bindings = recordingBindings } = options
  const request = new Request(new URL(path, 'https://tonearm.test'), {
    method,
    headers: {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(sent !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent !== undefined && { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
  })
  const response = await worker.fetch(request, bindings, createExecutionContext())
  const text = await response.text()
  const body = (text === '' ? undefined : JSON.parse(text)) as Unchecked<ResponseOf<M, P>>
  return { status: response.status, headers: response.headers, body }
}

/** The methods and paths of the operations whose responses have no body. */
const emptyPaths = (Object.values(operations) as Operation[])
  .filter(({ is_report }) => is_report)
  .map(({ method, path }) => new RegExp(`^${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '[^/]+')}$`))

/** Calls the Worker, expects status 200, or 204 if the operation has no response, and returns the body, which is undefined with 204. */
export async function ok<const M extends string, const P extends string>(
  method: M,
  path: P,
  options?: Options,
): Promise<ResponseOf<M, P>> {
  const { status, body } = await call(method, path, options)
  expect(status, `${method} ${path} returned ${JSON.stringify(body)}`).toBe(
    emptyPaths.some((pattern) => pattern.test(`${method} ${path}`)) ? 204 : 200,
  )
  return body as ResponseOf<M, P>
}

/** Calls the Worker, expects this error, and returns the body. */
export async function expectError(
  status: number,
  code: ErrorCode,
  ...args: [method: string, path: string, options?: Options]
) {
  const answer = await call(...args)
  const { ok, message, api_request_id } = answer.body
  expect([answer.status, answer.body.code], `${args[0]} ${args[1]}: ${JSON.stringify(answer.body)}`).toEqual([
    status,
    code,
  ])
  expect({ ok, message, api_request_id }).toEqual({
    ok: false,
    message: expect.stringMatching(/\w+ /),
    api_request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  return answer.body as Refusal
}

interface ListItem {
  id: string
  title?: string
  player_title?: string | null
  file_name?: string
}
/** The items of a list response, regardless of the name of their field. */
export const itemsOf = (body: object) => Object.values(body).find(Array.isArray) as ListItem[]
export const nameOf = ({ title, player_title, file_name }: ListItem) => title ?? player_title ?? file_name

export const sortedStatuses = (answers: { status: number }[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b)

/** The paths of the invalid fields in a 400 response. */
export const errorPaths = (body: { errors: { path: string }[] }) => body.errors.map(({ path }) => path)

/** Creates an organization; returns it with its server key. */
export async function anOrganization(name = 'Test') {
  const body = await ok('POST', '/v1/organization', { key: env.ROOT_KEY, body: { name } })
  return { id: body.organization_id, key: body.secret }
}

export async function aCollection(key: string, body: object = {}) {
  const { collection } = await ok('POST', '/v1/collection', { key, body: { title: 'Kind of Blue', ...body } })
  return collection
}

/** Creates a track that waits for its upload. Returns the response, which contains the upload handles. */
export const createTrack = (key: string, collection_id: string, body: object = {}) =>
  ok('POST', '/v1/track', { key, body: { collection_id, file_name: 'So What.mp3', ...body } })

/** Creates a track that waits for its upload. Returns the track. */
export const aTrack = async (key: string, collection_id: string, body: object = {}) =>
  (await createTrack(key, collection_id, body)).track

/** Creates a track that waits for its upload. Returns its id. */
export const aWaitingTrack = async (key: string, collection_id: string, body: object = {}) =>
  (await aTrack(key, collection_id, body)).id

export const readTrack = async (key: string, id: string) => (await ok('GET', `/v1/track/${id}`, { key })).track

/** Creates a playlist of these tracks. Returns its id. */
export async function aPlaylist(key: string, track_ids: string[] = [], body: object = {}) {
  const { playlist_id } = await ok('POST', '/v1/playlist', { key, body: { title: 'Mix', ...body } })
  if (track_ids.length > 0) await ok('PUT', `/v1/playlist/${playlist_id}/track`, { key, body: { track_ids } })
  return playlist_id
}

export type Scope = 'collection' | 'playlist' | 'track'

/** Creates a play session of the resource `id`. */
export const aPlaySession = (key: string, scope: Scope, id: string, body: object = {}) =>
  ok('POST', `/v1/play_session/${scope}`, { key, body: { [`${scope}_id`]: id, ...body } })

/** Requests a play session without expecting a status; otherwise like `aPlaySession`. */
export const callPlaySession = (key: string | undefined, scope: Scope, id: string, body: object = {}, headers = {}) =>
  call('POST', `/v1/play_session/${scope}`, { key, body: { [`${scope}_id`]: id, ...body }, headers })

/** The indexes of the variants in a play view. */
export const indexesOf = (view: { variants: { variant: { index: string } }[] }) =>
  view.variants.map(({ variant }) => variant.index)

export const anUploadSession = (key: string, collection_id: string, body: object = {}) =>
  ok('POST', '/v1/upload_session', { key, body: { collection_id, ...body } })

/** Creates an API key, which is a player key unless `body` contains another type. */
export const anApiKey = (key: string, body: object = {}) =>
  ok('POST', '/v1/api_key', { key, body: { title: 'Page', type: 'player', ...body } })

/** Creates a variant, which is an MP3 with 320 kbit/s unless `body` contains a codec. */
export async function aVariant(key: string, body: object = {}) {
  const settings = 'codec' in body ? body : { codec: 'mp3', bitrate: 320, ...body }
  return (await ok('POST', '/v1/variant', { key, body: { name: 'Radio', ...settings } })).variant
}
