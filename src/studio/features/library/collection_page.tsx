import { useEffect, useRef } from 'preact/hooks'

import { DEFAULT_ACCEPT } from '../../../client/upload/accept.ts'
import type { Collection, Failure, Reprocess } from '../../base/api.ts'
import { explain, joined, length, plural, signed } from '../../base/format.ts'
import { href, type PageProperties } from '../../base/route.ts'
import { t, tn } from '../../base/text.ts'
import { useConnection } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { endNaming } from '../../data/naming.ts'
import { useQuery } from '../../data/query.ts'
import { useReprocess } from '../../data/reprocess.ts'
import { useStore } from '../../data/store.ts'
import { type TrackList, type TrackRows, useTrackRows } from '../../data/track_rows.ts'
import { endUploads, queueOf, stoppedBy, upload, uploadChanges } from '../../data/uploads.ts'
import { sendVersioned } from '../../data/versions.ts'
import { forgetViews, isPlayable } from '../../data/views.ts'
import { Button, FileButton } from '../../ui/controls/button.tsx'
import { Menu } from '../../ui/controls/menu.tsx'
import { EditHead } from '../../ui/edit/edit_head.tsx'
import { announce } from '../../ui/page/announce.ts'
import { lazyPage } from '../../ui/page/lazy_page.tsx'
import { PageHead } from '../../ui/page/page_head.tsx'
import { Empty, ThingNotLoaded, NotRenewed, Problem } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { PlaysNote } from '../listening/plays_note.tsx'
import { hasEnded } from '../sharing/link.ts'
import { openShare } from '../sharing/open_share.ts'
import { listOf } from '../track_table/table_view.ts'
import { TrackTable } from '../track_table/track_table.tsx'
import { removeList } from '../trash/trash.ts'
import { UploadStrip } from '../uploads/upload_strip.tsx'
import { albumLoudness } from './album_loudness.ts'
import { downloadZip, duplicateAsPlaylist } from './collection_actions.ts'
import type { Look } from './look_form.tsx'
import { NamedNote } from './named_note.tsx'
import { PlayFirst } from './play_first.tsx'
import { ReprocessStatus } from './reprocess_status.tsx'

const CollectionAside = lazyPage(async () => (await import('./collection_aside.tsx')).CollectionAside)

async function updateTracks(start: () => Promise<Failure | undefined>): Promise<void> {
  const failure = await start()
  announce(failure ? explain(failure) : t('Missing variants are being created'))
}

/** Returns the facts about the tracks as far as they are known: their number, length and loudness. */
function factsOf({ rows }: TrackRows) {
  const seconds = rows.reduce((sum, row) => sum + (row?.duration ?? Infinity), 0)
  const loudness = albumLoudness(rows)
  return {
    tracks: plural(rows.length, 'track'),
    length: seconds > 0 && seconds < Infinity && length(seconds),
    loudness: loudness !== null && signed(loudness, 'LUFS'),
  }
}

/** Returns the line below the title. While a filter hides tracks, it stays as it was. */
function useNote(list: TrackList, tracks: TrackRows, links: number): string {
  const latest = useRef<ReturnType<typeof factsOf> | null>(null)
  if (!tracks.loading && !list.q && !list.status) latest.current = factsOf(tracks)
  const facts = latest.current
  if (!facts) return ''
  const shared = links > 0 && tn({ one: '{n} link', other: '{n} links' }, links)
  return joined([facts.tracks, facts.length, shared, facts.loudness])
}

export type Changes = Look & Partial<Pick<Collection, 'title'>> & { player_subtitle?: string | null }
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

