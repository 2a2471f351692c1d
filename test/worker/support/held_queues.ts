import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'

import { reprocesses } from '../../../src/adapters/db/schema/work.ts'
import { aVariant, db, heldQueue, ok, silentQueue } from './api.ts'
import { aReadyTrack, aTenant, deliver, trackRow, untilUnfollowed, putUpload } from './fixtures.ts'

/** Creates a tenant whose queues hold their messages, so that a test can deliver them one by one. */
export async function aTenantWithHeldQueues() {
  const tenant = await aTenant()
  const { key } = tenant
  const transcodes: string[] = []
  const transcodeQueue = heldQueue<{ job_id: string }>(({ job_id }) => transcodes.push(job_id))
  const bindings: Env = { ...env, TASK_QUEUE: silentQueue, TRANSCODE_QUEUE: transcodeQueue }
  const path = (collection_id = tenant.collection_id) => `/v1/collection/${collection_id}/reprocess`

  const post = async (body?: object, collection_id?: string) =>
    (await ok('POST', path(collection_id), { key, body, bindings })).reprocess
  const progress = async (collection_id?: string) => (await ok('GET', path(collection_id), { key })).reprocess
  const jobOf = async (collection_id = tenant.collection_id) =>
    (await db.select().from(reprocesses).where(eq(reprocesses.collection_id, collection_id)).get())!.job_id

  /** Runs one step of the reprocess job. */
  const step = async (collection_id?: string, by = bindings) =>
    deliver('task', { job_id: await jobOf(collection_id) }, { bindings: by })
  /** Delivers one message to the transcode queue and waits until all its jobs are processed. */
  async function work() {
    transcodes.splice(0)
    await deliver('transcode', {}, { bindings })
    await untilUnfollowed()
  }
  async function finish(collection_id?: string) {
    for (let turn = 0; turn < 50; turn++) {
      await step(collection_id)
      if ((await progress(collection_id)).state === 'done') return
      await work()
    }
    throw new Error('the reprocess did not finish')
  }

  /** Creates a ready track with a stored upload. The row of the track does not record its variants yet. */
  async function aDoneTrack(collection_id = tenant.collection_id) {
    const track_id = await aReadyTrack(key, collection_id)
    await putUpload(await trackRow(track_id))
    return track_id
  }
  return {
    ...tenant,
    bindings,
    /** The ids of the jobs in the transcode queue. */
    transcodes,
    path,
    post,
    progress,
    jobOf,
    step,
    work,
    finish,
    aDoneTrack,
    /** Creates several tracks with `aDoneTrack`; returns their ids in the order in which the reprocess job visits them. */
    doneTracks: async (count: number, collection_id?: string) =>
      (await Promise.all(Array.from({ length: count }, () => aDoneTrack(collection_id)))).toSorted(),
    statuses: (ids: string[]) => Promise.all(ids.map(async (id) => (await trackRow(id)).status)),
    define: (name: string) => aVariant(key, { name }),
  }
}
