import { sql } from 'drizzle-orm'

import { recordEvents } from '../../adapters/db/record_event.ts'
import { isInCollection, tracks } from '../../adapters/db/schema/library.ts'
import type { Context } from '../../context.ts'
import { nextVersion } from '../library/version.ts'

/** A track, the collection to which it moves, and its place there; without a place, the track comes last. */
interface Move {
  track_id: string
  collection_id: string
  order?: number | undefined
}

/**
 * Returns the statements that move tracks of the caller's organization to other collections. A track gets its `order` there if no other track has it;
 * otherwise it comes after the last track, in the requested order. Each track gets its new position first, and its new collection in a second
 * statement, because separate triggers maintain the counts of the two changes. The files are not moved.
 */
export function moveStatements(context: Context, moves: Move[]) {
  const { db, now, principal } = context
  const goal = sql`(select value ->> 'track_id' as moved_id, value ->> 'collection_id' as goal_id, value ->> 'order' as goal_order, key as n
    from json_each(${JSON.stringify(moves)})) as goal`
  // A track of a deleted or trashed collection cannot be moved: it is hidden, although its row exists. The `+` makes SQLite look up the ids instead of
  // scanning all tracks of the organization.
  const movable = sql`${isInCollection} and tracks.id = moved_id and +tracks.organization_id = ${principal.organization_id}
    and tracks.collection_id <> goal_id and exists (select 1 from collections where collections.id = goal_id)`
  const others = sql`tracks as other where other.collection_id = goal_id`
  const isFree = sql`goal_order is not null and not exists (select 1 from ${others} and other."order" = goal_order)
    and row_number() over (partition by goal_id, goal_order order by n) = 1`
  const last = sql`max(coalesce((select max(other."order") from ${others}), 0), coalesce(max(goal_order) over (partition by goal_id), 0))`
  const position = sql`iif(${isFree}, goal_order, ${last} + row_number() over (partition by goal_id order by n))`
  const eventFields = { collection_id: sql`goal_id`, changed: ['collection_id'] }
  return [
    recordEvents(context, 'track.updated', sql`${goal} cross join tracks where ${movable}`, eventFields),
    db
      .update(tracks)
      .set({ order: sql`place` })
      .from(sql`(select moved_id, ${position} as place from ${goal} cross join tracks where ${movable}) as placed`)
      .where(sql`tracks.id = moved_id`),
    db
      .update(tracks)
      .set({
        collection_id: sql`goal_id`,
        folder_id: sql`nullif(coalesce(folder_id, collection_id), goal_id)`,
        updated_at: nextVersion(now),
      })
      .from(goal)
      .where(movable),
  ]
}
