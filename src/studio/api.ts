import type * as z from 'zod'

import { type Client, createClient, type Failure, type Result } from '../client/index.ts'
import type { Collection } from '../contract/collection.ts'
import type { ListedTrack } from '../contract/track.ts'

export type Listed = z.infer<typeof ListedTrack>

/** The service this page was loaded from. */
export const connect = (api_key: string): Client => createClient({ base_url: location.origin, api_key })

const PAGE = 200
/** This page is for trying things; a library is not listed to its end. */
const MOST_TRACKS = 1000

/** The collections, newest first. Where there is none yet a first one is made, so that something can be dropped at once. */
export async function openLibrary(client: Client): Promise<{ ok: true; collections: Collection[] } | Failure> {
  const listed = await listCollections(client)
  if (!listed.ok || listed.collections.length > 0) return listed
  const created = await client.post('/v1/collection', { body: { title: 'My music' } })
  return created.ok ? { ok: true, collections: [created.collection] } : created
}

export const listCollections = (client: Client) => client.get('/v1/collection', { query: { limit: PAGE } })

export async function listTracks(
  client: Client,
  collection_id: string,
): Promise<{ ok: true; tracks: Listed[] } | Failure> {
  const tracks: Listed[] = []
  for (;;) {
    const query = { limit: PAGE, offset: tracks.length }
    const page = await client.get('/v1/collection/{collection_id}/track', { params: { collection_id }, query })
    if (!page.ok) return page
    tracks.push(...page.tracks)
    if (page.tracks.length < PAGE || tracks.length >= MOST_TRACKS) return { ok: true, tracks }
  }
}

/** A session for one track that lasts a day, so that a player left open keeps playing. */
export const createSession = (client: Client, track_id: string) =>
  client.post('/v1/play_session/{scope}', {
    params: { scope: 'track' },
    body: { track_id, is_downloadable: true, expires_in: 86400 },
  })

export const readPlayView = (client: Client, play_session_id: string, play_track_id: string) =>
  client.get('/v1/play/{play_session_id}/{play_track_id}', { params: { play_session_id, play_track_id } })

export type PlayView = Extract<Awaited<ReturnType<typeof readPlayView>>, { ok: true }>
export type { Client, Collection, Failure, Result }
