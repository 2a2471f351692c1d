import type { Client, StatsScope } from '../base/api.ts'
import { useClient } from './connection.ts'
import { useQuery } from './query.ts'
import { nameOf } from './track_text.ts'

/** The kinds of resources that have statistics, without the organization. */
export type ResourceScope = Exclude<StatsScope, 'organization'>

/** Reads the title of a resource. A link without a title of its own has its address. */
async function readTitle(client: Client, scope: ResourceScope, id: string) {
  if (scope === 'track') {
    const answer = await client.get('/v1/track/{track_id}', { params: { track_id: id } })
    return answer.ok ? { ok: true as const, title: nameOf(answer.track) } : answer
  }
  if (scope === 'playlist') {
    const answer = await client.get('/v1/playlist/{playlist_id}', { params: { playlist_id: id } })
    return answer.ok ? { ok: true as const, title: answer.playlist.title } : answer
  }
  if (scope === 'share') {
    const answer = await client.get('/v1/share/{share_id}', { params: { share_id: id } })
    return answer.ok ? { ok: true as const, title: answer.share.title ?? `/s/${answer.share.slug}` } : answer
  }
  const answer = await client.get('/v1/collection/{collection_id}', { params: { collection_id: id } })
  return answer.ok ? { ok: true as const, title: answer.collection.title } : answer
}

/** Reads the title of a resource; null reads nothing. */
export function useResourceTitle(of: { scope: ResourceScope; id: string } | null) {
  const client = useClient()
  return useQuery(of && { key: ['title', of.scope, of.id], load: () => readTitle(client, of.scope, of.id) })
}
