import { useState } from 'preact/hooks'

import { pages } from '../../../client/index.ts'
import { MAX_PLAYLIST_TRACKS } from '../../../contract/facts.ts'
import type { Client, Collection, CoverImage, Failure } from '../../base/api.ts'
import { formatClock, explain, joined, plural } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { artistOf, nameOf } from '../../data/track_text.ts'
import { isPlayable } from '../../data/views.ts'
import { Icon } from '../../ui/controls/icon.tsx'
import { useOnce } from '../../ui/controls/once.ts'
import { announce } from '../../ui/page/announce.ts'
import { Loading, Problem } from '../../ui/page/states.tsx'
import type { FoundTrack } from './entries.ts'
import type { PaneDragging } from './pane_drag.ts'
import { INCLUDE } from './saving.ts'

/** The properties that all rows of the search share. */
export interface Found {
  onAdd: (tracks: readonly FoundTrack[]) => void
  drag: PaneDragging
  /** The ids of the tracks that the playlist contains. */
  contained: ReadonlySet<string>
}

interface AddProperties {
  label: string
  onAdd: () => unknown
}

function AddButton({ label, onAdd }: AddProperties) {
  const [isBusy, once] = useOnce()
  return (
    <button
      type="button"
      class="button quiet bare"
      data-add
      aria-label={label}
      title={label}
      // A button that is disabled would lose the focus, and the next Enter.
      aria-disabled={isBusy}
      onClick={() => void once(onAdd)}
    >
      <Icon name="plus" />
    </button>
  )
}

/** A track that was found, with a button that adds it. It can also be dragged into the playlist. */
export function FoundRow({ track, onAdd, drag, contained }: Found & { track: FoundTrack }) {
  const name = nameOf(track)
  const has = contained.has(track.id)
  return (
    <li class="found-row" {...drag.handlersOf({ tracks: [track], label: name })}>
      {track.artwork && (
        <img src={track.artwork.icon.url} alt="" width="36" height="36" loading="lazy" draggable={false} />
      )}
      <span class="found-text">
        <span class="name" dir="auto">
          {name}
        </span>
        <span class="hint">{joined([artistOf(track), track.collection?.title])}</span>
      </span>
      {has && (
        <span class="soft" title={t('The playlist contains it.')}>
          <span class="visually-hidden">{t('The playlist contains it.')}</span>
          <Icon name="check" />
        </span>
      )}
      <span class="duration">{formatClock(track.duration)}</span>
      <AddButton label={t('Add {name}', { name })} onAdd={() => onAdd([track])} />
    </li>
  )
}

type Album = Collection & { artwork?: CoverImage | undefined; counts?: { tracks: number } | undefined }

/** A collection with a button that adds all of its tracks, and one that shows them. */
export function FoundCollection({ collection, ...found }: Found & { collection: Album }) {
  const client = useClient()
  const [isOpen, setOpen] = useState(false)
  const { id, title, artwork, counts } = collection
  async function addAll() {
    const tracks = await readTracks(client, id)
    if (!Array.isArray(tracks)) return announce(explain(tracks))
    const playable = tracks.filter(isPlayable)
    if (playable.length === 0) return announce(t('{title} has no track that can be played.', { title }))
    found.onAdd(playable)
  }
  return (
    <li>
      <div class="found-row">
        {artwork && <img src={artwork.icon.url} alt="" width="36" height="36" loading="lazy" />}
        <button type="button" class="found-text" data-open aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span class="name" dir="auto">
            {title}
          </span>
          <span class="hint">{counts && plural(counts.tracks, 'track')}</span>
        </button>
        <AddButton label={t('Add all tracks of {title}', { title })} onAdd={addAll} />
      </div>
      {isOpen && <Tracks collection_id={id} {...found} />}
    </li>
  )
}

function Tracks({ collection_id, ...found }: Found & { collection_id: string }) {
  const client = useClient()
  const { answer, problem, reload } = useQuery({
    key: ['playlist finder', collection_id],
    async load() {
      const tracks = await readTracks(client, collection_id)
      return Array.isArray(tracks) ? { ok: true as const, tracks } : tracks
    },
  })
  if (problem) return <Problem failure={problem} retry={reload} />
  if (!answer) return <Loading rows={3} />
  const shown = answer.tracks.filter(isPlayable)
  if (shown.length === 0) return <p class="soft">{t('No track that can be played.')}</p>
  return (
    <ul class="found-rows inner">
      {shown.map((track) => (
        <FoundRow key={track.id} track={track} {...found} />
      ))}
    </ul>
  )
}

/** Returns the tracks of a collection, at most as many as a playlist may have. */
async function readTracks(client: Client, collection_id: string): Promise<FoundTrack[] | Failure> {
  const tracks: FoundTrack[] = []
  const options = { params: { collection_id }, query: { include: INCLUDE } }
  for await (const page of pages(client, '/v1/collection/{collection_id}/track', options)) {
    if (!page.ok) return page
    tracks.push(...page.tracks)
    if (tracks.length > MAX_PLAYLIST_TRACKS) break
  }
  return tracks
}
