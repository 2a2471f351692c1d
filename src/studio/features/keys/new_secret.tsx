import { useState } from 'preact/hooks'

import type { Failure } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { t, text } from '../../base/text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { Cancel, Dialog } from '../../ui/page/dialog.tsx'
import { Message } from '../../ui/page/states.tsx'
import { LOSES_SECRET, Secret, type SecretOwner } from './secret.tsx'

/** Seconds for which the old secret remains valid. */
const GRACE = [
  ['0', text('at once')],
  ['3600', text('after 1 hour')],
  ['86400', text('after 24 hours')],
  ['604800', text('after 7 days')],
] as const

interface Properties {
  title: string
  owner: SecretOwner
  rotate: (grace_seconds: number) => Promise<{ ok: true; secret: string } | Failure>
  onClose: () => void
}

/** A dialog that gives a key or a webhook a new secret and shows it once. */
export function NewSecret({ title, owner, rotate, onClose }: Properties) {
  // The default of the API. It is longer for webhooks, because their receivers are changed by hand.
  const [grace, setGrace] = useState('api_key' in owner ? '3600' : '86400')
  const [secret, setSecret] = useState('')
  const [problem, setProblem] = useState('')
  async function make() {
    const answer = await rotate(Number(grace))
    setProblem(answer.ok ? '' : explain(answer))
    if (answer.ok) setSecret(answer.secret)
  }
  return (
    <Dialog title={t('A new secret for {title}', { title })} asks={secret !== '' && LOSES_SECRET} onClose={onClose}>
      {secret ? (
        <Secret secret={secret} owner={owner} onClose={onClose} />
      ) : (
        <Form onSubmit={make}>
          <SelectField
            label={t('The old secret ends')}
            value={grace}
            options={GRACE.map(([seconds, label]) => [seconds, t(label)] as const)}
            onChange={setGrace}
          />
          <Message>{problem}</Message>
          <div class="actions end">
            <Cancel />
            <Button type="submit" kind="primary">
              {t('Make new secret')}
            </Button>
          </div>
        </Form>
      )}
    </Dialog>
  )
}
