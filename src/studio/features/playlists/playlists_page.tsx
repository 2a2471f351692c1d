import type { PageProperties } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { Shelf } from '../library/shelf.tsx'

/** The page Playlists: all playlists, newest first, or those that match a search. */
export function PlaylistsPage({ query }: PageProperties) {
  const client = useClient()
  return (
    <Shelf
      kind="playlist"
      query={query}
      title={t('Playlists')}
      search={t('Search playlists')}
      creation={t('New playlist')}
      create={async (title) => {
        const made = await client.post('/v1/playlist', { body: { title } })
        return made.ok ? { ok: true, id: made.playlist_id } : made
      }}
      empty={{
        title: t('No playlists yet'),
        text: t('A playlist contains tracks from any collections, in any order.'),
      }}
    />
  )
}
