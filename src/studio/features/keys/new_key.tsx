import { useState } from 'preact/hooks'

import type { ApiKey, KeyType } from '../../base/api.ts'
import { type Faults, faultsOf } from '../../base/format.ts'
import { t, text } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { Cancel, Dialog, DISCARD } from '../../ui/page/dialog.tsx'
import { Message } from '../../ui/page/states.tsx'
import { confirmsSites } from '../sharing/sites_field.tsx'
import { FIELDS, isChanged, isOnPages, KeyFields, type KeyValues, NEW_KEY, settingsOf } from './key_fields.tsx'
import { type KeyScope, ScopeField } from './scope_field.tsx'
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
  const [scope, setScope] = useState<KeyScope | null>(null)
  const [values, setValues] = useState(NEW_KEY)
  const [made, setMade] = useState<Made>()
  const [faults, setFaults] = useState<Faults>({})
  const change = (part: Partial<KeyValues>) => setValues({ ...values, ...part })

  async function create() {
    const { settings, faults } = settingsOf(type, values)
    const opens = type !== 'server' && !scope ? { opens: t('Choose what the key opens.') } : {}
    if (faults || opens.opens) return setFaults({ ...faults, ...opens })
    setFaults({})
    if (isOnPages(type) && !settings.allowed_origins && !(await confirmsSites())) return
    const answer = await client.post('/v1/api_key', { body: { ...settings, type, ...scope?.fields } })
    if (!answer.ok) return setFaults(faultsOf(answer, FIELDS))
    setMade(answer)
    onMade()
  }
  return (
    <Dialog
      title={made ? t('The secret of {title}', { title: made.api_key.title }) : t('New key')}
      asks={made ? LOSES_SECRET : (scope !== null || isChanged(NEW_KEY, values)) && DISCARD}
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
              setScope(null)
            }}
          />
          {type !== 'server' && (
            <ScopeField
              type={type}
              value={scope}
              onChange={(chosen) => {
                setScope(chosen)
                setFaults({ ...faults, opens: '' })
              }}
              error={faults.opens}
            />
          )}
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
