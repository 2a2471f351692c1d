/** Creates an element with properties and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

/** Opens a new modal dialog with a title and a button that closes it. It is removed when it is closed. */
export function openDialog(title: string, ...content: (Node | string)[]): HTMLDialogElement {
  const heading = make('h2', { id: 'dialog-title' }, title)
  const close = make('button', { type: 'button', className: 'button quiet small' }, 'Close')
  const dialog = make(
    'dialog',
    {},
    make('header', {}, heading, close),
    make('div', { className: 'dialog-body' }, ...content),
  )
  dialog.setAttribute('aria-labelledby', heading.id)
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close())
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}
