import { and, eq, sql } from 'drizzle-orm'

import { createLru } from '../../adapters/cache/lru.ts'
import { inJsonList } from '../../adapters/db/database.ts'
import { isInCollection, organizations, tracks } from '../../adapters/db/schema/library.ts'
import type { Context, Handlers } from '../../context.ts'
import type { listenerOperations } from '../../contract/listener.ts'
import { tenth } from '../../contract/ranges.ts'
import { notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { objectsOf } from '../../domain/listening_objects.ts'
import { joinProgress, progressSince, shareOf, type TrackProgress } from '../../listening/progress.ts'
import { findOrganization, withListenerKey } from '../library/organization.ts'
import { hashListener } from './listener_hash.ts'

/** Seconds before the end of a track from which on it starts again: a tenth of its length, but at most 3. */
const endOf = (duration: number) => Math.min(3, duration / 10)

/** The keys of the last organizations whose listeners were named. They do not change. */
const keys = createLru<string>({ entries: 1000, bytes: 200_000 })

/** Returns the key of an organization's listeners. It does not depend on the secrets of the service, which may change (docs/decisions/0111). */
async function keyOf({ db, principal: { organization_id: id }, now }: Context): Promise<string> {
  const known = keys.get(id, now)
  if (known !== undefined) return known
  const { listener_key } = organizations
  const isOrganization = eq(organizations.id, id)
  const [row] = await db.select({ listener_key }).from(organizations).where(isOrganization)
  const key =
    row?.listener_key ??
    (await db.update(organizations).set(withListenerKey()).where(isOrganization).returning({ listener_key }))[0]
      ?.listener_key
  if (key === null || key === undefined) throw notFound('organization')
  keys.set(id, key, { organization_id: id, bytes: 200, until: Infinity })
  return key
}

/** Returns the form in which a listener is stored. The same pseudonym has another one in another organization. */
export const listenerHash = async (context: Context, listener: string): Promise<string> =>
  hashListener(await keyOf(context), listener)

const toResponse = (each: TrackProgress) => ({
  track_id: each.track,
  duration: each.duration,
  ranges: each.ranges,
  heard: Math.round(shareOf(each) * 1000) / 1000,
  position: each.position > each.duration - endOf(each.duration) ? 0 : tenth(each.position),
  updated_at: timestamp(each.at),
})

/** Returns those of the tracks that were not deleted. */
async function existingTracks({ db, principal: { organization_id } }: Context, ids: string[]): Promise<Set<string>> {
  // The `+` makes SQLite look up the ids instead of scanning all tracks of the organization.
  const isOwn = and(sql`+${tracks.organization_id} = ${organization_id}`, isInCollection)
  const rows = await db
    .select({ id: tracks.id })
    .from(tracks)
    .where(and(isOwn, sql`${tracks.id} in ${inJsonList(ids)}`))
  return new Set(rows.map(({ id }) => id))
}

export const listenerHandlers: Handlers<typeof listenerOperations> = {
  async getProgress({ params: { listener } }, context) {
    const call = await objectsOf(context, context.principal.organization_id)
    const { progress_days } = await findOrganization(context)
    const since = progressSince(progress_days, context.now)
    const progress = joinProgress((await call('progress', await listenerHash(context, listener), since)).flat())
    const existing = await existingTracks(
      context,
      progress.map(({ track }) => track),
    )
    const tracks = progress.flatMap((each) => (existing.has(each.track) ? [toResponse(each)] : []))
    return { tracks }
  },

  async deleteProgress({ params: { listener } }, context) {
    const call = await objectsOf(context, context.principal.organization_id)
    const hash = await listenerHash(context, listener)
    const tracks = (await call('progress', hash, 0)).flat().map(({ track }) => track)
    await call('forget', hash)
    return { deleted_tracks: new Set(tracks).size }
  },
}
