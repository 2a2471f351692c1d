import { useEffect } from 'preact/hooks'

import { DEFAULT_ACCEPT } from '../../client/upload/accept.ts'
import type { Client, Collection, Failure, Reprocess } from '../api.ts'
import { useConnection } from '../data/connection.ts'
import { useQuery } from '../data/query.ts'
import { useReprocess } from '../data/reprocess.ts'
import { useStore } from '../data/store.ts'
import { type TrackList, type TrackRows, useTrackRows } from '../data/track_rows.ts'
import { endUploads, queueOf, stoppedBy, upload, uploadChanges } from '../data/uploads.ts'
import { forgetViews } from '../data/views.ts'
import { explain, length, plural, signed } from '../format.ts'
import { go, href, type PageProperties } from '../route.ts'
import { openShare } from '../sharing/open_share.ts'
import { t, text, tn } from '../text.ts'
import { announce } from '../ui/announce.ts'
import { Button, FileButton } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { EditHead } from '../ui/edit_head.tsx'
import { Menu } from '../ui/menu.tsx'
import { PageHead, Tabs } from '../ui/page_head.tsx'
import { Empty, NotLoaded, NotRenewed, Problem } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'
import { albumLoudness } from './album_loudness.ts'
import { type Look, LookForm } from './look_form.tsx'
import { PlayFirst } from './play_first.tsx'
import { ReprocessStatus } from './reprocess_status.tsx'
import { listOf } from './table_view.ts'
import { TrackTable } from './track_table.tsx'
import { kept, TO_TRASH } from './trash.ts'

const TABS = [
  ['', text('Tracks')],
  ['look', text('Look')],
] as const

const LOST = {
  one: '{title} is moved to the trash with its track, which is removed from playlists.',
  other: '{title} is moved to the trash with its {n} tracks, which are removed from playlists.',
}

async function remove(client: Client, { id, title }: Collection, count: number): Promise<void> {
  const question = {
    title: t('Delete this collection?'),
    text: [tn(LOST, count, { title }), kept()].join(' '),
    action: t('Delete collection'),
  }
  if (!(await confirmed(question))) return
  const params = { collection_id: id }
  const answer = await client.delete('/v1/collection/{collection_id}', { params, query: TO_TRASH })
  if (!answer.ok) return announce(explain(answer))
  endUploads(id)
  announce(t('{title} deleted', { title }))
  go('library')
}

async function updateTracks(start: () => Promise<Failure | undefined>): Promise<void> {
  const failure = await start()
  announce(failure ? explain(failure) : t('Missing variants are being created'))
}

/** Returns the number, the length and the loudness of the tracks as far as they are known. */
function noteOf(list: TrackList, { rows, loading }: TrackRows): string {
  if (loading || list.q || list.status) return ''
  const seconds = rows.reduce((sum, row) => sum + (row?.duration ?? Infinity), 0)
  const loudness = albumLoudness(rows)
  return [
    plural(rows.length, 'track'),
    seconds > 0 && seconds < Infinity && length(seconds),
    loudness !== null && signed(loudness, 'LUFS'),
  ]
    .filter(Boolean)
    .join(' · ')
}

type Changes = Look & Partial<Pick<Collection, 'title'>> & { player_subtitle?: string | null }
interface TitleProperties {
  collection: Collection
  save: (changes: Changes) => Promise<Failure | undefined>
}

const CollectionTitle = ({ collection: { id, title, player_subtitle }, save }: TitleProperties) => (
  <EditHead
    draft={`collection/${id}`}
    title={title}
    subtitle={player_subtitle}
    subtitleLabel={t('Artist')}
    addSubtitle={t('Add an artist')}
    saveTitle={(title) => save({ title })}
    saveSubtitle={(subtitle) => save({ player_subtitle: subtitle || null })}
  />
)

/** The page of a collection: its tracks and its appearance in players. */
export function CollectionPage({ id, tab, query }: PageProperties) {
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
  const list = listOf(query, id)
  const tracks = useTrackRows(list)
  const { reprocess, start } = useReprocess(id)
  useTitle(loaded.answer?.collection.title)

  // The collection was deleted elsewhere.
  const gone = loaded.problem?.status === 404
  useEffect(() => {
    if (gone) endUploads(id)
  }, [gone, id])

  if (!loaded.answer) return <NotLoaded {...loaded} />
  const { collection } = loaded.answer
  const add = (files: File[]) => upload(api_key, id, files)
  async function save(changes: Changes) {
    const answer = await client.put('/v1/collection/{collection_id}', { params, body: changes })
    if (!answer.ok) return answer
    loaded.set(answer)
    forgetViews()
    return undefined
  }

  return (
    <>
      <NotRenewed {...loaded} />
      <PageHead
        back={{ href: href('library'), label: t('Library') }}
        title={collection.title}
        heading={<CollectionTitle collection={collection} save={save} />}
        note={noteOf(list, tracks)}
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
        <PlayFirst scope="collection" id={id} tracks={tracks.rows.filter((row) => row !== undefined)} />
        <FileButton accept={DEFAULT_ACCEPT} multiple icon="upload" onFiles={add}>
          {t('Upload')}
        </FileButton>
        <Button onClick={() => openShare({ scope: 'collection', id, title: collection.title })}>{t('Share')}</Button>
        <Menu
          label={t('More for {title}', { title: collection.title })}
          items={[
            { label: t('Update tracks'), onSelect: () => updateTracks(start) },
            {
              label: t('Delete collection …'),
              danger: true,
              onSelect: () => remove(client, collection, tracks.rows.length),
            },
          ]}
        />
      </PageHead>
      <Tabs page="collection" id={id} current={tab} tabs={TABS.map(([name, label]) => [name, t(label)] as const)} />
      {tab === '' && <Content {...{ collection, query, list, tracks, reprocess, add }} />}
      {tab === 'look' && <LookForm scope="collection" id={id} values={collection} save={save} />}
    </>
  )
}

interface ContentProperties extends Pick<PageProperties, 'query'> {
  collection: Collection
  list: TrackList
  tracks: TrackRows
  reprocess: Reprocess | null | undefined
  add: (files: File[]) => void
}

function Content({ collection, query, list, tracks, reprocess, add }: ContentProperties) {
  const { id, player_subtitle } = collection
  useStore(uploadChanges)
  const stopped = stoppedBy(id)
  return (
    <>
      <ReprocessStatus key={id} reprocess={reprocess} onDone={tracks.reload} />
      {stopped && <Problem failure={stopped} retry={() => queueOf(id)?.reconsider()} />}
      <TrackTable
        query={query}
        list={list}
        tracks={tracks}
        subtitle={player_subtitle}
        empty={<NoTracks onFiles={add} />}
      />
    </>
  )
}

const NoTracks = ({ onFiles }: { onFiles: (files: File[]) => void }) => (
  <Empty
    title={t('No tracks yet')}
    action={
      <FileButton accept={DEFAULT_ACCEPT} multiple kind="primary" icon="upload" onFiles={onFiles}>
        {t('Choose files')}
      </FileButton>
    }
  >
    {t('Drop audio files anywhere on this page. MP3, AAC, FLAC, WAV, AIFF, Ogg, Opus and most others work.')}
  </Empty>
)
