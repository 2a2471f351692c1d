import type { Client, Collection } from './api.ts'
import { element } from './dom.ts'
import { explain } from './format.ts'

/** Chooses a collection or makes a new one. Calls back with the chosen one's id, at once for the first. */
export function collectionBar(
  client: Client,
  collections: Collection[],
  onChoose: (collection_id: string) => void,
): HTMLElement {
  const select = element('select', { attributes: { id: 'collection' } })
  const name = element('input', {
    attributes: {
      'aria-label': 'Name of the new collection',
      placeholder: 'New collection',
      maxlength: '255',
      required: '',
    },
  })
  const create = element('button', { attributes: { type: 'submit' } }, 'Create')
  const error = element('p', { class: 'error', attributes: { role: 'alert' } })
  const form = element('form', { class: 'line' }, name, create)

  function add({ id, title }: Collection) {
    select.append(element('option', { attributes: { value: id } }, title))
  }
  async function make(title: string) {
    const created = await client.post('/v1/collection', { body: { title } })
    if (!created.ok) return void (error.textContent = explain(created))
    error.textContent = ''
    name.value = ''
    add(created.collection)
    select.value = created.collection_id
    onChoose(created.collection_id)
  }
  select.addEventListener('change', () => onChoose(select.value))
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    create.disabled = true
    void make(name.value.trim()).finally(() => (create.disabled = false))
  })

  collections.forEach(add)
  if (collections[0]) onChoose(collections[0].id)
  const chosen = element(
    'div',
    { class: 'line' },
    element('label', { attributes: { for: 'collection' } }, 'Collection'),
    select,
  )
  return element('div', { class: 'collection-bar' }, chosen, form, error)
}
