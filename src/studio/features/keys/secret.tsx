import { useLayoutEffect, useRef, useState } from 'preact/hooks'

import { createClient } from '../../../client/index.ts'
import type { ApiKey } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { t, text } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Copyable } from '../../ui/page/copyable.tsx'
import { keyCode, webhookCode } from './secret_code.ts'

/** The question before a dialog with a secret closes. */
export const LOSES_SECRET = {
  title: text('Have you kept the secret?'),
  text: text('It cannot be shown again.'),
  action: text('Close'),
  cancel: text('Back to the secret'),
}

/** The key or the webhook of a secret. */
export type SecretOwner = { api_key: ApiKey } | { webhook_endpoint_id: string }

interface Properties {
  secret: string
  owner: SecretOwner
  onClose: () => void
}

/** Shows a new secret, code that uses it, and a button that tries it. */
export function Secret({ secret, owner, onClose }: Properties) {
  // The button that created the secret is gone, and with it the focus. The focus moves before the paint, so that no key press reaches another button.
  const message = useRef<HTMLParagraphElement>(null)
  useLayoutEffect(() => message.current?.focus(), [])
  // A signing key calls nothing.
  const isSigning = 'api_key' in owner && owner.api_key.type === 'signing'
  const { label, code } = 'api_key' in owner ? keyCode(location.origin, secret, owner.api_key) : webhookCode(secret)
  return (
    <>
      <p role="status" tabIndex={-1} ref={message}>
        {t('This is the only time that the secret is shown. Store it in a safe place.')}
      </p>
      <Copyable label={t('Secret')} value={secret} />
      <Copyable label={t(label)} value={code} />
      <div class="actions end">
        {!isSigning && <TestSecret secret={secret} owner={owner} />}
        <Button kind="primary" onClick={onClose}>
          {t('Done')}
        </Button>
      </div>
    </>
  )
}

/** Sends a request with the new secret, or a test event that is signed with it, and shows the outcome. */
function TestSecret({ secret, owner }: Omit<Properties, 'onClose'>) {
  const client = useClient()
  const [outcome, setOutcome] = useState<{ isGood: boolean; text: string } | null>(null)
  async function test() {
    if ('api_key' in owner) {
      const answer = await createClient({ base_url: location.origin, api_key: secret }).get('/v1/limits')
      return setOutcome(
        answer.ok ? { isGood: true, text: t('The key works.') } : { isGood: false, text: explain(answer) },
      )
    }
    const answer = await client.post('/v1/webhook_endpoint/{webhook_endpoint_id}/test', {
      params: { webhook_endpoint_id: owner.webhook_endpoint_id },
    })
    setOutcome(
      answer.ok
        ? { isGood: true, text: t('A test event is being sent. The page of the webhook shows the response.') }
        : { isGood: false, text: explain(answer) },
    )
  }
  return (
    <>
      <span class={outcome?.isGood === false ? 'error test-outcome' : 'soft test-outcome'} role="status">
        {outcome?.text}
      </span>
      <Button onClick={test}>{t('Test it')}</Button>
    </>
  )
}
