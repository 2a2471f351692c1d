import type { Client, PlayScope } from '../base/api.ts'
import { explain } from '../base/format.ts'
import { announce } from '../ui/page/announce.ts'
import { createStore } from './store.ts'
import { sessionFor } from './views.ts'

/** The session and the track of the player at the bottom of the page. */
export interface NowPlaying {
  scope: PlayScope
  resource_id: string
  play_session_id: string
  track_id: string
  /** Where playback starts, in seconds. */
  start?: number | undefined
  playing: boolean
  /** Increases with each track that the user chooses. */
  request: number
}

export type Player = HTMLElementTagNameMap['tonearm-player']

export const nowPlaying = createStore<NowPlaying | null>(null)
/** The fraction of the current track that has been played, 0–1. */
export const position = createStore(0)
let player: Player | null = null
/** Increases with each request to play another track, or none. An earlier request that is still waiting for its session is dropped. */
let wishes = 0

/** The tracks that follow the current one, if the user plays a selection. */
let following: { client: Client; ids: readonly string[] } | null = null

export function setPlayer(element: Player | null): void {
  player = element
  position.set(0)
  element?.addEventListener('tonearm-ended', ({ detail }) => {
    if (detail.last && following) void playAll(following.client, following.ids)
  })
  element?.addEventListener('tonearm-timeupdate', ({ detail: { currentTime, duration } }) =>
    position.set(duration > 0 ? Math.min(1, currentTime / duration) : 0),
  )
}

/**
 * Plays a track of a collection or a playlist and the tracks after it, or pauses the track that is playing. With `start`, in seconds, it plays from
 * there.
 */
export async function playTrack(
  client: Client,
  scope: PlayScope,
  resource_id: string,
  track_id: string,
  start?: number,
): Promise<void> {
  const request = ++wishes
  following = null
  const now = nowPlaying.get()
  if (now && player && now.track_id === track_id && now.resource_id === resource_id) {
    if (start === undefined) return now.playing ? player.pause() : await player.play()
    await player.seek(start)
    return now.playing ? undefined : await player.play()
  }
  const session = await sessionFor(client, scope, resource_id)
  if (request !== wishes) return
  if (!session.ok) return announce(explain(session))
  const { play_session_id } = session
  nowPlaying.set({ scope, resource_id, play_session_id, track_id, start, playing: false, request })
}

/** Plays tracks of any collections in their order. */
export async function playAll(client: Client, ids: readonly string[]): Promise<void> {
  const [first, ...rest] = ids
  if (first === undefined) return
  await playTrack(client, 'track', first, first)
  following = rest.length > 0 ? { client, ids: rest } : null
}

export function stopPlaying(): void {
  wishes++
  following = null
  nowPlaying.set(null)
}

/** Plays or pauses the player at the bottom of the page. */
export function togglePlay(): void {
  const now = nowPlaying.get()
  if (!now || !player) return
  if (now.playing) player.pause()
  else void player.play()
}
