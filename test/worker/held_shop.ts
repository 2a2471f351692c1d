import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'

import { reprocesses } from '../../src/adapters/work_schema.ts'
import { aReadyTrack, aShop, deliver, trackRow, unfollowed, upload } from './fixtures.ts'
import { db, ok } from './support.ts'

/** A shop whose queues hold their messages, so that a test delivers them one by one. */
export async function aHeldShop() {
  const shop = await aShop()
  const { key } = shop
  const transcodes: string[] = []
  const queue = (list: string[]) =>
    ({ send: async ({ job_id }: { job_id: string }) => void list.push(job_id) }) as unknown as Queue
  const bindings: Env = { ...env, TASK_QUEUE: queue([]), TRANSCODE_QUEUE: queue(transcodes) }
  const path = (collection_id = shop.collection_id) => `/v1/collection/${collection_id}/reprocess`

  const post = async (body?: object, collection_id?: string) =>
    (await ok('POST', path(collection_id), { key, body, bindings })).reprocess
  const progress = async (collection_id?: string) => (await ok('GET', path(collection_id), { key })).reprocess
  const jobOf = async (collection_id = shop.collection_id) =>
    (await db.select().from(reprocesses).where(eq(reprocesses.collection_id, collection_id)).get())!.job_id

  /** One run of the walk. */
  const step = async (collection_id?: string, by = bindings) =>
    deliver('task', { job_id: await jobOf(collection_id) }, { bindings: by })
  /** The transcoder's turn: all that stand in line. */
  async function work() {
    transcodes.splice(0)
    await deliver('transcode', {}, { bindings })
    await unfollowed()
  }
  async function finish(collection_id?: string) {
    for (let turn = 0; turn < 50; turn++) {
      await step(collection_id)
      if ((await progress(collection_id)).state === 'done') return
      await work()
    }
    throw new Error('did not come to an end')
  }

  /** A track with its upload in place, made before anybody wrote down with which variants. */
  async function aDoneTrack(collection_id = shop.collection_id) {
    const track_id = await aReadyTrack(key, collection_id)
    await upload(await trackRow(track_id))
    return track_id
  }
  return {
    ...shop,
    bindings,
    /** Jobs in the queue of transcodes. */
    transcodes,
    path,
    post,
    progress,
    jobOf,
    step,
    work,
    finish,
    aDoneTrack,
    /** Some of them, in the order in which the walk comes by. */
    doneTracks: async (count: number, collection_id?: string) =>
      (await Promise.all(Array.from({ length: count }, () => aDoneTrack(collection_id)))).toSorted(),
    statuses: (ids: string[]) => Promise.all(ids.map(async (id) => (await trackRow(id)).status)),
    define: (name: string) => ok('POST', '/v1/variant', { key, body: { name, codec: 'mp3', bitrate: 320 } }),
  }
}
