import { useState } from 'preact/hooks'

import type { Failure } from '../../base/api.ts'
import { type Faults, faultsOf } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { Button } from '../controls/button.tsx'
import { TextField } from '../controls/field.tsx'
import { Form } from '../controls/form.tsx'
import { Cancel, Dialog, DISCARD } from './dialog.tsx'
import { Message } from './states.tsx'

interface Properties {
  title: string
  /** Resolves to the failure, if there is one. */
  make: (title: string) => Promise<Failure | undefined>
  onClose: () => void
}

/** A dialog that asks for the title of a new collection or playlist. */
export function CreateDialog({ title, make, onClose }: Properties) {
  const [name, setName] = useState('')
  const [faults, setFaults] = useState<Faults>({})
  const given = name.trim()
  async function create() {
    const failure = await make(given)
    setFaults(failure ? faultsOf(failure, ['title']) : {})
  }
  return (
    <Dialog title={title} asks={given !== '' && DISCARD} onClose={onClose}>
      <Form onSubmit={create}>
        <TextField label={t('Title')} value={name} onInput={setName} error={faults.title} required />
        <Message>{faults.other}</Message>
        <div class="actions end">
          <Cancel />
          <Button type="submit" kind="primary" disabled={given === ''}>
            {t('Create')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
