import { useEffect, useState } from 'preact/hooks'

import { isFinal } from '../../client/index.ts'
import { type Client, type Listed, type PlayScope, type PlayView, readPlayView, type Track } from '../api.ts'
import { useClient } from './client.ts'
import { createStore, useStore } from './store.ts'
import { createTurns } from './turns.ts'

/**
 * What a list does not say of a track: levels and cover are in its play view, loudness and warnings in the track itself. Both are read for
 * the rows that are looked at, a few at a time, and kept as long as it stays in the same state.
 */

const inTurn = createTurns(4)
const DAY = 86_400
/** A session is replaced this long before it ends, in milliseconds. */
const MARGIN = 3600_000

interface Session {
  made: ReturnType<typeof makeSession>
  until: number
}
/** By track, what was read of it in one of its states. */
type Known<T> = Map<string, { status: Listed['status']; value: Promise<T | null> }>

const sessions = new Map<string, Session>()
const views: Known<PlayView> = new Map()
const tracks: Known<Track> = new Map()
/** Counts how often everything was forgotten, so that what is shown is read anew. */
export const viewChanges = createStore(0)

const makeSession = (client: Client, scope: PlayScope, id: string) =>
  client.post('/v1/play_session/{scope}', {
    params: { scope },
    body: { [`${scope}_id`]: id, is_downloadable: true, expires_in: DAY },
  })

/** The studio's own play session for a collection, a track or a playlist; one serves all pages for a day. */
export function sessionFor(client: Client, scope: PlayScope, id: string): Session['made'] {
  const known = sessions.get(id)
  if (known && known.until > Date.now()) return known.made
  const session = { made: makeSession(client, scope, id), until: Date.now() + DAY * 1000 - MARGIN }
  sessions.set(id, session)
  void session.made.then(({ ok }) => !ok && sessions.get(id) === session && sessions.delete(id))
  return session.made
}

/** Forgets what is known of everything: after a change of covers, colors or files, and when somebody else signs in. */
export function forgetViews(all = false): void {
  views.clear()
  tracks.clear()
  if (all) sessions.clear()
  viewChanges.set(viewChanges.get() + 1)
}

/** Forgets what is known of a track that has got another file, though it may be in the same state. */
export function forgetTrack(id: string): void {
  views.delete(id)
  tracks.delete(id)
}

/** While it is processed a track plays what it has: an early first file, or what it had before. Then its duration is known. */
export const isPlayable = ({ status, duration }: Pick<Listed, 'status' | 'duration'>) =>
  status === 'ready' || status === 'incomplete' || (status !== 'failed' && duration > 0)

/** What is known of a track in the state that it is in now; what was known in another one is out of date, and forgotten. */
function useKnown<T>(map: Known<T>, track: Listed, wanted: boolean, load: () => Promise<T | null>): T | null {
  const [value, setValue] = useState<T | null>(null)
  const forgotten = useStore(viewChanges)
  const { id, status } = track
  useEffect(() => {
    for (const all of [views, tracks]) if (all.get(id)?.status !== status) all.delete(id)
    if (!wanted) return setValue(null)
    let current = true
    void remember(map, { id, status }, load).then((loaded) => current && setValue(loaded))
    return () => {
      current = false
    }
  }, [wanted, id, status, forgotten])
  return wanted ? value : null
}

function remember<T>(map: Known<T>, { id, status }: Pick<Listed, 'id' | 'status'>, load: () => Promise<T | null>) {
  const known = map.get(id)
  if (known) return known.value
  const value = inTurn(load)
  map.set(id, { status, value })
  void value.then((loaded) => loaded === null && map.get(id)?.value === value && map.delete(id))
  return value
}

/** The play view of a track that can be played, once it is looked at. */
export function usePlayView(track: Listed, wanted: boolean): PlayView | null {
  const client = useClient()
  return useKnown(views, track, wanted && isPlayable(track), async () => {
    const session = await sessionFor(client, 'collection', track.collection_id)
    if (!session.ok) return null
    const answer = await readPlayView(client, session.play_session_id, track.id)
    return answer.ok ? answer : null
  })
}

/** The whole track when nothing more happens to it, once it is looked at; null before. */
export function useTrackInfo(track: Listed, wanted: boolean): Track | null {
  const client = useClient()
  return useKnown(tracks, track, wanted && isFinal(track), async () => {
    const answer = await client.get('/v1/track/{track_id}', { params: { track_id: track.id } })
    return answer.ok ? answer.track : null
  })
}
