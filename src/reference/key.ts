import { API_KEY } from '../studio/base/storage_keys.ts'
import { make, openDialog } from './dom.ts'

/** The API key of this tab, which the studio stores too. */
export const storedKey = () => sessionStorage.getItem(API_KEY)

const button = () => document.querySelector<HTMLElement>('#key-button')!
const label = (key: string | null) => (key ? `Key …${key.slice(-4)}` : 'Add key')

function keep(key: string): void {
  if (key) sessionStorage.setItem(API_KEY, key)
  else sessionStorage.removeItem(API_KEY)
  button().textContent = label(key)
}

/** Asks for a key. */
export function askForKey(): void {
  const input = make('input', {
    type: 'password',
    id: 'key',
    autocomplete: 'off',
    autofocus: true,
    value: storedKey() ?? '',
  })
  const form = make(
    'form',
    { method: 'dialog' },
    make('div', { className: 'field' }, make('label', { htmlFor: 'key' }, 'API key'), input),
    make('p', { className: 'hint' }, 'It is kept in this tab, and sent to this service only.'),
    make('div', { className: 'actions' }, make('button', { className: 'button primary' }, 'Use key')),
  )
  const dialog = openDialog('Your key', form)
  form.addEventListener('submit', () => keep(input.value.trim()))
  dialog.addEventListener('close', () => button().focus())
}

export function startKey(): void {
  button().textContent = label(storedKey())
  button().addEventListener('click', askForKey)
}
