import { setTimeout as sleep } from 'node:timers/promises'

import { type Client, createClient, type Failure, pages, uploadFile } from '../../src/client/index.ts'
import { Fault, patiently } from '../backup/service.ts'
import { readSettings } from '../shared/settings.ts'
import { createOnce, Refused } from './create_once.ts'
import type { Downloaded } from './download.ts'
import type { PlannedCollection } from './plan.ts'

/** The requests of an import to the service. */

/** A track that an earlier run has created. */
export interface Present {
  id: string
  status: string
  order: number
  /** Whether its chapters, cover and tags may be missing. */
  isUnfinished: boolean
}

/** Prefix of the `organization_index` of a track until everything but its audio is there. A run that is stopped is continued by it. */
const UNFINISHED = 'unfinished: '
export const unfinished = (index: string) => UNFINISHED + index

/** Milliseconds without an answer after which a request is sent again. */
const REQUEST_TIMEOUT = 60_000

/** Opens the service with a server key. */
export function openClient(url: string | undefined): { client: Client; base_url: string } {
  const api_key = process.env.TONEARM_KEY
  if (!api_key) throw new Fault('Set TONEARM_KEY in the environment: a server key of the organization')
  const base_url = (url ?? readSettings().base_url).replace(/\/+$/, '')
  return { client: createClient({ base_url, api_key, fetch: send }), base_url }
}

/**
 * Sends a request of the client, which itself waits for five seconds at most if there were too many requests, and whose signal would end the wait after a
 * minute. A change is also repeated while the service does not respond.
 */
const send: typeof fetch = async (input, init) => {
  const attempt = () => ({ ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT) })
  if (init?.method !== 'GET') return patiently(input as string, attempt, false)
  for (;;) {
    const response = await fetch(input, attempt())
    if (response.status !== 429) return response
    await response.body?.cancel()
    await sleep(Number(response.headers.get('retry-after')) * 1000 || 1000)
  }
}

/** Returns an answer of the service. Throws if it is a failure. */
export function checked<T extends { ok: boolean }>(answer: T): Extract<T, { ok: true }> {
  if (answer.ok) return answer as Extract<T, { ok: true }>
  throw new Refused(answer as unknown as Failure)
}

const orNull = async <T>(answer: Promise<T | Failure>): Promise<T | null> => {
  const found = await answer
  if ((found as Failure).status === 404) return null
  return checked(found as T & { ok: boolean })
}

/** Returns the collection with an index, and whether its cover may be missing; null if there is none. */
async function findCollection(client: Client, index: string): Promise<Opened | null> {
  for (const isUnfinished of [false, true]) {
    const organization_index = isUnfinished ? unfinished(index) : index
    const query = { organization_index, sort: 'created_at', limit: '1' } as const
    const { collections } = checked(await client.get('/v1/collection', { query: query as never }))
    if (collections[0]) return { id: collections[0].id, isUnfinished }
  }
  return null
}

interface Opened {
  id: string
  isUnfinished: boolean
}

/** Returns the id of a planned collection, which is created if it does not exist; null in a dry run of a new one. */
export async function openCollection(
  client: Client,
  { id, index, cover, ...body }: PlannedCollection,
  isDryRun: boolean,
): Promise<Opened | null> {
  const read = (collection_id: string) => client.get('/v1/collection/{collection_id}', { params: { collection_id } })
  if (id !== undefined) {
    if (await orNull(read(id))) return { id, isUnfinished: false }
    throw new Fault(`There is no collection ${id}`)
  }
  const found = await findCollection(client, index)
  if (found !== null || isDryRun) return found
  const created = await createOnce({
    identity: ['collection', index],
    async create(idempotency_key) {
      const organization_index = cover ? unfinished(index) : index
      const answer = await client.post('/v1/collection', { body: { ...body, organization_index }, idempotency_key })
      return answer.ok ? { ok: true, id: answer.collection_id } : answer
    },
    find: async () => (await findCollection(client, index))?.id ?? null,
    read,
  })
  return { id: created, isUnfinished: Boolean(cover) }
}

/** Returns the tracks of a collection by the index that an import has given them. */
export async function listPresent(client: Client, collection_id: string): Promise<Map<string, Present>> {
  const found = new Map<string, Present>()
  const options = { params: { collection_id }, query: { include: 'ids' } } as const
  for await (const page of pages(client, '/v1/collection/{collection_id}/track', options as never))
    for (const { id, status, order, organization_index } of checked(page).tracks) {
      if (!organization_index) continue
      const isUnfinished = organization_index.startsWith(UNFINISHED)
      const index = isUnfinished ? organization_index.slice(UNFINISHED.length) : organization_index
      if (!found.has(index)) found.set(index, { id, status, order, isUnfinished })
    }
  return found
}

/** Sends a picture to the upload URL of a cover. */
export async function sendCover(handle: Parameters<typeof uploadFile>[0], { bytes, contentType }: Downloaded) {
  checked(await uploadFile(handle, new Blob([new Uint8Array(bytes)], { type: contentType.split(';', 1)[0]! })))
}

/** Deletes a track that could not be imported. From the trash, it can be restored if people have changed it. */
export const discardFailed = (client: Client, track_id: string) =>
  orNull(client.delete('/v1/track/{track_id}', { params: { track_id }, query: { trash: 'true' } }))

/** Maximum number of tracks in one request that orders them, and the half of it. */
const ORDERED = 1000
const BLOCK = ORDERED / 2

/**
 * Puts tracks of a collection into an order. One request orders up to 1,000 tracks, so longer lists are sorted by blocks: in each round, each block and the
 * next one are merged (odd-even merge sort), which needs as many rounds as there are blocks.
 */
export async function orderTracks(
  client: Client,
  collection_id: string,
  wanted: string[],
  present: Map<string, number>,
) {
  const rank = new Map(wanted.map((id, at) => [id, at]))
  const current = wanted
    .filter((id) => present.has(id))
    .toSorted((one, other) => present.get(one)! - present.get(other)!)
  const blocks = Math.ceil(current.length / BLOCK)
  const isSorted = (ids: string[]) => ids.every((id, at) => at === 0 || rank.get(ids[at - 1]!)! < rank.get(id)!)
  for (let round = 0; round <= blocks && !isSorted(current); round++)
    for (let at = (round % 2) * BLOCK; at < current.length; at += ORDERED) {
      const part = current.slice(at, at + ORDERED)
      if (isSorted(part)) continue
      const track_ids = part.toSorted((one, other) => rank.get(one)! - rank.get(other)!)
      checked(
        await client.put('/v1/collection/{collection_id}/track/order', {
          params: { collection_id },
          body: { track_ids },
        }),
      )
      current.splice(at, part.length, ...track_ids)
    }
}
