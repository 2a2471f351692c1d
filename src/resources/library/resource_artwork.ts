import { inArray, sql } from 'drizzle-orm'

import { inJsonList } from '../../adapters/db/database.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import type { Context } from '../../context.ts'
import type { PlayScope } from '../../contract/play.ts'
import type { ShownCover } from './cover_image.ts'
import {
  collectionCovers,
  covers,
  playlistCovers,
  toCollectionCovers,
  toPlaylistCovers,
  trackCover,
} from './list_items.ts'
import { organizationIn, organizationQuery } from './organization.ts'

interface Resource {
  scope: PlayScope
  resource_id: string
}

/**
 * Returns the covers that listeners see of collections, tracks and playlists of the caller's organization, by their ids. The number of queries does not
 * depend on the number of resources.
 */
export async function coversOf(context: Context, resources: Resource[]): Promise<Map<string, ShownCover>> {
  const { db } = context
  const idsOf = (scope: PlayScope) => resources.flatMap((each) => (each.scope === scope ? [each.resource_id] : []))
  const { id, cover_path, cover_size, collection_id, player_title, tags, file_name } = tracks
  const levels = sql<string | null>`iif(${cover_path} is null, hex(${tracks.levels}), null)`.as('levels')
  const track_ids = inJsonList(idsOf('track'))
  const collection_ids = sql`(select value from json_each(${JSON.stringify(idsOf('collection'))})
    union select collection_id from tracks where id in ${track_ids})`
  const [[organization], foundTracks, playlistRows, collectionRows] = await db.batch([
    organizationQuery(context),
    db
      .select({ id, cover_path, cover_size, collection_id, player_title, tags, file_name, levels })
      .from(tracks)
      .where(inArray(id, track_ids)),
    playlistCovers(context, inJsonList(idsOf('playlist'))),
    collectionCovers(context, collection_ids),
  ])
  const collections = toCollectionCovers(collectionRows)
  return new Map<string, ShownCover>([
    ...collections,
    ...toPlaylistCovers(playlistRows),
    ...foundTracks.flatMap((track) => {
      const collection = collections.get(track.collection_id)
      return collection
        ? [[track.id, trackCover(organizationIn(organization && [organization]), collection, null, track)] as const]
        : []
    }),
  ])
}

/** Returns a function for the squares of these covers: the neutral picture for a resource that does not exist. */
export async function artworkOf(context: Context, resources: Resource[]) {
  const [owners, cover] = await Promise.all([coversOf(context, resources), covers(context)])
  return ({ resource_id }: { resource_id: string }) => cover(owners.get(resource_id) ?? { cover_path: null })
}
