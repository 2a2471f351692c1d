import { DEFAULT_ACCEPT } from '../../client/upload/accept.ts'
import type { Collection, CoverImage } from '../api.ts'
import { useConnection } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { useSearch } from '../data/search.ts'
import { uploadAsCollection } from '../data/uploads.ts'
import { plural } from '../format.ts'
import { href } from '../route.ts'
import { t } from '../text.ts'
import { FileButton } from '../ui/button.tsx'
import { CardGrid } from './card_grid.tsx'
import { CoverCard } from './cover_card.tsx'
import { FoundTracks } from './found_tracks.tsx'
import { LibraryTabs } from './library_tabs.tsx'

/** The page Collections: all collections, newest first, and the tracks that a search finds. */
export function CollectionsPage() {
  const connection = useConnection()
  const { client } = connection
  const { query, ...search } = useSearch()
  return (
    <CardGrid
      kind="collection"
      title={t('Collections')}
      tabs={<LibraryTabs current="" />}
      list={useList('/v1/collection', ({ collections }) => collections, {
        query: { ...query, include: 'artwork,counts' },
      })}
      {...search}
      found={search.q && <FoundTracks words={search.q} />}
      create={async (title) => {
        const made = await client.post('/v1/collection', { body: { title } })
        return made.ok ? { ok: true, id: made.collection_id } : made
      }}
      card={(collection) => <Card key={collection.id} collection={collection} />}
      empty={t('Nothing here yet')}
      action={
        <FileButton
          accept={DEFAULT_ACCEPT}
          multiple
          kind="primary"
          icon="upload"
          onFiles={(files) => uploadAsCollection(connection, files)}
        >
          {t('Choose files')}
        </FileButton>
      }
    >
      {t(
        'A collection holds tracks: an album, a podcast, a sample pack. Choose audio files or drop them anywhere on this page, and they become one.',
      )}
    </CardGrid>
  )
}

type InList = Collection & { artwork?: CoverImage | undefined; counts?: { tracks: number } | undefined }

const Card = ({ collection: { id, title, player_subtitle, artwork, counts } }: { collection: InList }) => (
  <CoverCard
    href={href('collection', id)}
    title={title}
    cover={artwork}
    note={[player_subtitle, counts && plural(counts.tracks, 'track')].filter(Boolean).join(' · ')}
  />
)
