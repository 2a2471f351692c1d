import { useState } from 'preact/hooks'

import type { ApiKey, KeyType } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { useList } from '../data/list.ts'
import { type Faults, faultsOf } from '../format.ts'
import { sitesOf } from '../sharing/sites.ts'
import { SitesField } from '../sharing/sites_field.tsx'
import { Button } from '../ui/button.tsx'
import { Cancel, Dialog, DISCARD } from '../ui/dialog.tsx'
import { Check, SelectField, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Message } from '../ui/states.tsx'
import { DEFAULT_LIMITS, LimitFields, limitsOf } from './key_limits.tsx'
import { LOSES_SECRET, Secret } from './secret.tsx'

const TYPES = [
  ['player', 'Player: plays, in browsers and apps'],
  ['uploader', 'Uploader: uploads, in browsers and apps'],
  ['server', 'Server: everything; keep it on your server'],
] as const

interface Made {
  secret: string
  api_key: ApiKey
}

/** A dialog that creates a key and shows its secret once. */
export function NewKey({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const client = useClient()
  const [title, setTitle] = useState('')
  const [type, setType] = useState<KeyType>('player')
  const [bound, setBound] = useState('')
  const [sites, setSites] = useState('')
  const [downloadable, setDownloadable] = useState(false)
  const [limitTexts, setLimitTexts] = useState(DEFAULT_LIMITS)
  const [made, setMade] = useState<Made>()
  const [faults, setFaults] = useState<Faults>({})

  async function create() {
    const [field, id] = type === 'server' ? [] : bound.split(' ')
    const { origins: allowed, fault } = sitesOf(type === 'server' ? '' : sites)
    if (fault) return setFaults({ allowed_origins: fault })
    const { limits, faults: limitFaults } = limitsOf(limitTexts)
    if (type === 'uploader' && limitFaults) return setFaults(limitFaults)
    const body = {
      title: title.trim(),
      type,
      ...(field && id && { [field]: id }),
      ...(allowed.length > 0 && { allowed_origins: allowed }),
      ...(type === 'player' && { is_downloadable: downloadable }),
      ...(type === 'uploader' && limits),
    }
    const answer = await client.post('/v1/api_key', { body })
    if (!answer.ok) return setFaults(faultsOf(answer, ['title', 'allowed_origins', 'max_bytes', 'max_tracks']))
    setMade(answer)
    onMade()
  }
  return (
    <Dialog
      title={made ? `The secret of ${made.api_key.title}` : 'New key'}
      asks={made ? LOSES_SECRET : (title + sites).trim() !== '' && DISCARD}
      onClose={onClose}
    >
      {made ? (
        <Secret {...made} onClose={onClose} />
      ) : (
        <Form onSubmit={create}>
          <TextField
            label="Title"
            value={title}
            onInput={setTitle}
            error={faults.title}
            required
            placeholder="Player on my site"
          />
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
              <ScopeField type={type} value={bound} onChange={setBound} />
              <SitesField value={sites} onInput={setSites} error={faults.allowed_origins} />
            </>
          )}
          {type === 'player' && (
            <Check label="Listeners may download" checked={downloadable} onChange={setDownloadable} />
          )}
          {type === 'uploader' && <LimitFields value={limitTexts} onChange={setLimitTexts} faults={faults} />}
          <Message>{faults.other}</Message>
          <div class="actions end">
            <Cancel />
            <Button type="submit" kind="primary" disabled={title.trim() === ''}>
              Create key
            </Button>
          </div>
        </Form>
      )}
    </Dialog>
  )
}

interface ScopeProperties {
  type: KeyType
  /** The name of the field in the request and the id of the resource; empty for all resources. */
  value: string
  onChange: (value: string) => void
}

/** The field for the collection or playlist to which a key is bound. */
function ScopeField({ type, value, onChange }: ScopeProperties) {
  const { entries: collections } = useList('/v1/collection', (page) => page.collections)
  const { entries: playlists } = useList('/v1/playlist', (page) => page.playlists)
  const options: [string, string][] = [
    ['', type === 'uploader' ? 'Any collection' : 'Everything'],
    ...collections.map(({ id, title }): [string, string] => [`collection_id ${id}`, `Collection: ${title}`]),
    ...(type === 'player'
      ? playlists.map(({ id, title }): [string, string] => [`playlist_id ${id}`, `Playlist: ${title}`])
      : []),
  ]
  return <SelectField label="Opens" value={value} options={options} onChange={onChange} />
}
