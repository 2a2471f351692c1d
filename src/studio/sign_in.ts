import { connect, listCollections } from './api.ts'
import { element } from './dom.ts'
import { explain } from './format.ts'

/** The form that asks for a server key; calls back with one that the service accepts. */
export function signInForm(onKey: (key: string) => void, problem = ''): HTMLElement {
  const input = element('input', {
    attributes: {
      id: 'key',
      type: 'password',
      required: '',
      autocomplete: 'off',
      placeholder: 'ta_sk_…',
      spellcheck: 'false',
    },
  })
  const submit = element('button', { class: 'primary', attributes: { type: 'submit' } }, 'Sign in')
  const error = element('p', { class: 'error', attributes: { role: 'alert' } }, problem)
  const form = element(
    'form',
    { class: 'card sign-in' },
    element('h1', {}, 'Sign in'),
    element('label', { attributes: { for: 'key' } }, 'Server key'),
    element('div', { class: 'line' }, input, submit),
    error,
    element('p', { class: 'hint' }, 'npm start prints it, with a link that signs you in. It stays in this tab.'),
  )
  async function signIn() {
    submit.disabled = true
    const key = input.value.trim()
    const result = await listCollections(connect(key))
    submit.disabled = false
    if (result.ok) onKey(key)
    else error.textContent = result.status === 401 ? 'This key is not valid.' : explain(result)
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void signIn()
  })
  return form
}