/** Reads a collection with its cover and its links, and changes it. */
function useCollection(id: string) {
  const { client } = useConnection()
  const params = { collection_id: id }
  const loaded = useQuery({
    key: ['/v1/collection/{collection_id}', id],
    load: () => client.get('/v1/collection/{collection_id}', { params }),
  })
  const cover = useQuery({
    key: ['/v1/collection/{collection_id}/cover', id],
    load: () => client.get('/v1/collection/{collection_id}/cover', { params }),
  })
  const links = useList('/v1/share', (page) => page.shares, { query: { resource_id: id, include: ['visits'] } })

  // The collection was deleted elsewhere.
  const gone = loaded.problem?.status === 404
  useEffect(() => {
    if (gone) endUploads(id)
  }, [gone, id])

  // Changes are sent one after another. With the version from before the first one, the second would be a conflict.
  const saved = useRef<Promise<unknown>>(Promise.resolve())
  function save(changes: Changes) {
    if (changes.title !== undefined || changes.player_subtitle !== undefined) endNaming(id)
    const saving = saved.current.then(() => send(changes))
    saved.current = saving
    return saving
  }
  async function send(changes: Changes) {
    const collection = loaded.answer?.collection
    if (!collection) return undefined
    const answer = await sendVersioned(
      collection,
      changes,
      (headers) => client.put('/v1/collection/{collection_id}', { params, headers, body: changes }),
      (current) => loaded.set({ ok: true, collection_id: id, collection: current }),
    )
    if (!answer.ok) return answer
    loaded.set(answer)
    forgetViews()
    return undefined
  }
  return {
    loaded,
    links,
    save,
    cover: {
      cover: cover.answer?.cover_image,
      handle: async () => {
        const made = await client.post('/v1/collection/{collection_id}/cover', { params })
        return made.ok ? { ok: true as const, handle: made.collection_cover_upload } : made
      },
      onCover: () => {
        forgetViews()
        return Promise.all([cover.reload(), loaded.reload()])
      },
    },
  }
}

/** The page of a collection: its tracks, and next to them its appearance, its links and its ids. */
export function CollectionPage({ id, query }: PageProperties) {
  const { api_key } = useConnection()
  const { loaded, cover, links, save } = useCollection(id)
  const list = listOf(query, id)
  const tracks = useTrackRows(list)
  const { reprocess, start } = useReprocess(id)
  const note = useNote(list, tracks, links.entries.filter((link) => !hasEnded(link)).length)
  const aside = useRef<HTMLDivElement>(null)
  // The preview stays while a filter hides the tracks, and when their rows are forgotten.
  const hasPreview = useRef(false)
  const isPart = Boolean(list.q || list.status) || tracks.rows.includes(undefined)
  if (!tracks.loading)
    hasPreview.current = tracks.rows.some((row) => row && isPlayable(row)) || (isPart && hasPreview.current)
  useTitle(loaded.answer?.collection.title)

  if (!loaded.answer) return <ThingNotLoaded {...loaded} />
  const { collection } = loaded.answer
  const { title } = collection
  const add = (files: File[]) => upload(api_key, id, files)
  return (
    <>
      <NotRenewed {...loaded} />
      <PageHead
        back={{ href: href('library'), label: t('Library') }}
        title={title}
        heading={
          <>
            <CollectionTitle collection={collection} save={save} />
            <NamedNote id={id} />
          </>
        }
        note={<PlaysNote scope="collection" id={id} note={note} />}
        tint={collection.image_colors[0]?.hex}
        {...cover}
      >
        <PlayFirst scope="collection" id={id} tracks={tracks.rows} />
        <Button kind="primary" icon="share" onClick={() => openShare({ scope: 'collection', id, title })}>
          {t('Share')}
        </Button>
        <FileButton accept={DEFAULT_ACCEPT} multiple icon="upload" onFiles={add}>
          {t('Upload')}
        </FileButton>
        <CollectionMenu
          collection={collection}
          onUpdate={() => updateTracks(start)}
          onAside={() => aside.current?.scrollIntoView({ block: 'start' })}
        />
      </PageHead>
      <div class="collection-parts">
        <div class="collection-tracks">
          <Content {...{ collection, query, list, tracks, reprocess, add }} />
        </div>
        <div class="collection-aside" ref={aside}>
          <CollectionAside collection={collection} isPlayable={hasPreview.current} links={links} save={save} />
        </div>
      </div>
    </>
  )
}

interface MenuProperties {
  collection: Collection
  onUpdate: () => unknown
  /** Scrolls to the parts next to the tracks, which are below them in a narrow window. */
  onAside: () => void
}

function CollectionMenu({ collection, onUpdate, onAside }: MenuProperties) {
  const { client } = useConnection()
  const { id, title } = collection
  return (
    <Menu
      label={t('More for {title}', { title })}
      items={[
        { label: t('Look, links and ids'), onSelect: onAside },
        { label: t('Download all (ZIP)'), onSelect: () => downloadZip(client, id) },
        { label: t('Duplicate as playlist'), onSelect: () => duplicateAsPlaylist(client, collection) },
        { label: t('Create missing variants'), onSelect: onUpdate },
        { label: t('Delete collection'), danger: true, onSelect: () => removeList(client, 'collection', collection) },
      ]}
    />
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
      <UploadStrip id={id} />
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
