import * as z from 'zod'

import { Id } from './common.ts'
import { operations } from './index.ts'
import { PlayScope, PlaySessionCreate } from './play.ts'
import { ShareUpdate } from './share.ts'

/**
 * The operations as the OpenAPI document and all clients have them; the service does not import this file. It has one operation that creates play
 * sessions, but to OpenAPI its path is the same as that of `getPlaySession`, and its body requires a different id for each scope. Here, it is
 * three operations. The body of `createShare` has four forms, each with the fields that it requires.
 */

const { createPlaySession, ...others } = operations
const { params: _params, nouns: _nouns, ...creation } = createPlaySession
const settings = PlaySessionCreate.omit({ collection_id: true, track_id: true, playlist_id: true })

const creationOf = <const S extends PlayScope, const T extends z.ZodRawShape>(scope: S, target: T) => ({
  ...creation,
  path: `/v1/play_session/${scope}` as const,
  summary: `Create a play session for a ${scope}`,
  body: settings.extend(target),
})

export const clientOperations = {
  createCollectionPlaySession: creationOf('collection', {
    /** The collection whose tracks the session plays, in their order. */
    collection_id: Id,
  }),
  createTrackPlaySession: creationOf('track', {
    /** The only track of the session. */
    track_id: Id,
  }),
  createPlaylistPlaySession: creationOf('playlist', {
    /** The playlist whose tracks the session plays, in their order. */
    playlist_id: Id,
  }),
  ...others,
  createShare: {
    ...operations.createShare,
    body: z.union([
      /** Settings of a share, and the resource that it shows. */
      ShareUpdate.extend({
        /** Kind of the resource to share. It cannot change. */
        scope: PlayScope,
        /** Id of the collection, track or playlist to share. */
        id: Id,
      }).meta({ id: 'ShareCreate' }),
      /** The collection is named by its id alone. */
      ShareUpdate.extend({
        /** The collection to share, instead of `scope` and `id`. */
        collection_id: Id,
      }).meta({ id: 'CollectionShareCreate' }),
      /** The track is named by its id alone. */
      ShareUpdate.extend({
        /** The track to share, instead of `scope` and `id`. */
        track_id: Id,
      }).meta({ id: 'TrackShareCreate' }),
      /** The playlist is named by its id alone. */
      ShareUpdate.extend({
        /** The playlist to share, instead of `scope` and `id`. */
        playlist_id: Id,
      }).meta({ id: 'PlaylistShareCreate' }),
    ]),
  },
}
export type ClientOperations = typeof clientOperations
export type ClientOperationName = keyof ClientOperations

type InputPart<T, K extends string> = T extends { [P in K]: infer S extends z.ZodType }
  ? { [P in K]: z.input<S> }
  : unknown
/** Every part of a query is optional. Clients convert the values to text, lists with commas. */
type QueryPart<T> = T extends { query: infer S extends z.ZodType }
  ? { query: { [K in keyof z.output<S>]?: z.output<S>[K] | undefined } }
  : unknown
/** The types of one operation's input and output for clients. They do not depend on zod. */
export type CallOf<T> = T extends { method: infer M; path: infer P; response: infer R extends z.ZodType }
  ? { method: M; path: P; response: z.output<R> } & InputPart<T, 'params'> &
      QueryPart<T> &
      InputPart<T, 'headers'> &
      InputPart<T, 'body'>
  : never
/** The types of all operations for clients. The packed client contains the same types as generated text (scripts/pack/calls.ts). */
export type Calls = { [N in ClientOperationName]: CallOf<ClientOperations[N]> }
