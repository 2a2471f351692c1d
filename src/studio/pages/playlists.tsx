import { useState } from 'preact/hooks'

import { announce } from '../announce.ts'
import type { Playlist } from '../api.ts'
import { plural } from '../format.ts'
import { Button } from '../parts/button.tsx'
import { CoverCard } from '../parts/cover_card.tsx'
import { NewThing } from '../parts/new_thing.tsx'
import { Empty, Loading, Problem } from '../parts/states.tsx'
import { go, href } from '../route.ts'
import { useAll } from '../state/all.ts'
import { useClient } from '../state/client.ts'
import { useTitle } from '../title.ts'

/** All playlists, newest first. */
export function PlaylistsPage() {
  const client = useClient()
  const { entries, count, loading, problem, reload } = useAll('/v1/playlist', ({ playlists }) => playlists)
  const [making, setMaking] = useState(false)
  useTitle('Playlists')

  async function make(title: string) {
    const made = await client.post('/v1/playlist', { body: { title } })
    if (!made.ok) return made
    announce(`${title} created`)
    go('playlist', made.playlist_id)
    return undefined
  }
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      New playlist
    </Button>
  )
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Playlists</h1>
          {entries.length > 0 && <p class="soft">{plural(count, 'playlist')}</p>}
        </div>
        {create}
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading kind="cards" rows={6} />}
      {!loading && !problem && entries.length === 0 && (
        <Empty title="No playlists yet" action={create}>
          A playlist puts tracks of any collections into an order of its own.
        </Empty>
      )}
      <ul class="cards">
        {entries.map((playlist) => (
          <Card key={playlist.id} playlist={playlist} />
        ))}
      </ul>
      {making && (
        <NewThing title="New playlist" label="Title" action="Create" make={make} onClose={() => setMaking(false)} />
      )}
    </>
  )
}

function Card({ playlist: { id, title, track_count } }: { playlist: Playlist }) {
  const client = useClient()
  return (
    <CoverCard
      href={href('playlist', id)}
      title={title}
      load={async () => {
        const cover = await client.get('/v1/playlist/{playlist_id}/cover', { params: { playlist_id: id } })
        return { cover: cover.ok ? cover.cover_image : null, note: plural(track_count, 'track') }
      }}
    />
  )
}
