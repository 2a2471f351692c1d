import { encoder, hex, hmac, importKey } from '../../adapters/bucket/presign.ts'
import type { Context, Handlers } from '../../context.ts'
import type { listenerOperations } from '../../contract/listener.ts'
import { timestamp } from '../../core/time.ts'
import { joinProgress, shareOf } from '../../pipeline/listening/progress.ts'
import { tenth } from '../../pipeline/listening/ranges.ts'
import { objectsOf } from './listening_objects.ts'

/** Seconds before the end of a track from which on it starts again: a tenth of its length, but at most 3. */
const endOf = (duration: number) => Math.min(3, duration / 10)

/** Returns the form in which a listener is stored. The same pseudonym has another one in another organization. */
export async function listenerHash({ env, principal }: Pick<Context, 'env' | 'principal'>, listener: string) {
  const key = await importKey(encoder.encode(`listener ${env.SIGNING_SECRET}`))
  return hex(await hmac(key, `${principal.organization_id} ${listener}`)).slice(0, 32)
}

export const listenerHandlers: Handlers<typeof listenerOperations> = {
  async getProgress({ params: { listener } }, context) {
    const call = await objectsOf(context)
    const progress = joinProgress((await call('progress', await listenerHash(context, listener))).flat())
    const tracks = progress.map((each) => ({
      track_id: each.track,
      duration: each.duration,
      ranges: each.ranges,
      heard: Math.round(shareOf(each) * 1000) / 1000,
      position: each.position > each.duration - endOf(each.duration) ? 0 : tenth(each.position),
      updated_at: timestamp(each.at),
    }))
    return { tracks }
  },

  async deleteProgress({ params: { listener } }, context) {
    const call = await objectsOf(context)
    const hash = await listenerHash(context, listener)
    const tracks = (await call('progress', hash)).flat().map(({ track }) => track)
    await call('forget', hash)
    return { deleted_tracks: new Set(tracks).size }
  },
}
