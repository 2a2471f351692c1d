import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect } from 'vitest'

import { openDatabase } from '../../src/adapters/database.ts'
import type { ErrorCode } from '../../src/contract/errors.ts'
import worker from '../../src/index.ts'
import type { Refusal, ResponseOf, Unchecked } from './response.ts'

/** The real D1, for state that the API does not show or cannot cause (such as elapsed time). */
export const db = openDatabase(env.DB)

/** Runs SQL; returns the rows. */
export const query = async <T = Record<string, unknown>>(text: string, ...values: unknown[]) =>
  (
    await env.DB.prepare(text)
      .bind(...values)
      .all<T>()
  ).results

/** A queue that drops its messages. */
export const silent = { send: async () => undefined } as unknown as Queue

/** The messages that the test sent to the transcode queue without a delay. */
export const nudges: unknown[] = []
/** The real bindings with a transcode queue that records those messages. */
export const noting: Env = {
  ...env,
  TRANSCODE_QUEUE: {
    send(body: unknown, options?: QueueSendOptions) {
      if (!options?.delaySeconds) nudges.push(body)
      return env.TRANSCODE_QUEUE.send(body, options)
    },
  } as Queue,
}

export const UNKNOWN_ID = '00000000-0000-4000-8000-00000000dead'

interface Options {
  key?: string | undefined
  body?: unknown
  headers?: Record<string, string>
  /** Replaces `noting` where a test must cause a change within a request. */
  bindings?: Env
}

/** Calls the real Worker and parses the body of its response, which is typed by the operation that method and path name. */
export async function call<const M extends string, const P extends string>(method: M, path: P, options: Options = {}) {
  const { key, body: sent, headers, bindings = noting } = options
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
  const body: Unchecked<ResponseOf<M, P>> = await response.json()
  return { status: response.status, headers: response.headers, body }
}

/** Expects status 200 and returns the body. */
export async function ok<const M extends string, const P extends string>(
  method: M,
  path: P,
  options?: Options,
): Promise<ResponseOf<M, P>> {
  const { status, body } = await call(method, path, options)
  expect(status, `${method} ${path} returned ${JSON.stringify(body)}`).toBe(200)
  return body as ResponseOf<M, P>
}

/** Expects this error and returns its envelope. */
export async function refused(
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

/** The paths that a 400 names. */
export const wrongFields = (body: { errors: { path: string }[] }) => body.errors.map(({ path }) => path)

/** A new organization with its server key. */
export async function anOrganization(name = 'Test') {
  const body = await ok('POST', '/v1/organization', { key: env.ROOT_KEY, body: { name } })
  return { id: body.organization_id, key: body.secret }
}

export async function aCollection(key: string, body: object = {}) {
  const { collection } = await ok('POST', '/v1/collection', { key, body: { title: 'Kind of Blue', ...body } })
  return collection
}

/** A track that waits for its upload. */
export async function aTrack(key: string, collection_id: string, body: object = {}) {
  const { track } = await ok('POST', '/v1/track', { key, body: { collection_id, file_name: 'So What.mp3', ...body } })
  return track
}

/** The id of such a track. */
export const aWaitingTrack = async (key: string, collection_id: string, body: object = {}) =>
  (await aTrack(key, collection_id, body)).id
