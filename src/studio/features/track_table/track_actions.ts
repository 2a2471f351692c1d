import { DEFAULT_ACCEPT } from '../../../client/upload/accept.ts'
import type { Failure, Listed, Track } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useConnection } from '../../data/connection.ts'
import { followJob } from '../../data/jobs.ts'
import { invalidate } from '../../data/query.ts'
import { nameOf } from '../../data/track_text.ts'
import { endSending, sendFor } from '../../data/uploads.ts'
import { chooseFile } from '../../ui/controls/choose_file.ts'
import { announce } from '../../ui/page/announce.ts'
import { TO_TRASH } from '../trash/trash.ts'

type Outcome = { ok: true } | (Omit<Failure, 'code' | 'status'> & { code: string })

function announceOutcome(answer: Outcome, done: string): void {
  if (answer.ok) announce(done)
  else if (answer.code !== 'aborted') announce(explain(answer))
}

type Named = Pick<Listed, 'id' | 'collection_id' | 'player_title' | 'file_name' | 'tags'>

interface Handlers {
  /** Called with a track in its new state. */
  onChange: (track: Track) => void
  /** Called before the service has deleted the track. */
  onDelete: (track: Named) => void
  /** Called after the track was restored, or could not be deleted. */
  onRestore: (track: Named) => void
}

/** Returns the actions on tracks, which the list and the page of a track share. */
export function useTrackActions({ onChange, onDelete, onRestore }: Handlers) {
  const connection = useConnection()
  const { client } = connection
  async function reprocess({ id }: Pick<Listed, 'id'>) {
    const answer = await client.post('/v1/track/{track_id}/reprocess', { params: { track_id: id } })
    announceOutcome(answer, t('Processing again'))
    if (!answer.ok) return
    followJob(answer.track)
    onChange(answer.track)
  }
  async function replace(track: Pick<Listed, 'id' | 'collection_id'>) {
    const file = await chooseFile(DEFAULT_ACCEPT)
    if (!file) return
    announce(t('Uploading {file}', { file: file.name }))
    const answer = await sendFor(connection, track, file)
    if (!answer) return
    announceOutcome(answer, t('{file} uploaded', { file: file.name }))
    if (answer.ok) onChange(answer.track)
  }
  async function restore(track: Named) {
    const answer = await client.post('/v1/trash/{trash_id}/restore', { params: { trash_id: track.id } })
    announceOutcome(answer, t('{name} restored', { name: nameOf(track) }))
    if (!answer.ok) return
    invalidate('/v1/trash')
    onRestore(track)
  }
  async function remove(track: Named) {
    onDelete(track)
    const answer = await client.delete('/v1/track/{track_id}', { params: { track_id: track.id }, query: TO_TRASH })
    if (!answer.ok) {
      announce(explain(answer))
      return onRestore(track)
    }
    endSending(track)
    // The page Trash may have been opened before the response.
    invalidate('/v1/trash')
    // A read that started before the deletion would show the track again.
    invalidate('tracks')
    announce(t('{name} deleted', { name: nameOf(track) }), { label: t('Undo'), run: () => restore(track) })
  }
  return { reprocess, replace, remove }
}
