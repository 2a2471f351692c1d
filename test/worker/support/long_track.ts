import { env } from 'cloudflare:workers'

import type { JobEvent, MadeVariant } from '../../../src/contract/job.ts'
import { aPlaySession, call } from './api.ts'
import { aTrackWithJob, eventually, fileRows } from './fixtures.ts'
import { openStream, startTranscoder } from './transcoder.ts'

/** The event that the transcoder sends when a first file is at its URL. */
export const early = (changes: Partial<MadeVariant> = {}): JobEvent => ({
  type: 'early',
  file: { index: 'early', size: 1000, bitrate: 192, duration: 3600.12345, ...changes },
})

/** A track whose job runs until the test ends it, with the calls of its listeners. Call `leave` at the end. */
export async function aLongTrack() {
  const work = await aTrackWithJob()
  const { key, track_id } = work
  const stream = openStream()
  const base = `media/${work.organization_id}/${work.collection_id}/${work.row.index}/${work.job_id.slice(-8)}`
  let running: Promise<unknown> | undefined

  const session = (body: object = {}) => aPlaySession(key, 'track', track_id, { expires_in: 86_400, ...body })
  const viewIn = (play_session_id: string) => call('GET', `/v1/play/${play_session_id}/${track_id}`)
  const rows = () => fileRows(track_id)

  /** Delivers the job's message; its events come from `stream`. */
  async function start() {
    const { transcodes } = startTranscoder({ transcode: () => stream.response })
    running = work.run()
    await eventually(async () => (await work.job()).attempt === 1)
    return transcodes
  }

  /** Starts, then waits until an early file is recorded. */
  async function startEarly(event = early()) {
    const transcodes = await start()
    stream.send(event)
    await eventually(async () => (await rows()).length > 0)
    await env.MEDIA.put((await rows())[0]!.path, 'audio')
    return transcodes
  }

  /** Sends the job's last event and waits until it is handled; without an event the stream is cut. */
  async function end(last?: JobEvent) {
    if (last) stream.send(last)
    stream.end()
    await running
  }

  return {
    ...work,
    stream,
    base,
    session,
    viewIn,
    /** The track as a new session sees it. */
    view: async (variants?: string[]) => viewIn((await session({ variants })).play_session_id),
    rows,
    start,
    startEarly,
    end,
    leave: () => end(),
  }
}
