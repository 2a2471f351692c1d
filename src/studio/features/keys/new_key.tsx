import { useState } from 'preact/hooks'

import type { ApiKey, KeyType } from '../../base/api.ts'
import { exactTime, type Faults, faultsOf } from '../../base/format.ts'
import { t, text } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useList } from '../../data/list.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { Cancel, Dialog, DISCARD } from '../../ui/page/dialog.tsx'
import { Message } from '../../ui/page/states.tsx'
import { FIELDS, isChanged, KeyFields, type KeyValues, NEW_KEY, settingsOf } from './key_fields.tsx'
import { LOSES_SECRET, Secret } from './secret.tsx'

const TYPES = [
  ['player', text('Player: plays, in browsers and apps')],
  ['uploader', text('Uploader: uploads, in browsers and apps')],
  ['signing', text('Signing: signs play sessions, on your server')],
  ['server', text('Server: everything; keep it on your server')],
] as const

interface Made {
  secret: string
  api_key: ApiKey
}

/** A dialog that creates a key and shows its secret once. */
export function NewKey({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const client = useClient()
  const [type, setType] = useState<KeyType>('player')
  const [bound, setBound] = useState('')
  const [values, setValues] = useState(NEW_KEY)
  const [made, setMade] = useState<Made>()
  const [faults, setFaults] = useState<Faults>({})
  const change = (part: Partial<KeyValues>) => setValues({ ...values, ...part })

  async function create() {
    const [field, id] = type === 'server' ? [] : bound.split(' ')
    const { settings, faults } = settingsOf(type, values)
    if (faults) return setFaults(faults)
    const answer = await client.post('/v1/api_key', {
      body: { ...settings, type, ...(field && id && { [field]: id }) },
    })
    if (!answer.ok) return setFaults(faultsOf(answer, FIELDS))
    setMade(answer)
    onMade()
  }
  return (
    <Dialog
      title={made ? t('The secret of {title}', { title: made.api_key.title }) : t('New key')}
      asks={made ? LOSES_SECRET : isChanged(NEW_KEY, values) && DISCARD}
      onClose={onClose}
    >
      {made ? (
        <Secret secret={made.secret} owner={made} onClose={onClose} />
      ) : (
        <Form onSubmit={create}>
          <TextField
            label={t('Title')}
            value={values.title}
            onInput={(title) => change({ title })}
            error={faults.title}
            required
            placeholder={t('Player on my site')}
          />
          <SelectField
            label={t('Kind')}
            value={type}
            options={TYPES.map(([kind, label]) => [kind, t(label)] as const)}
            onChange={(value) => {
              setType(value as KeyType)
              setBound('')
            }}
          />
          {type !== 'server' && <ScopeField type={type} value={bound} onChange={setBound} />}
          <KeyFields type={type} values={values} onChange={change} faults={faults} />
          <Message>{faults.other}</Message>
          <div class="actions end">
            <Cancel />
            <Button type="submit" kind="primary" disabled={values.title.trim() === ''}>
              {t('Create key')}
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
  return (
    <SelectField
      label={t('Opens')}
      value={value}
      options={[['', type === 'uploader' ? t('Any collection') : t('Everything')]]}
      groups={[
        { label: t('Collections'), options: optionsOf('collection_id', collections) },
        { label: t('Playlists'), options: type === 'uploader' ? [] : optionsOf('playlist_id', playlists) },
      ]}
      onChange={onChange}
    />
  )
}

interface Item {
  id: string
  title: string
  created_at: string
}

/** Returns an option for each item. Items with the same title also have the time of their creation and the start of their id. */
function optionsOf(field: string, items: readonly Item[]) {
  const counts = Map.groupBy(items, ({ title }) => title)
  return items.map(({ id, title, created_at }) => {
    const isOnly = counts.get(title)!.length === 1
    const name = isOnly ? title : `${title} · ${exactTime(created_at)} · ${id.slice(0, 8)}`
    return [`${field} ${id}`, name] as const
  })
}
