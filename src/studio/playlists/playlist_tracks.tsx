import { useRef } from 'preact/hooks'

import type { Failure, PlaylistTrack } from '../api.ts'
import { useClient } from '../data/connection.ts'
import type { List } from '../data/list.ts'
import { playTrack } from '../data/now_playing.ts'
import { explain, nameOf } from '../format.ts'
import { TrackRow } from '../library/track_row.tsx'
import { go } from '../route.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { moved, useReorder } from '../ui/reorder.ts'
import { Empty, Loading, Problem } from '../ui/states.tsx'

interface Properties {
  playlist_id: string
  list: List<PlaylistTrack>
  onAdd: () => void
}

/** The tracks of a playlist in their order. */
export function PlaylistTracks({ playlist_id, list, onAdd }: Properties) {
  const client = useClient()
  const root = useRef<HTMLUListElement>(null)
  const saved = useRef<Promise<unknown>>(Promise.resolve())
  const { entries: places, loading, problem } = list

  /** Sends the changes one after the other. If one is rejected, the list is read again. */
  function send(change: () => Promise<{ ok: true } | Failure>) {
    const before = saved.current
    async function save() {
      await before
      const answer = await change()
      if (answer.ok) return
      announce(explain(answer))
      list.reload()
    }
    saved.current = save()
  }
  function move(from: number, to: number) {
    const { playlist_track_id } = places[from]!
    list.set(moved(places, from, to))
    const params = { playlist_id, playlist_track_id }
    send(() => client.put('/v1/playlist/{playlist_id}/track/{playlist_track_id}', { params, body: { position: to } }))
  }
  function remove(place: PlaylistTrack) {
    const { playlist_track_id } = place
    list.set(places.filter((one) => one !== place))
    announce(`${nameOf(place)} removed`)
    const params = { playlist_id, playlist_track_id }
    send(() => client.delete('/v1/playlist/{playlist_id}/track/{playlist_track_id}', { params }))
  }
  const { handle, lookOf, moveTo } = useReorder(root, places.length, move)

  if (loading) return <Loading rows={5} />
  if (problem && places.length === 0) return <Problem failure={problem} retry={list.reload} />
  if (places.length === 0) {
    return (
      <Empty
        title="No tracks yet"
        action={
          <Button kind="primary" icon="plus" onClick={onAdd}>
            Add tracks
          </Button>
        }
      >
        Choose tracks from your collections. A track can be added more than once.
      </Empty>
    )
  }
  return (
    <ul class="tracks" ref={root} aria-label="Tracks">
      {places.map((place, index) => (
        <TrackRow
          key={place.playlist_track_id}
          track={place}
          place={index + 1}
          handle={handle(index, nameOf(place))}
          look={lookOf(index)}
          onPlay={() => playTrack(client, 'playlist', playlist_id, place.id)}
          menu={[
            { label: 'Details', onSelect: () => go('track', place.id) },
            { label: 'To its collection', onSelect: () => go('collection', place.collection_id) },
            ...(index > 0 ? [{ label: 'Move up', onSelect: () => moveTo(index, index - 1) }] : []),
            ...(index < places.length - 1 ? [{ label: 'Move down', onSelect: () => moveTo(index, index + 1) }] : []),
            { label: 'Remove from the playlist', danger: true, onSelect: () => remove(place) },
          ]}
        />
      ))}
    </ul>
  )
}
