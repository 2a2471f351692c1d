import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { nowPlaying, playTrack, togglePlay } from '../../data/now_playing.ts'
import { playList } from '../../data/play_list.ts'
import { useStore } from '../../data/store.ts'
import { isPlayable } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'

interface Properties {
  scope: 'collection' | 'playlist'
  id: string
  /** The tracks in their order. Those that were not read are undefined. */
  tracks: readonly (({ id: string } & Parameters<typeof isPlayable>[0]) | undefined)[]
}

/** A button that plays a collection or a playlist from its first track that can be played, or pauses it while it plays. */
export function PlayFirst({ scope, id, tracks }: Properties) {
  const client = useClient()
  const now = useStore(nowPlaying)
  const first = tracks.find((track) => track && isPlayable(track))
  const isStartKnown = tracks[0] !== undefined
  const isCurrent = now?.scope === scope && now.resource_id === id
  const isPlaying = isCurrent && now.playing
  function play() {
    if (isCurrent) return togglePlay()
    if (!isStartKnown) return playList(client, scope, id)
    return first && playTrack(client, scope, id, first.id)
  }
  return (
    <Button icon={isPlaying ? 'pause' : 'play'} disabled={!first} onClick={play}>
      {isPlaying ? t('Pause') : t('Play')}
    </Button>
  )
}
