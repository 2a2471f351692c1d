import { useState } from 'preact/hooks'

import type { Playlist } from '../../base/api.ts'
import { explain, type Faults, faultsOf, plural } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { useOnce } from '../../ui/controls/once.ts'
import { announce } from '../../ui/page/announce.ts'
import { Dialog, DISCARD } from '../../ui/page/dialog.tsx'
import { Loading, Message, Problem } from '../../ui/page/states.tsx'

interface Properties {
  title: string
  track_ids: readonly string[]
  onClose: () => void
}

/** A dialog that adds tracks to a playlist, which it can create. */
export function AddToPlaylist({ title: heading, track_ids, onClose }: Properties) {
  const client = useClient()
  const { entries, loading, problem } = useList('/v1/playlist', ({ playlists }) => playlists)
  const [title, setTitle] = useState('')
  const [faults, setFaults] = useState<Faults>({})
  const [adding, once] = useOnce()

  async function add({ id, title }: Pick<Playlist, 'id' | 'title'>) {
    const params = { playlist_id: id }
    const answer = await client.post('/v1/playlist/{playlist_id}/track', {
      params,
      body: { track_ids: [...track_ids] },
    })
    if (!answer.ok) return setFaults({ other: explain(answer) })
    announce(t('Added to {title}', { title }))
    onClose()
  }
  async function make() {
    const made = await client.post('/v1/playlist', { body: { title: title.trim() } })
    if (made.ok) await add(made.playlist)
    else setFaults(faultsOf(made, ['title']))
  }
  return (
    <Dialog title={heading} asks={title.trim() !== '' && DISCARD} onClose={onClose}>
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
        <TextField label={t('New playlist')} value={title} onInput={setTitle} error={faults.title} required />
        <Button type="submit" disabled={title.trim() === ''}>
          {t('Create and add')}
        </Button>
      </Form>
      <Message>{faults.other}</Message>
    </Dialog>
  )
}
