import { useState } from 'preact/hooks'

import type { ApiKey } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { type Faults, faultsOf } from '../format.ts'
import { sitesOf } from '../sharing/sites.ts'
import { SitesField } from '../sharing/sites_field.tsx'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Cancel, Dialog, DISCARD } from '../ui/dialog.tsx'
import { Check, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { Message } from '../ui/states.tsx'
import { LimitFields, limitsOf, limitTextsOf } from './key_limits.tsx'

interface Properties {
  api_key: ApiKey
  onSaved: () => void
  onClose: () => void
}

const FIELDS = ['title', 'allowed_origins', 'max_bytes', 'max_tracks']

/** A dialog that changes the title, the sites and the limits of a key. */
export function EditKey({ api_key, onSaved, onClose }: Properties) {
  const client = useClient()
  const { id, type } = api_key
  const first = { title: api_key.title, sites: api_key.allowed_origins?.join(' ') ?? '', ...limitTextsOf(api_key) }
  const [values, setValues] = useState({ ...first, downloadable: api_key.is_downloadable })
  const [faults, setFaults] = useState<Faults>({})
  const change = (part: Partial<typeof values>) => setValues({ ...values, ...part })
  const { title, sites, downloadable } = values
  const isChanged =
    downloadable !== api_key.is_downloadable ||
    Object.entries(first).some(([name, text]) => Reflect.get(values, name) !== text)

  async function save() {
    const { origins, fault } = sitesOf(sites)
    if (fault) return setFaults({ allowed_origins: fault })
    const { limits, faults } = limitsOf(values)
    if (type === 'uploader' && faults) return setFaults(faults)
    const body = {
      title: title.trim(),
      ...(type !== 'server' && { allowed_origins: origins.length > 0 ? origins : null }),
      ...(type === 'player' && { is_downloadable: downloadable }),
      ...(type === 'uploader' && limits),
    }
    const answer = await client.put('/v1/api_key/{api_key_id}', { params: { api_key_id: id }, body })
    if (!answer.ok) return setFaults(faultsOf(answer, FIELDS))
    announce(`${answer.api_key.title} saved`)
    onSaved()
    onClose()
  }
  return (
    <Dialog title={`Edit ${api_key.title}`} asks={isChanged && DISCARD} onClose={onClose}>
      <Form onSubmit={save}>
        <TextField label="Title" value={title} onInput={(title) => change({ title })} error={faults.title} required />
        {type !== 'server' && (
          <SitesField value={sites} onInput={(sites) => change({ sites })} error={faults.allowed_origins} />
        )}
        {type === 'player' && (
          <Check
            label="Listeners may download"
            checked={downloadable}
            onChange={(downloadable) => change({ downloadable })}
          />
        )}
        {type === 'uploader' && <LimitFields value={values} onChange={change} faults={faults} />}
        <Message>{faults.other}</Message>
        <div class="actions end">
          <Cancel />
          <Button type="submit" kind="primary" disabled={title.trim() === ''}>
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
