import { useState } from 'preact/hooks'

import { connect } from './api.ts'
import { explain } from './format.ts'
import { isRootKey } from './session.ts'
import { t } from './text.ts'
import { Button } from './ui/button.tsx'
import { Field } from './ui/field.tsx'
import { Form } from './ui/form.tsx'
import { Message } from './ui/states.tsx'

/** The form to sign in with a server key or the root key. Calls `onKey` with a key that the service accepts. */
export function SignIn({ onKey, problem = '' }: { onKey: (key: string) => void; problem?: string | undefined }) {
  const [key, setKey] = useState('')
  const [message, setMessage] = useState(problem)
  async function signIn() {
    setMessage('')
    const given = key.trim()
    const client = connect(given)
    const result = isRootKey(given)
      ? await client.get('/v1/system')
      : await client.get('/v1/collection', { query: { limit: 1 } })
    if (result.ok) onKey(given)
    else if (result.status === 401) setMessage(t('This key is not valid.'))
    else if (result.status === 403)
      setMessage(t('The studio needs a server key or the root key; this one is of another kind.'))
    else setMessage(explain(result))
  }
  return (
    <main class="sign-in">
      <Form class="card" onSubmit={signIn}>
        <img src="/cover/small.jpg" alt="" width="72" height="72" />
        <h1>{t('Tonearm studio')}</h1>
        <p class="soft">{t('Your music, its players and its keys.')}</p>
        <Field
          label={t('Server key')}
          hint={t(
            'npm start prints one, with a link that signs you in. The root key opens the system. Either stays in this tab.',
          )}
        >
          {(id, described) => (
            <input
              id={id}
              aria-describedby={described}
              type="password"
              required
              autocomplete="off"
              placeholder="ta_sk_…"
              spellcheck={false}
              value={key}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
          )}
        </Field>
        <Message>{message}</Message>
        <Button type="submit" kind="primary">
          {t('Sign in')}
        </Button>
      </Form>
    </main>
  )
}
