import { useState } from 'preact/hooks'

import { announce } from '../announce.ts'
import type { Collection } from '../api.ts'
import { plural } from '../format.ts'
import { Button } from '../parts/button.tsx'
import { CoverCard } from '../parts/cover_card.tsx'
import { NewThing } from '../parts/new_thing.tsx'
import { Empty, Loading, Problem } from '../parts/states.tsx'
import { go, href } from '../route.ts'
import { useAll } from '../state/all.ts'
import { useClient } from '../state/client.ts'
import { useTitle } from '../title.ts'

/** All collections, newest first. */
export function CollectionsPage() {
  const client = useClient()
  const { entries, count, loading, problem, reload } = useAll('/v1/collection', ({ collections }) => collections)
  const [making, setMaking] = useState(false)
  useTitle('Collections')

  async function make(title: string) {
    const made = await client.post('/v1/collection', { body: { title } })
    if (!made.ok) return made
    announce(`${title} created`)
    go('collection', made.collection_id)
    return undefined
  }
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      New collection
    </Button>
  )
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Collections</h1>
          {entries.length > 0 && <p class="soft">{plural(count, 'collection')}</p>}
        </div>
        {create}
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading kind="cards" rows={6} />}
      {!loading && !problem && entries.length === 0 && (
        <Empty title="Nothing here yet" action={create}>
          A collection holds tracks: an album, a podcast, a sample pack. Make one, or drop audio files anywhere on this
          page.
        </Empty>
      )}
      <ul class="cards">
        {entries.map((collection) => (
          <Card key={collection.id} collection={collection} />
        ))}
      </ul>
      {making && (
        <NewThing title="New collection" label="Title" action="Create" make={make} onClose={() => setMaking(false)} />
      )}
    </>
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
          cover: cover.ok ? cover.cover_image : null,
          note: [player_subtitle, count].filter(Boolean).join(' · '),
        }
      }}
    />
  )
}
