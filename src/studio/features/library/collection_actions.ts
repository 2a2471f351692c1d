import { pages } from '../../../client/index.ts'
import { MAX_PAGE, MAX_PLAYLIST_TRACKS } from '../../../contract/facts.ts'
import type { Client, Collection, Failure } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { go } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { sessionFor } from '../../data/views.ts'
import { downloadUrl } from '../../ui/controls/download.ts'
import { announce } from '../../ui/page/announce.ts'

/** Downloads all tracks of a collection as a ZIP. The browser shows its progress. */
export async function downloadZip(client: Client, collection_id: string): Promise<void> {
  const session = await sessionFor(client, 'collection', collection_id)
  if (!session.ok) return announce(explain(session))
  const { play_session_id } = session
  const answer = await client.get('/v1/play/{play_session_id}/download', { params: { play_session_id } })
  if (!answer.ok) return announce(explain(answer))
  downloadUrl(answer.download.url)
  announce(t('Downloading {file}', { file: answer.download.file_name }))
}

/** Creates a playlist with the title and the tracks of a collection, and opens it. */
export async function duplicateAsPlaylist(
  client: Client,
  { id, title }: Pick<Collection, 'id' | 'title'>,
): Promise<void> {
  const track_ids = await readIds(client, id)
  if (!Array.isArray(track_ids)) return announce(explain(track_ids))
  if (track_ids.length > MAX_PLAYLIST_TRACKS)
    return announce(t('A playlist has {n} tracks at most.', { n: MAX_PLAYLIST_TRACKS }))
  const made = await client.post('/v1/playlist', { body: { title } })
  if (!made.ok) return announce(explain(made))
  const { playlist_id } = made
  if (track_ids.length > 0) {
    const answer = await client.post('/v1/playlist/{playlist_id}/track', {
      params: { playlist_id },
      body: { track_ids },
    })
    if (!answer.ok) return announce(explain(answer))
  }
  announce(t('{title} created', { title }))
  go('playlist', playlist_id)
}

/** Returns the ids of the tracks of a collection, in their order; more than a playlist may have are not all read. */
async function readIds(client: Client, collection_id: string): Promise<string[] | Failure> {
  const ids: string[] = []
  const options = { params: { collection_id }, query: { limit: MAX_PAGE } }
  for await (const page of pages(client, '/v1/collection/{collection_id}/track', options)) {
    if (!page.ok) return page
    ids.push(...page.tracks.map(({ id }) => id))
    if (ids.length > MAX_PLAYLIST_TRACKS) break
  }
  return ids
}
