const SHOWN_FOR = 3000
let timer = 0

/** Returns the element of the page with an id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`#${id} is missing from index.html`)
  return found
}

/** Shows a message for a moment. Screen readers read it. */
export function announce(text: string): void {
  const announcer = byId('announcer')
  announcer.textContent = text
  announcer.classList.add('shown')
  clearTimeout(timer)
  timer = setTimeout(() => announcer.classList.remove('shown'), SHOWN_FOR)
}
