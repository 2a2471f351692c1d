import { useEffect, useState } from 'preact/hooks'

import { isFinal } from '../../client/index.ts'
import { type Client, type Listed, type PlayScope, type PlayView, readPlayView, type Track } from '../api.ts'
import { useClient } from './client.ts'
import { createTurns } from './turns.ts'

/**
 * What a list does not say of a track: levels and cover are in its play view, loudness and warnings in the track itself. Both are read for
 * the rows that are looked at, a few at a time, and once for each state of a track.
 */

const inTurn = createTurns(4)
const DAY = 86_400
/** A session is replaced this long before it ends, in milliseconds. */
const MARGIN = 3600_000

interface Session {
  id: Promise<string | null>
  until: number
}
const sessions = new Map<string, Session>()
const views = new Map<string, Promise<PlayView | null>>()
const tracks = new Map<string, Promise<Track | null>>()

/** The studio's own play session for a collection, a track or a playlist; one serves all pages for a day. */
export function sessionFor(client: Client, scope: PlayScope, id: string): Promise<string | null> {
  const known = sessions.get(id)
  if (known && known.until > Date.now()) return known.id
  const body = { [`${scope}_id`]: id, is_downloadable: true, expires_in: DAY }
  const made = client
    .post('/v1/play_session/{scope}', { params: { scope }, body })
    .then((answer) => (answer.ok ? answer.play_session_id : null))
    .then((session) => {
      if (!session) sessions.delete(id)
      return session
    })
  sessions.set(id, { id: made, until: Date.now() + DAY * 1000 - MARGIN })
  return made
}

/** Forgets what is known of everything: after a change of covers or colors, and when somebody else signs in. */
export function forgetViews(all = false): void {
  views.clear()
  tracks.clear()
  if (all) sessions.clear()
}

/** While it is processed a track plays what it has: an early first file, or what it had before. Then its duration is known. */
export const isPlayable = ({ status, duration }: Pick<Listed, 'status' | 'duration'>) =>
  status === 'ready' || status === 'incomplete' || (status !== 'failed' && duration > 0)
const stateOf = (track: Listed) => `${track.id} ${track.status}`

function remember<T>(map: Map<string, Promise<T | null>>, key: string, load: () => Promise<T | null>) {
  let known = map.get(key)
  if (!known) {
    known = inTurn(load)
    map.set(key, known)
    void known.then((value) => value === null && map.delete(key))
  }
  return known
}

/** The play view of a track that can be played, once it is looked at. */
export function usePlayView(track: Listed, wanted: boolean): PlayView | null {
  const client = useClient()
  const [view, setView] = useState<PlayView | null>(null)
  const playable = isPlayable(track)
  useEffect(() => {
    if (!wanted || !playable) return
    let current = true
    const load = async () => {
      const session = await sessionFor(client, 'collection', track.collection_id)
      const answer = session && (await readPlayView(client, session, track.id))
      return answer && answer.ok ? answer : null
    }
    void remember(views, stateOf(track), load).then((loaded) => current && setView(loaded))
    return () => {
      current = false
    }
  }, [wanted, playable, track.id, track.status])
  return playable ? view : null
}

/** The whole track, once it is looked at; null before. */
export function useTrackInfo(track: Listed, wanted: boolean): Track | null {
  const client = useClient()
  const [info, setInfo] = useState<Track | null>(null)
  const settled = isFinal(track)
  useEffect(() => {
    if (!wanted || !settled) return
    let current = true
    const load = async () => {
      const answer = await client.get('/v1/track/{track_id}', { params: { track_id: track.id } })
      return answer.ok ? answer.track : null
    }
    void remember(tracks, stateOf(track), load).then((loaded) => current && setInfo(loaded))
    return () => {
      current = false
    }
  }, [wanted, settled, track.id, track.status])
  return info
}
