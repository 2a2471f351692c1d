import * as z from 'zod'

import { counted, Id, including, ListPage, named, ok, Query, RequiredText, someOf, sortedBy } from './common.ts'
import { Episode } from './feed.ts'
import { Loudness, TrackError } from './info.ts'
import { CoverImage } from './media.ts'
import { defineOperations } from './operation.ts'
import { BriefTrack, Levels, Track, TrackStatus } from './track.ts'
import { TrackVariant } from './track_variant.ts'

/** The parts of `info` that a list shows. `warnings` also counts the variants that failed. */
export const TrackState = named('TrackState', {
  /** The fraction of the job that is done, 0–1; 0 while the track is queued. */
  progress: z.number(),
  /** As in `info`; null if there is none. */
  error: TrackError.nullable(),
  /** Number of warnings, and of variants that failed. */
  warnings: z.int(),
})
export type TrackState = z.infer<typeof TrackState>

/** Optional parts of the tracks, which save a request for each track. */
export const include = including('levels', 'loudness', 'artwork', 'collection', 'state', 'variants', 'ids')
/** A track in a list, with the parts that `include` names. */
export const ListedTrack = BriefTrack.extend({
  /** Facts that only podcast feeds show, such as season and notes; null if nothing was set. */
  episode: Episode.nullable(),
  /** Only with `include=levels`. */
  levels: Levels.optional(),
  /** Only with `include=loudness`; null before it is known. */
  loudness: Loudness.nullable().optional(),
  /** Only with `include=artwork`: the effective cover, which may be inherited. */
  artwork: CoverImage.optional(),
  /** Only with `include=state`. */
  state: TrackState.optional(),
  /** Only with `include=collection`. */
  collection: z
    .object({
      /** The same as `collection_id`. */
      id: z.uuid(),
      /** As listeners see it. */
      title: z.string(),
    })
    .optional(),
  /** Only with `include=variants`: the files that the track has, as in `GET /v1/track/{track_id}/variant`. */
  variants: z.array(TrackVariant).optional(),
  /** Only with `include=ids`: a user of your application; null if none is set. */
  creator_id: Track.shape.creator_id.optional(),
  /** Only with `include=ids`: your own identifier of the track; null if none is set. */
  organization_index: Track.shape.organization_index.optional(),
}).meta({ id: 'ListedTrack' })
export type ListedTrack = z.infer<typeof ListedTrack>

/** Query parameters, without `sort`, that are common to all lists of tracks. */
export const trackFilters = {
  q: Query,
  /** Only tracks with one of these statuses. */
  status: someOf(TrackStatus),
  /** Only tracks with this `creator_id`. */
  creator_id: Id.optional(),
  /** Only tracks with exactly this `organization_index`. */
  organization_index: RequiredText.optional(),
  include,
}

export const trackListOperations = defineOperations({
  listTracks: {
    method: 'get',
    path: '/v1/track',
    summary: 'List or search the tracks of all collections, newest first unless sorted',
    tag: 'Tracks',
    access: ['server'],
    effect: 'read',
    guide: 'lists',
    query: ListPage.extend({
      ...trackFilters,
      /** Key of the order, reversed by a leading `-`. By default, the newest tracks come first. */
      sort: sortedBy('title', 'created_at', 'updated_at', 'duration'),
    }),
    response: ok({
      ...counted,
      /** One page, in the requested order. */
      tracks: z.array(ListedTrack),
    }),
  },
})
