import { columnsOf, selectOf } from './query.ts'
import type { tracks } from './schema/library.ts'
import { FROM_SHARES, SHARE_PARTS } from './share_rows.ts'

/**
 * Selects the share with a slug like `shareRows`, and the files of one of its tracks. The track is null if the share does not have it, or if its collection is
 * in the trash. Parameters: `slug` and `track_id`, which is null for the only track of a share.
 */
export const shareFileRows = selectOf({
  ...SHARE_PARTS,
  track: columnsOf<typeof tracks.$inferSelect>('tracks')({
    id: 'plain',
    organization_id: 'plain',
    collection_id: 'plain',
    folder_id: 'plain',
    index: 'plain',
    status: 'plain',
    files: 'json',
  }),
})(`${FROM_SHARES}
  left join tracks on tracks.id = coalesce(:track_id, iif(shares.scope = 'track', shares.resource_id, null))
    and +tracks.organization_id = shares.organization_id
    and exists (select 1 from collections where id = tracks.collection_id)
    and case shares.scope when 'track' then tracks.id = shares.resource_id
      when 'collection' then tracks.collection_id = shares.resource_id
      else exists (select 1 from playlist_tracks where track_id = tracks.id and playlist_id = shares.resource_id) end`)
