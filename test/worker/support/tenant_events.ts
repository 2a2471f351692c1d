import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

import type { TonearmEvent } from '../../../src/contract/event.ts'
import type { JobEvent, TranscodeJob } from '../../../src/contract/job.ts'
import worker from '../../../src/index.ts'
import { aWaitingTrack, ok } from './api.ts'
import { aTenant, eventually } from './fixtures.ts'
import { aProcessedTrack } from './processed_track.ts'
import { coverResult, eventStream, completeResult, startTranscoder } from './transcoder.ts'

/** A tenant and the events that it causes. */

/** The events after a sequence number, as returned by the feed. */
export async function eventsOf(key: string, after = 0, filter = ''): Promise<TonearmEvent[]> {
  const { events } = await ok('GET', `/v1/event?after=${after}&limit=200${filter}`, { key })
  return events
}

/** Returns the events that are recorded while `run` runs. */
async function during(key: string, run: () => Promise<unknown>) {
  const last = (await eventsOf(key)).at(-1)!.seq
  await run()
  return eventsOf(key, last)
}

export const typesOf = (list: TonearmEvent[]) => list.map(({ type }) => type)
export const dataOf = (list: TonearmEvent[], type: string) => list.find((event) => event.type === type)!.data

/** Creates a tenant whose transcoder sends the events that the test sets with `answers`. */
export async function aTenantWithEvents() {
  let answer: (job: TranscodeJob) => JobEvent[] = (job) => [completeResult(job)]
  const { transcodes } = startTranscoder({
    transcode: (job) => eventStream(...answer(job)),
    cover: () => coverResult(),
  })
  const tenant = await aTenant()
  const { key, collection_id } = tenant
  const api = (method: string, path: string, body?: object) => ok(method, `/v1/${path}`, { key, body })
  const keys = await api('GET', 'api_key')
  return {
    ...tenant,
    api,
    transcodes,
    actor: `api_key:${keys.api_keys[0].id}`,
    answers: (next: typeof answer) => void (answer = next),
    during: (run: () => Promise<unknown>) => during(key, run),
    track: (body: object = {}) => aWaitingTrack(key, collection_id, body),
    ready: (body: object = {}) => aProcessedTrack(key, collection_id, body),
    /** Reprocesses a track and waits until it has the status `until`. */
    async reprocess(track_id: string, until: string) {
      const before = transcodes.length
      await api('POST', `track/${track_id}/reprocess`)
      await eventually(async () => {
        const { track } = await api('GET', `track/${track_id}`)
        return transcodes.length > before && track.status === until
      })
    },
  }
}

/** Uploads an image with an upload handle. Returns the status. */
export const sendCover = async ({ upload_url }: { upload_url: string }, bindings: Env = env) => {
  const body = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...Array.from({ length: 24 }, () => 0)])
  const request = new Request(upload_url, { method: 'POST', body })
  const response = await worker.fetch(request, bindings, createExecutionContext())
  await response.text()
  return response.status
}
