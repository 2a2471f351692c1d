import { DEFAULT_ACCEPT } from '../../client/upload/accept.ts'
import type { Collection } from '../api.ts'
import { useClient, useConnection } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { useSearch } from '../data/search.ts'
import { uploadAsCollection } from '../data/uploads.ts'
import { plural } from '../format.ts'
import { href } from '../route.ts'
import { FileButton } from '../ui/button.tsx'
import { CardGrid } from './card_grid.tsx'
import { CoverCard } from './cover_card.tsx'
import { FoundTracks } from './found_tracks.tsx'

/** The page Collections: all collections, newest first, and the tracks that a search finds. */
export function CollectionsPage() {
  const connection = useConnection()
  const { client } = connection
  const { query, ...search } = useSearch()
  return (
    <CardGrid
      kind="collection"
      title="Collections"
      list={useList('/v1/collection', ({ collections }) => collections, { query })}
      {...search}
      found={search.q && <FoundTracks words={search.q} />}
      create={async (title) => {
        const made = await client.post('/v1/collection', { body: { title } })
        return made.ok ? { ok: true, id: made.collection_id } : made
      }}
      card={(collection) => <Card key={collection.id} collection={collection} />}
      empty="Nothing here yet"
      action={
        <FileButton
          accept={DEFAULT_ACCEPT}
          multiple
          kind="primary"
          icon="upload"
          onFiles={(files) => uploadAsCollection(connection, files)}
        >
          Choose files
        </FileButton>
      }
    >
      A collection holds tracks: an album, a podcast, a sample pack. Choose audio files or drop them anywhere on this
      page, and they become one.
    </CardGrid>
  )
}

function Card({ collection: { id, title, player_subtitle } }: { collection: Collection }) {
  const client = useClient()
  const params = { collection_id: id }
  return (
    <CoverCard
      href={href('collection', id)}
      title={title}
      load={async () => {
        const [cover, tracks] = await Promise.all([
          client.get('/v1/collection/{collection_id}/cover', { params }),
          client.get('/v1/collection/{collection_id}/track', { params, query: { limit: 1 } }),
        ])
        const count = tracks.ok ? plural(tracks.count, 'track') : ''
        return {
          ok: true,
          cover: cover.ok ? cover.cover_image : null,
          note: [player_subtitle, count].filter(Boolean).join(' · '),
        }
      }}
    />
  )
}
