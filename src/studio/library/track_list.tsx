import { useRef, useState } from 'preact/hooks'

import { DEFAULT_ACCEPT } from '../../client/upload/accept.ts'
import type { UploadItem } from '../../client/upload/item.ts'
import type { Listed } from '../api.ts'
import { useConnection } from '../data/connection.ts'
import { playTrack } from '../data/now_playing.ts'
import { useStore } from '../data/store.ts'
import type { Tracks } from '../data/tracks.ts'
import { itemFor, queueOf, stoppedBy, uploadChanges, uploadsTo } from '../data/uploads.ts'
import { explain, nameOf } from '../format.ts'
import { go } from '../route.ts'
import { announce } from '../ui/announce.ts'
import { FileButton } from '../ui/button.tsx'
import type { MenuItem } from '../ui/menu.tsx'
import { moved, useReorder } from '../ui/reorder.ts'
import { Empty, Loading, Problem } from '../ui/states.tsx'
import { AddToPlaylist } from './add_to_playlist.tsx'
import { useTrackActions } from './track_actions.ts'
import { TrackRow } from './track_row.tsx'
import { UploadRow } from './upload_row.tsx'

interface Properties {
  collection_id: string
  list: Tracks
  onFiles: (files: File[]) => void
}

/** Returns the function that moves a track. The moves are sent one after the other. */
function useMove(collection_id: string, list: Tracks) {
  const { client } = useConnection()
  const saved = useRef<Promise<unknown>>(Promise.resolve())
  /** The tracks between the two places exchange their values of `order`. */
  return function move(from: number, to: number) {
    const after = moved(list.tracks, from, to)
    list.reorder(after)
    const track_ids = after.slice(Math.min(from, to), Math.max(from, to) + 1).map(({ id }) => id)
    const before = saved.current
    async function save() {
      await before
      const params = { collection_id }
      const answer = await client.put('/v1/collection/{collection_id}/track/order', { params, body: { track_ids } })
      if (answer.ok) return
      announce(explain(answer))
      list.reload()
    }
    saved.current = save()
  }
}

/** The tracks of a collection in their order, and the files that are being uploaded. */
export function TrackList({ collection_id, list, onFiles }: Properties) {
  useStore(uploadChanges)
  const { tracks, loading, problem } = list
  const stopped = stoppedBy(collection_id)
  if (loading && tracks.length === 0) return <Loading rows={5} />
  if (problem && tracks.length === 0) return <Problem failure={problem} retry={list.reload} />
  return (
    <>
      {problem && <Problem failure={problem} retry={list.reload} />}
      {stopped && <Problem failure={stopped} retry={() => queueOf(collection_id)?.reconsider()} />}
      {tracks.length === 0 && uploadsTo(collection_id).length === 0 ? (
        <Empty
          title="No tracks yet"
          action={
            <FileButton accept={DEFAULT_ACCEPT} multiple kind="primary" icon="upload" onFiles={onFiles}>
              Choose files
            </FileButton>
          }
        >
          Drop audio files anywhere on this page. MP3, AAC, FLAC, WAV, AIFF, Ogg, Opus and most others work.
        </Empty>
      ) : (
        <Rows collection_id={collection_id} list={list} />
      )}
    </>
  )
}

function Rows({ collection_id, list }: Omit<Properties, 'onFiles'>) {
  const { client } = useConnection()
  const place = useRef<HTMLUListElement>(null)
  const [adding, setAdding] = useState<Listed | null>(null)
  const { tracks } = list
  const { reprocess, replace, remove } = useTrackActions({ onChange: list.put, onDelete: ({ id }) => list.drop(id) })
  const { handle, lookOf, moveTo } = useReorder(place, tracks.length, useMove(collection_id, list))
  const menuOf = (track: Listed, index: number): MenuItem[] => [
    { label: 'Details', onSelect: () => go('track', track.id) },
    { label: 'Edit look', onSelect: () => go('track', track.id, 'look') },
    { label: 'Share', onSelect: () => go('track', track.id, 'share') },
    { label: 'Add to a playlist …', onSelect: () => setAdding(track) },
    ...(index > 0 ? [{ label: 'Move up', onSelect: () => moveTo(index, index - 1) }] : []),
    ...(index < tracks.length - 1 ? [{ label: 'Move down', onSelect: () => moveTo(index, index + 1) }] : []),
    { label: 'Process again', onSelect: () => reprocess(track) },
    { label: 'Replace the file …', onSelect: () => replace(track) },
    { label: 'Delete track …', danger: true, onSelect: () => remove(track) },
  ]
  /** The row of a file that is being uploaded. It has a place once the list contains its track. */
  const rowOf = (item: UploadItem, index?: number) => (
    <UploadRow
      key={item.id}
      item={item}
      collection_id={collection_id}
      look={index === undefined ? undefined : lookOf(index)}
      onChoose={(track_id) => replace({ id: track_id, collection_id })}
    />
  )
  const isListed = ({ target }: UploadItem) => tracks.some(({ id }) => id === target?.track_id)
  return (
    <>
      <ul class="tracks" ref={place} aria-label="Tracks">
        {tracks.map((track, index) => {
          const item = itemFor(track)
          if (item) return rowOf(item, index)
          return (
            <TrackRow
              key={track.id}
              track={track}
              detail={list.details.get(track.id)}
              place={index + 1}
              handle={handle(index, nameOf(track))}
              look={lookOf(index)}
              onPlay={() => playTrack(client, 'collection', collection_id, track.id)}
              menu={menuOf(track, index)}
              onRetry={() => reprocess(track)}
              onReplace={() => replace(track)}
            />
          )
        })}
        {uploadsTo(collection_id)
          .filter((item) => !isListed(item))
          .map((item) => rowOf(item))}
      </ul>
      {adding && <AddToPlaylist track={adding} onClose={() => setAdding(null)} />}
    </>
  )
}
