import { useState } from 'preact/hooks'

import type { ApiKey, Failure, KeyType } from '../api.ts'
import { explain } from '../format.ts'
import { useAll } from '../state/all.ts'
import { useClient } from '../state/client.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Check, SelectField, TextField } from './field.tsx'
import { Form } from './form.tsx'
import { originsOf } from './lasting_embed.tsx'
import { Secret } from './secret.tsx'
import { Message } from './states.tsx'

const TYPES = [
  ['player', 'Player: plays, in browsers and apps'],
  ['uploader', 'Uploader: uploads, in browsers and apps'],
  ['server', 'Server: everything; keep it on your server'],
] as const

interface Made {
  secret: string
  api_key: ApiKey
}

/** Makes a key, and shows its secret this once. */
export function NewKey({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const client = useClient()
  const { entries: collections } = useAll('/v1/collection', (page) => page.collections)
  const { entries: playlists } = useAll('/v1/playlist', (page) => page.playlists)
  const [title, setTitle] = useState('')
  const [type, setType] = useState<KeyType>('player')
  const [bound, setBound] = useState('')
  const [origins, setOrigins] = useState('')
  const [downloadable, setDownloadable] = useState(false)
  const [made, setMade] = useState<Made>()
  const [problem, setProblem] = useState<Failure>()

  const options: [string, string][] = [
    ['', type === 'uploader' ? 'Any collection' : 'Everything'],
    ...collections.map(({ id, title }): [string, string] => [`collection_id ${id}`, `Collection: ${title}`]),
    ...(type === 'player'
      ? playlists.map(({ id, title }): [string, string] => [`playlist_id ${id}`, `Playlist: ${title}`])
      : []),
  ]
  async function create() {
    const [field, id] = type === 'server' ? [] : bound.split(' ')
    const allowed = originsOf(origins)
    const body = {
      title: title.trim(),
      type,
      ...(field && id && { [field]: id }),
      ...(type !== 'server' && allowed.length > 0 && { allowed_origins: allowed }),
      ...(type === 'player' && { is_downloadable: downloadable }),
    }
    const answer = await client.post('/v1/api_key', { body })
    if (!answer.ok) return setProblem(answer)
    setMade(answer)
    onMade()
  }
  return (
    <Dialog title={made ? `The secret of ${made.api_key.title}` : 'New key'} onClose={onClose}>
      {made ? (
        <Secret {...made} onClose={onClose} />
      ) : (
        <Form onSubmit={create}>
          <TextField label="Title" value={title} onInput={setTitle} required placeholder="Player on my site" />
          <SelectField
            label="Kind"
            value={type}
            options={TYPES}
            onChange={(value) => {
              setType(value as KeyType)
              setBound('')
            }}
          />
          {type !== 'server' && (
            <>
              <SelectField label="Opens" value={bound} options={options} onChange={setBound} />
              <TextField
                label="Sites"
                value={origins}
                onInput={setOrigins}
                multiline
                placeholder="https://www.example.com"
                hint="Origins whose pages may use it. Empty: any site."
              />
            </>
          )}
          {type === 'player' && (
            <Check label="Listeners may download" checked={downloadable} onChange={setDownloadable} />
          )}
          <Message>{problem && explain(problem)}</Message>
          <div class="actions end">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" kind="primary" disabled={title.trim() === ''}>
              Create key
            </Button>
          </div>
        </Form>
      )}
    </Dialog>
  )
}
