import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

import { createClient } from '../../client/index.ts'
import { explain } from '../base/format.ts'
import { isRootKey } from '../base/session.ts'
import { t } from '../base/text.ts'
import { Button } from '../ui/controls/button.tsx'
import { Field } from '../ui/controls/field.tsx'
import { Form } from '../ui/controls/form.tsx'
import { placeToast } from '../ui/page/announce.ts'
import { Message } from '../ui/page/states.tsx'

/** Checks a key. Resolves to the reason why it cannot be used, or to an empty text. */
async function problemOf(api_key: string): Promise<string> {
  // The client of the studio would wait for another key after a 401.
  const client = createClient({ base_url: location.origin, api_key })
  const result = isRootKey(api_key)
    ? await client.get('/v1/system')
    : await client.get('/v1/collection', { query: { limit: 1 } })
  if (result.ok) return ''
  if (result.status === 401) return t('This key is not valid.')
  if (result.status === 403) return t('The studio needs a server key or the root key; this one is of another kind.')
  return explain(result)
}

interface Properties {
  /** Called with a key that the service accepts. */
  onKey: (key: string) => unknown
  /** The text below the field. */
  hint: string
  /** The heading. */
  children: ComponentChildren
  /** Another way out, next to the button. */
  other?: ComponentChildren
}

function SignInForm({ onKey, hint, children, other }: Properties) {
  const [key, setKey] = useState('')
  const [message, setMessage] = useState('')
  async function signIn() {
    setMessage('')
    const given = key.trim()
    const problem = await problemOf(given)
    if (problem) setMessage(problem)
    else await onKey(given)
  }
  return (
    <Form class="card" onSubmit={signIn}>
      {children}
      <Field label={t('Server key')} hint={hint}>
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
      {other}
    </Form>
  )
}

/** The page to sign in with a server key or the root key. */
export const SignIn = ({ onKey }: Pick<Properties, 'onKey'>) => (
  <main class="sign-in">
    <SignInForm
      onKey={onKey}
      hint={t(
        'npm start prints one, with a link that signs you in. The root key opens the system. Either stays in this tab.',
      )}
    >
      <img src="/cover/small.jpg" alt="" width="72" height="72" />
      <h1>{t('Tonearm studio')}</h1>
      <p class="soft">{t('Your music, its players and its keys.')}</p>
    </SignInForm>
  </main>
)

interface AgainProperties extends Pick<Properties, 'onKey'> {
  onSignOut: () => unknown
}

/** The form to sign in again after the service has refused the key. The page under it is kept. */
export function SignInAgain({ onKey, onSignOut }: AgainProperties) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    placeToast()
    element?.querySelector('input')?.focus()
    return () => {
      element?.close()
      placeToast()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class="sign-in"
      aria-labelledby="again-title"
      onCancel={(event) => event.preventDefault()}
      // Browsers close a dialog at the second Escape in a row, even if the page prevents it.
      onClose={() => dialog.current?.showModal()}
    >
      <SignInForm
        onKey={onKey}
        hint={t(
          'With a key of the same organization, your uploads and what you typed are kept. The key stays in this tab.',
        )}
        other={
          <Button kind="quiet" onClick={onSignOut}>
            {t('Sign out')}
          </Button>
        }
      >
        <h2 id="again-title">{t('Sign in again')}</h2>
        <p class="soft">{t('This key is no longer valid.')}</p>
      </SignInForm>
    </dialog>
  )
}
