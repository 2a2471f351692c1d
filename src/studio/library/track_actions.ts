import { DEFAULT_ACCEPT } from '../../client/upload/accept.ts'
import type { Failure, Listed, Track } from '../api.ts'
import { useConnection } from '../data/connection.ts'
import { endSending, sendFor } from '../data/uploads.ts'
import { explain, nameOf } from '../format.ts'
import { announce } from '../ui/announce.ts'
import { chooseFile } from '../ui/choose_file.ts'
import { confirmed } from '../ui/dialog.tsx'
import { KEPT, TO_TRASH } from './trash.ts'

type Outcome = { ok: true } | (Omit<Failure, 'code' | 'status'> & { code: string })

function announceOutcome(answer: Outcome, done: string): void {
  if (answer.ok) announce(done)
  else if (answer.code !== 'aborted') announce(explain(answer))
}

interface Handlers {
  /** Called with a track in its new state. */
  onChange: (track: Track) => void
  onDelete: (track: Listed) => void
}

/** Returns the actions on tracks, which the list and the page of a track share. */
export function useTrackActions({ onChange, onDelete }: Handlers) {
  const connection = useConnection()
  const { client } = connection
  async function reprocess({ id }: Pick<Listed, 'id'>) {
    const answer = await client.post('/v1/track/{track_id}/reprocess', { params: { track_id: id } })
    announceOutcome(answer, 'Processing again')
    if (answer.ok) onChange(answer.track)
  }
  async function replace(track: Pick<Listed, 'id' | 'collection_id'>) {
    const file = await chooseFile(DEFAULT_ACCEPT)
    if (!file) return
    announce(`Uploading ${file.name}`)
    const answer = await sendFor(connection, track, file)
    if (!answer) return
    announceOutcome(answer, `${file.name} uploaded`)
    if (answer.ok) onChange(answer.track)
  }
  async function remove(track: Listed) {
    const name = nameOf(track)
    const text = `${name} is moved to the trash and removed from its playlists. ${KEPT}`
    if (!(await confirmed({ title: 'Delete this track?', text, action: 'Delete track' }))) return
    const answer = await client.delete('/v1/track/{track_id}', { params: { track_id: track.id }, query: TO_TRASH })
    announceOutcome(answer, `${name} deleted`)
    if (!answer.ok) return
    endSending(track)
    onDelete(track)
  }
  return { reprocess, replace, remove }
}
