import type { ComponentChildren } from 'preact'

import type { CoverImage, Listed } from '../../base/api.ts'
import { formatClock, plural } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { nowPlaying, playTrack, togglePlay } from '../../data/now_playing.ts'
import type { ShelfItem } from '../../data/shelf_rows.ts'
import { useStore } from '../../data/store.ts'
import { artistOf, nameOf } from '../../data/track_text.ts'
import { isPlayable } from '../../data/views.ts'
import { Icon } from '../../ui/controls/icon.tsx'

interface CoverProperties {
  name: string
  cover: CoverImage | undefined
  isPlaying: boolean
  isEnabled: boolean
  onPlay: () => unknown
}

/** A small cover with a button that plays what it belongs to. */
const PlayCover = ({ name, cover, isPlaying, isEnabled, onPlay }: CoverProperties) => (
  <span class="art">
    {cover && <img src={cover.icon.url} alt="" width="44" height="44" decoding="async" />}
    <button
      type="button"
      class="play"
      aria-label={isPlaying ? t('Pause {name}', { name }) : t('Play {name}', { name })}
      disabled={!isEnabled}
      onClick={onPlay}
    >
      <Icon name={isPlaying ? 'pause' : 'play'} />
    </button>
  </span>
)

const Item = ({ isCurrent, children }: { isCurrent: boolean; children: ComponentChildren }) => (
  <li class={isCurrent ? 'current' : ''} aria-current={isCurrent ? 'true' : undefined} data-row>
    {children}
  </li>
)

interface ListProperties {
  kind: 'collection' | 'playlist'
  item: Pick<ShelfItem, 'id' | 'title' | 'player_subtitle' | 'artwork' | 'counts'>
  onPlay: () => unknown
}

/** A collection or a playlist that was found. */
export function FoundList({ kind, item, onPlay }: ListProperties) {
  const now = useStore(nowPlaying)
  const { id, title, player_subtitle, artwork, counts } = item
  const isCurrent = now?.scope === kind && now.resource_id === id
  return (
    <Item isCurrent={isCurrent}>
      <PlayCover
        name={title}
        cover={artwork}
        isPlaying={isCurrent && now.playing}
        isEnabled={counts?.tracks !== 0}
        onPlay={isCurrent ? togglePlay : onPlay}
      />
      <span class="line-text">
        <a class="name" href={href(kind, id)} dir="auto">
          {title}
        </a>
        <span class="soft" dir="auto">
          {player_subtitle}
        </span>
      </span>
      <span class="soft">{counts && plural(counts.tracks, 'track')}</span>
    </Item>
  )
}

type Track = Listed & { artwork?: CoverImage | undefined; collection?: { title: string } | undefined }

/** A track that was found, with its collection. */
export function FoundTrack({ track }: { track: Track }) {
  const client = useClient()
  const now = useStore(nowPlaying)
  const { id, collection_id, artwork, collection, duration } = track
  const name = nameOf(track)
  const isCurrent = now?.track_id === id
  return (
    <Item isCurrent={isCurrent}>
      <PlayCover
        name={name}
        cover={artwork}
        isPlaying={isCurrent && now.playing}
        isEnabled={isPlayable(track)}
        onPlay={isCurrent ? togglePlay : () => playTrack(client, 'collection', collection_id, id)}
      />
      <span class="line-text">
        <a class="name" href={href('track', id)} dir="auto">
          {name}
        </a>
        <span class="soft" dir="auto">
          {artistOf(track)}
        </span>
      </span>
      {collection && (
        <a class="soft found-album" href={href('collection', collection_id)} dir="auto">
          {collection.title}
        </a>
      )}
      <span class="soft duration">{duration > 0 && formatClock(duration)}</span>
    </Item>
  )
}
