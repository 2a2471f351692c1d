import { type Client, type Listed, type PlayScope, type PlayView, readPlayView } from '../base/api.ts'
import { useClient } from './connection.ts'
import { fetchQuery, invalidate, useQuery } from './query.ts'
import { createStore } from './store.ts'

/** The play sessions of the studio, and the play views of tracks, which are kept until the status of the track changes. */

/** The number of calls of `forgetViews`. When it changes, the player of the page loads its tracks again. */
export const viewChanges = createStore(0)
/** Seconds until a session expires. */
const LIFETIME = 86_400
/** Milliseconds after which a session is replaced, long before it expires. */
const PERIOD = 43_200_000

/**
 * Returns the studio's play session for a collection, a track or a playlist. All pages share it. Without `variants`, it plays the transcodes of
 * the catalog.
 */
export const sessionFor = (client: Client, scope: PlayScope, id: string, variants?: string[]) =>
  fetchQuery({
    key: ['session', scope, id, variants],
    version: String(Math.floor(Date.now() / PERIOD)),
    load: () =>
      client.post(`/v1/play_session/${scope as 'track'}`, {
        body: {
          ...({ [`${scope}_id`]: id } as { track_id: string }),
          is_downloadable: true,
          expires_in: LIFETIME,
          ...(variants && { variants }),
        },
      }),
  })

/** Reads the details of all tracks again, after a change of covers, colors or files. */
export function forgetViews(): void {
  viewChanges.set(viewChanges.get() + 1)
  invalidate('view')
}

/** Reads the details of a track again after its file was replaced, because its status may be the same. */
export function forgetTrack(id: string): void {
  invalidate('view', id)
}

/** Whether a track can be played. A track in progress can if it has an early file or the files of its previous source: then its duration is known. */
export const isPlayable = ({ status, duration }: Pick<Listed, 'status' | 'duration'>) =>
  status === 'ready' || status === 'incomplete' || (status !== 'failed' && duration > 0)

/** Returns the play view of a track; null until it is read, and for a track that cannot be played. */
export function usePlayView(track: Listed): PlayView | null {
  const client = useClient()
  const { id, collection_id, status } = track
  const load = async () => {
    const session = await sessionFor(client, 'collection', collection_id)
    return session.ok ? await readPlayView(client, session.play_session_id, id) : session
  }
  const options = { key: ['view', id], isKept: true, version: status, load }
  return useQuery<PlayView>(isPlayable(track) ? options : null).answer ?? null
}

/** Reads a collection and its cover again, wherever they are shown. */
export function renewCollection(id: string): void {
  invalidate('/v1/collection/{collection_id}', id)
  invalidate('/v1/collection/{collection_id}/cover', id)
  invalidate('/v1/collection')
  invalidate('shelf')
  invalidate('recent collections')
  forgetViews()
}
