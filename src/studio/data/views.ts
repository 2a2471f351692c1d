import { isFinal } from '../../client/index.ts'
import { type Client, type Listed, type PlayScope, type PlayView, readPlayView, type Track } from '../api.ts'
import { useClient } from './connection.ts'
import { fetchQuery, invalidate, useQuery } from './query.ts'
import { createStore } from './store.ts'
import { createTurns } from './turns.ts'

/**
 * The details that a list of tracks does not contain: the play view has the levels and the cover, the track has its loudness and warnings. Both
 * are read for the rows in view, at most four at a time, and kept until the status of the track changes.
 */

const inTurn = createTurns(4)
/** Counts the calls of `forgetViews`, after which a player of the page loads its tracks again. */
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
      client.post('/v1/play_session/{scope}', {
        params: { scope },
        body: { [`${scope}_id`]: id, is_downloadable: true, expires_in: LIFETIME, ...(variants && { variants }) },
      }),
  })

/** Reads the details of all tracks again, after a change of covers, colors or files. */
export function forgetViews(): void {
  viewChanges.set(viewChanges.get() + 1)
  invalidate('view')
  invalidate('track info')
}

/** Reads the details of a track again after its file was replaced, because its status may be the same. */
export function forgetTrack(id: string): void {
  invalidate('view', id)
  invalidate('track info', id)
}

/** Whether a track can be played. A track in progress can if it has an early file or the files of its previous source: then its duration is known. */
export const isPlayable = ({ status, duration }: Pick<Listed, 'status' | 'duration'>) =>
  status === 'ready' || status === 'incomplete' || (status !== 'failed' && duration > 0)

/** Returns the play view of a track that can be played, once `wanted` is true; null until it is read. */
export function usePlayView(track: Listed, wanted: boolean): PlayView | null {
  const client = useClient()
  const { id, collection_id, status } = track
  const load = async () => {
    const session = await sessionFor(client, 'collection', collection_id)
    return session.ok ? await readPlayView(client, session.play_session_id, id) : session
  }
  const isRead = wanted && isPlayable(track)
  const options = { key: ['view', id], isKept: true, version: status, load: () => inTurn(load) }
  return useQuery<PlayView>(isRead ? options : null).answer ?? null
}

/** Returns the track with all its fields after processing, once `wanted` is true; null until it is read. */
export function useTrackInfo(track: Listed, wanted: boolean): Track | null {
  const client = useClient()
  const { id, status } = track
  const load = () => client.get('/v1/track/{track_id}', { params: { track_id: id } })
  const options = { key: ['track info', id], isKept: true, version: status, load: () => inTurn(load) }
  return useQuery(wanted && isFinal(track) ? options : null).answer?.track ?? null
}
