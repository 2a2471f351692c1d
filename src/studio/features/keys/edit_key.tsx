import { useState } from 'preact/hooks'

import type { ApiKey } from '../../base/api.ts'
import { type Faults, faultsOf } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { Button } from '../../ui/controls/button.tsx'
import { TextField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Cancel, Dialog, DISCARD } from '../../ui/page/dialog.tsx'
import { Message } from '../../ui/page/states.tsx'
import { confirmsSites } from '../sharing/sites_field.tsx'
import { FIELDS, isChanged, isOnPages, KeyFields, type KeyValues, settingsOf, valuesOf } from './key_fields.tsx'
import { KeyUse } from './key_use.tsx'

interface Properties {
  api_key: ApiKey
  onSaved: () => void
  onClose: () => void
}

/** A dialog that changes the title, the sites and the limits of a key. */
export function EditKey({ api_key, onSaved, onClose }: Properties) {
  const client = useClient()
  const { id, type } = api_key
  const before = valuesOf(api_key)
  const [values, setValues] = useState(before)
  const [faults, setFaults] = useState<Faults>({})
  const change = (part: Partial<KeyValues>) => setValues({ ...values, ...part })

  async function save() {
    const { settings, faults } = settingsOf(type, values)
    if (faults) return setFaults(faults)
    const opensSites = isOnPages(type) && api_key.allowed_origins && !settings.allowed_origins
    if (opensSites && !(await confirmsSites(t('Allow any site')))) return
    const answer = await client.put('/v1/api_key/{api_key_id}', { params: { api_key_id: id }, body: settings })
    if (!answer.ok) return setFaults(faultsOf(answer, FIELDS))
    announce(t('{title} saved', { title: answer.api_key.title }))
    onSaved()
    onClose()
  }
  return (
    <Dialog
      title={t('Edit {name}', { name: api_key.title })}
      asks={isChanged(before, values) && DISCARD}
      onClose={onClose}
    >
      <Form onSubmit={save}>
        <TextField
          label={t('Title')}
          value={values.title}
          onInput={(title) => change({ title })}
          error={faults.title}
          required
        />
        {type === 'uploader' && <KeyUse api_key={api_key} />}
        <KeyFields type={type} values={values} onChange={change} faults={faults} />
        <Message>{faults.other}</Message>
        <div class="actions end">
          <Cancel />
          <Button type="submit" kind="primary" disabled={values.title.trim() === ''}>
            {t('Save')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
