import type { CoverImage, Playlist } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { useSearch } from '../data/search.ts'
import { plural } from '../format.ts'
import { CardGrid } from '../library/card_grid.tsx'
import { CoverCard } from '../library/cover_card.tsx'
import { href } from '../route.ts'
import { t } from '../text.ts'

/** The page Playlists: all playlists, newest first, or those that match a search. */
export function PlaylistsPage() {
  const client = useClient()
  const { query, ...search } = useSearch()
  return (
    <CardGrid
      kind="playlist"
      title={t('Playlists')}
      list={useList('/v1/playlist', ({ playlists }) => playlists, { query: { ...query, include: 'artwork' } })}
      {...search}
      create={async (title) => {
        const made = await client.post('/v1/playlist', { body: { title } })
        return made.ok ? { ok: true, id: made.playlist_id } : made
      }}
      card={(playlist) => <Card key={playlist.id} playlist={playlist} />}
      empty={t('No playlists yet')}
    >
      {t('A playlist contains tracks from any collections, in any order.')}
    </CardGrid>
  )
}

type InList = Playlist & { artwork?: CoverImage | undefined }

const Card = ({ playlist: { id, title, track_count, artwork } }: { playlist: InList }) => (
  <CoverCard href={href('playlist', id)} title={title} cover={artwork} note={plural(track_count, 'track')} />
)
