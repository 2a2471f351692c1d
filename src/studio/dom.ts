type Child = Node | string | null | undefined

interface Properties {
  class?: string
  attributes?: Record<string, string>
  onclick?: () => void
}

/** Makes an element. Text goes in as text nodes only, so nothing that a user typed can become markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { class: className, attributes = {}, onclick }: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  if (className) made.className = className
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  if (onclick) made.addEventListener('click', onclick)
  made.append(...children.filter((child) => child !== null && child !== undefined))
  return made
}

/** A button that runs an asynchronous action and cannot be pressed again meanwhile. */
export function button(label: string, action: () => void | Promise<void>, className = ''): HTMLButtonElement {
  const made = element('button', { class: className, attributes: { type: 'button' } }, label)
  made.addEventListener('click', () => {
    made.disabled = true
    void Promise.resolve(action()).finally(() => (made.disabled = false))
  })
  return made
}

/** A button that opens the file chooser; keyboard and screen readers get a real button. */
export function fileButton(
  label: string,
  accept: string,
  multiple: boolean,
  onFiles: (files: File[]) => void,
  className = '',
) {
  const input = element('input', { attributes: { type: 'file', accept, hidden: '', 'aria-label': label } })
  input.multiple = multiple
  input.addEventListener('change', () => {
    onFiles([...(input.files ?? [])])
    input.value = ''
  })
  return element(
    'span',
    { class: 'file-button' },
    button(label, () => input.click(), className),
    input,
  )
}

/** Tells screen readers something that sighted people see happen. */
export function announce(text: string): void {
  const announcer = document.querySelector('#announcer')
  if (announcer) announcer.textContent = text
}

/** The element of the page that has an id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`#${id} is missing from index.html`)
  return found
}
