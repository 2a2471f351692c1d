import { useState } from 'preact/hooks'

import type { Listed, Playlist } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { explain, type Faults, faultsOf, nameOf, plural } from '../format.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DISCARD } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { useOnce } from '../ui/once.ts'
import { Loading, Message, Problem } from '../ui/states.tsx'

/** A dialog that adds a track to a playlist, which it can create. */
export function AddToPlaylist({ track, onClose }: { track: Listed; onClose: () => void }) {
  const client = useClient()
  const { entries, loading, problem } = useList('/v1/playlist', ({ playlists }) => playlists)
  const [title, setTitle] = useState('')
  const [faults, setFaults] = useState<Faults>({})
  const [adding, once] = useOnce()

  async function add({ id, title }: Pick<Playlist, 'id' | 'title'>) {
    const params = { playlist_id: id }
    const answer = await client.post('/v1/playlist/{playlist_id}/track', { params, body: { track_ids: [track.id] } })
    if (!answer.ok) return setFaults({ other: explain(answer) })
    announce(`Added to ${title}`)
    onClose()
  }
  async function make() {
    const made = await client.post('/v1/playlist', { body: { title: title.trim() } })
    if (made.ok) await add(made.playlist)
    else setFaults(faultsOf(made, ['title']))
  }
  return (
    <Dialog title={`Add “${nameOf(track)}” to a playlist`} asks={title.trim() !== '' && DISCARD} onClose={onClose}>
      {loading && <Loading />}
      {problem && <Problem failure={problem} />}
      <ul class="choices">
        {entries.map((playlist) => (
          <li key={playlist.id}>
            <button type="button" disabled={adding} onClick={() => void once(() => add(playlist))}>
              <span>{playlist.title}</span>
              <span class="soft">{plural(playlist.track_count, 'track')}</span>
            </button>
          </li>
        ))}
      </ul>
      <Form class="inline-form" onSubmit={() => once(make)}>
        <TextField label="New playlist" value={title} onInput={setTitle} error={faults.title} required />
        <Button type="submit" disabled={title.trim() === ''}>
          Create and add
        </Button>
      </Form>
      <Message>{faults.other}</Message>
    </Dialog>
  )
}
