const SHOWN_FOR = 3000
let timer = 0

/** The element of the page that has an id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`#${id} is missing from index.html`)
  return found
}

/** Says that something has happened: shown for a moment, and read by screen readers. */
export function announce(text: string): void {
  const announcer = byId('announcer')
  announcer.textContent = text
  announcer.classList.add('shown')
  clearTimeout(timer)
  timer = setTimeout(() => announcer.classList.remove('shown'), SHOWN_FOR)
}
