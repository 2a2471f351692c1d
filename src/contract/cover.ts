import * as z from 'zod'

import { Collection } from './collection.ts'
import { Id, ok } from './common.ts'
import { OwnCover, UploadHandle } from './media.ts'
import { defineOperations } from './operation.ts'
import { Track } from './track.ts'

const tag = 'Cover images'
const collectionParams = z.object({
  /** As returned when the collection was created. */
  collection_id: Id,
})
const trackParams = z.object({
  /** As returned when the track was created. */
  track_id: Id,
})

export type CoverOwner = 'collection' | 'track' | 'playlist'

/** Requests that return upload URLs for covers. The upload itself is `POST /v1/cover_upload/{token}`; see `src/http/api/cover_upload.ts`. */
export const coverOperations = defineOperations({
  getCollectionCover: {
    method: 'get',
    path: '/v1/collection/{collection_id}/cover',
    summary: "Get a collection's cover, signed; without one its first track's, else a generated one",
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'tags',
    params: collectionParams,
    response: ok({
      /** As in the path. */
      collection_id: z.uuid(),
      cover_image: OwnCover,
    }),
  },
  createCollectionCover: {
    method: 'post',
    path: '/v1/collection/{collection_id}/cover',
    grows: false,
    summary: "Get a URL to upload a collection's cover to",
    tag,
    access: ['server'],
    effect: 'write',
    deletes: 'cover',
    guide: 'upload',
    limits: ['cover_size', 'cover_pixels'],
    recordsNoEvent: 'the uploaded file has its event',
    params: collectionParams,
    response: ok({
      /** The same as `collection.id`. */
      collection_id: z.uuid(),
      collection: Collection,
      /** Where to send the image. The response to the upload contains the collection with its new colors. */
      collection_cover_upload: UploadHandle,
    }),
  },
  getTrackCover: {
    method: 'get',
    path: '/v1/track/{track_id}/cover',
    summary: 'Get the cover that listeners see of a track, signed: its own, an inherited or a generated one',
    tag,
    access: ['server'],
    effect: 'read',
    guide: 'tags',
    params: trackParams,
    response: ok({
      /** As in the path. */
      track_id: z.uuid(),
      cover_image: OwnCover,
    }),
  },
  createTrackCover: {
    method: 'post',
    path: '/v1/track/{track_id}/cover',
    grows: false,
    summary: "Get a URL to upload a track's cover to",
    tag,
    access: ['server'],
    effect: 'write',
    deletes: 'cover',
    guide: 'upload',
    limits: ['cover_size', 'cover_pixels'],
    recordsNoEvent: 'the uploaded file has its event',
    params: trackParams,
    response: ok({
      /** The same as `track.id`. */
      track_id: z.uuid(),
      track: Track,
      /** Where to send the image. */
      track_cover_upload: UploadHandle,
    }),
  },
})
