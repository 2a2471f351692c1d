import { useEffect } from 'preact/hooks'

import { DEFAULT_ACCEPT } from '../../client/upload/accept.ts'
import type { Client, Collection, Failure } from '../api.ts'
import { useConnection } from '../data/connection.ts'
import { useQuery } from '../data/query.ts'
import { useReprocess } from '../data/reprocess.ts'
import { useStore } from '../data/store.ts'
import { type Tracks, useTracks } from '../data/tracks.ts'
import { arrivals, endUploads, upload } from '../data/uploads.ts'
import { forgetViews } from '../data/views.ts'
import { explain, length, plural } from '../format.ts'
import { go, href, type PageProperties } from '../route.ts'
import { Share } from '../sharing/share.tsx'
import { announce } from '../ui/announce.ts'
import { FileButton } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { Menu } from '../ui/menu.tsx'
import { PageHead, Tabs } from '../ui/page_head.tsx'
import { NotLoaded, NotRenewed } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'
import { LookForm } from './look_form.tsx'
import { PlayFirst } from './play_first.tsx'
import { ReprocessStatus } from './reprocess_status.tsx'
import { TrackList } from './track_list.tsx'
import { KEPT, TO_TRASH } from './trash.ts'

const TABS = [
  ['', 'Tracks'],
  ['look', 'Look'],
  ['share', 'Share'],
] as const

/** Puts the tracks into the list whose files arrive while the page is shown. */
function useArrivals(collection_id: string, list: Tracks): void {
  const { client } = useConnection()
  const arrival = useStore(arrivals)
  useEffect(() => {
    if (arrival?.collection_id !== collection_id) return
    const { track_id, track } = arrival
    if (track) return list.put(track)
    void (async () => {
      const answer = await client.get('/v1/track/{track_id}', { params: { track_id } })
      if (answer.ok) list.put(answer.track)
    })()
  }, [arrival, collection_id])
}

async function remove(client: Client, { id, title }: Collection, count: number): Promise<void> {
  const text = `${title} is moved to the trash with its ${plural(count, 'track')}, which are removed from playlists. ${KEPT}`
  if (!(await confirmed({ title: 'Delete this collection?', text, action: 'Delete collection' }))) return
  const params = { collection_id: id }
  const answer = await client.delete('/v1/collection/{collection_id}', { params, query: TO_TRASH })
  if (!answer.ok) return announce(explain(answer))
  endUploads(id)
  announce(`${title} deleted`)
  go('collections')
}

async function updateTracks(start: () => Promise<Failure | undefined>): Promise<void> {
  const failure = await start()
  announce(failure ? explain(failure) : 'Missing variants are being created')
}

const noteOf = ({ player_subtitle }: Collection, { tracks, count, loading }: Tracks) => {
  const seconds = tracks.reduce((sum, track) => sum + track.duration, 0)
  return [player_subtitle, !loading && plural(count, 'track'), seconds > 0 && length(seconds)]
    .filter(Boolean)
    .join(' · ')
}

/** The page of a collection: its tracks, its appearance in players, and how to share it. */
export function CollectionPage({ id, tab }: PageProperties) {
  const { client, api_key } = useConnection()
  const params = { collection_id: id }
  const loaded = useQuery({
    key: ['/v1/collection/{collection_id}', id],
    load: () => client.get('/v1/collection/{collection_id}', { params }),
  })
  const cover = useQuery({
    key: ['/v1/collection/{collection_id}/cover', id],
    load: () => client.get('/v1/collection/{collection_id}/cover', { params }),
  })
  const list = useTracks(id)
  const { reprocess, start } = useReprocess(id)
  useArrivals(id, list)
  useTitle(loaded.answer?.collection.title)

  // The collection was deleted elsewhere.
  const gone = loaded.problem?.status === 404
  useEffect(() => {
    if (gone) endUploads(id)
  }, [gone, id])

  if (!loaded.answer) return <NotLoaded {...loaded} />
  const { collection } = loaded.answer
  const add = (files: File[]) => upload(api_key, id, files)

  return (
    <>
      <NotRenewed {...loaded} />
      <PageHead
        back={{ href: href('collections'), label: 'Collections' }}
        title={collection.title}
        note={noteOf(collection, list)}
        cover={cover.answer?.cover_image}
        handle={async () => {
          const made = await client.post('/v1/collection/{collection_id}/cover', { params })
          return made.ok ? { ok: true, handle: made.collection_cover_upload } : made
        }}
        onCover={() => {
          forgetViews()
          return Promise.all([cover.reload(), loaded.reload()])
        }}
      >
        <PlayFirst scope="collection" id={id} tracks={list.tracks} />
        <FileButton accept={DEFAULT_ACCEPT} multiple icon="upload" onFiles={add}>
          Upload
        </FileButton>
        <Menu
          label={`More for ${collection.title}`}
          items={[
            { label: 'Update tracks', onSelect: () => updateTracks(start) },
            { label: 'Delete collection …', danger: true, onSelect: () => remove(client, collection, list.count) },
          ]}
        />
      </PageHead>
      <Tabs page="collection" id={id} current={tab} tabs={TABS} />
      {tab === '' && (
        <>
          <ReprocessStatus key={id} reprocess={reprocess} onDone={list.reload} />
          <TrackList collection_id={id} list={list} onFiles={add} />
        </>
      )}
      {tab === 'look' && (
        <LookForm
          scope="collection"
          id={id}
          values={collection}
          save={async (changes) => {
            const answer = await client.put('/v1/collection/{collection_id}', { params, body: changes })
            if (!answer.ok) return answer
            loaded.set(answer)
            return undefined
          }}
        />
      )}
      {tab === 'share' && <Share scope="collection" id={id} title={collection.title} />}
    </>
  )
}
