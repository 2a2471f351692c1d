import { announce, button, element } from './dom.ts'

/** A labelled value with a button that copies it. */
export function copyable(label: string, value: string): HTMLElement {
  const code = element('code', { attributes: { title: value } }, value)
  const copy = button('Copy', async () => {
    const copied = await navigator.clipboard.writeText(value).then(
      () => true,
      () => select(code),
    )
    copy.textContent = copied ? 'Copied' : 'Selected'
    announce(`${label} ${copied ? 'copied' : 'selected'}`)
    setTimeout(() => (copy.textContent = 'Copy'), 1500)
  })
  copy.setAttribute('aria-label', `Copy ${label}`)
  copy.classList.add('small')
  return element('div', { class: 'copyable' }, element('span', { class: 'label' }, label), code, copy)
}

/** Without access to the clipboard the text is at least selected. */
function select(node: Node): false {
  getSelection()?.selectAllChildren(node)
  return false
}
