import type { Client, PlayScope } from '../api.ts'
import { explain } from '../format.ts'
import { announce } from '../ui/announce.ts'
import { createStore } from './store.ts'
import { sessionFor } from './views.ts'

/** The session and the track of the player at the bottom of the page. */
export interface NowPlaying {
  scope: PlayScope
  resource_id: string
  play_session_id: string
  track_id: string
  playing: boolean
  /** Increases with each track that the user chooses. */
  request: number
}

export type Player = HTMLElementTagNameMap['tonearm-player']

export const nowPlaying = createStore<NowPlaying | null>(null)
let player: Player | null = null
/** Increases with each request to play another track, or none. An earlier request that is still waiting for its session is dropped. */
let wishes = 0

export function setPlayer(element: Player | null): void {
  player = element
}

/** Plays a track of a collection or a playlist and the tracks after it, or pauses the track that is playing. */
export async function playTrack(client: Client, scope: PlayScope, resource_id: string, track_id: string) {
  const request = ++wishes
  const now = nowPlaying.get()
  if (now && player && now.track_id === track_id && now.resource_id === resource_id) {
    return now.playing ? player.pause() : await player.play()
  }
  const session = await sessionFor(client, scope, resource_id)
  if (request !== wishes) return
  if (!session.ok) return announce(explain(session))
  const { play_session_id } = session
  nowPlaying.set({ scope, resource_id, play_session_id, track_id, playing: false, request })
}

export function stopPlaying(): void {
  wishes++
  nowPlaying.set(null)
}

/** Plays or pauses the player at the bottom of the page. */
export function togglePlay(): void {
  const now = nowPlaying.get()
  if (!now || !player) return
  if (now.playing) player.pause()
  else void player.play()
}
