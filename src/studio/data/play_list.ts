import type { Client } from '../base/api.ts'
import { explain } from '../base/format.ts'
import { t } from '../base/text.ts'
import { announce } from '../ui/page/announce.ts'
import { playTrack } from './now_playing.ts'
import { isPlayable } from './views.ts'

/** The tracks of a playlist among which the first one that can be played is looked for. */
const FIRST = 20

/** Plays a collection or a playlist whose tracks are not known, from its first track that can be played. */
export async function playList(client: Client, scope: 'collection' | 'playlist', id: string): Promise<void> {
  const first = await firstTrack(client, scope, id)
  if (first === null) return announce(t('There is no track that can be played.'))
  if (typeof first === 'string') return playTrack(client, scope, id, first)
  announce(explain(first))
}

async function firstTrack(client: Client, scope: 'collection' | 'playlist', id: string) {
  if (scope === 'collection') {
    const query = { status: ['ready', 'incomplete'], limit: 1 } as const
    const answer = await client.get('/v1/collection/{collection_id}/track', { params: { collection_id: id }, query })
    return answer.ok ? (answer.tracks[0]?.id ?? null) : answer
  }
  const answer = await client.get('/v1/playlist/{playlist_id}/track', {
    params: { playlist_id: id },
    query: { limit: FIRST },
  })
  return answer.ok ? (answer.tracks.find(isPlayable)?.id ?? null) : answer
}
