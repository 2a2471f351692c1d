import { useClient } from '../data/connection.ts'
import { playTrack } from '../data/now_playing.ts'
import { isPlayable } from '../data/views.ts'
import { Button } from '../ui/button.tsx'

interface Properties {
  scope: 'collection' | 'playlist'
  id: string
  tracks: readonly ({ id: string } & Parameters<typeof isPlayable>[0])[]
}

/** A button that plays a collection or a playlist from its first track that can be played. */
export function PlayFirst({ scope, id, tracks }: Properties) {
  const client = useClient()
  const first = tracks.find(isPlayable)
  return (
    <Button
      kind="primary"
      icon="play"
      disabled={!first}
      onClick={() => first && playTrack(client, scope, id, first.id)}
    >
      Play
    </Button>
  )
}
