import { env } from 'cloudflare:workers'

import type { JobEvent, MadeVariant } from '../../../src/contract/job.ts'
import { aPlaySession, call } from './api.ts'
import { aTrackWithJob, eventually, fileRows } from './fixtures.ts'
import { openStream, startTranscoder } from './transcoder.ts'

/** The event that the transcoder sends when it has stored an early file. */
export const early = (changes: Partial<MadeVariant> = {}): JobEvent => ({
  type: 'early',
  file: { index: 'early', size: 1000, bitrate: 192, duration: 3600.12345, ...changes },
})

/** Creates a track whose job runs until the test ends it; returns functions that its listeners use. Call `leave` at the end of the test. */
export async function aLongTrack() {
  const work = await aTrackWithJob()
  const { key, track_id } = work
  const stream = openStream()
  const base = `media/${work.organization_id}/${work.collection_id}/${work.row.index}/${work.job_id.slice(-8)}`
  let running: Promise<unknown> | undefined

  const session = (body: object = {}) => aPlaySession(key, 'track', track_id, { expires_in: 86_400, ...body })
  const viewIn = (play_session_id: string) => call('GET', `/v1/play/${play_session_id}/${track_id}`)
  const rows = () => fileRows(track_id)

  /** Delivers the job's message. The events of the job come from `stream`. */
  async function start() {
    const { transcodes } = startTranscoder({ transcode: () => stream.response })
    running = work.run()
    await eventually(async () => (await work.job()).attempt === 1)
    return transcodes
  }

  /** Starts the job and waits until an early file is recorded. */
  async function startEarly(event = early()) {
    const transcodes = await start()
    stream.send(event)
    await eventually(async () => (await rows()).length > 0)
    await env.MEDIA.put((await rows())[0]!.path, 'audio')
    return transcodes
  }

  /** Sends the job's last event and waits until it is processed. Without an event, the stream is interrupted. */
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
    /** The view of the track in a new session. */
    view: async (variants?: string[]) => viewIn((await session({ variants })).play_session_id),
    rows,
    start,
    startEarly,
    end,
    leave: () => end(),
  }
}
