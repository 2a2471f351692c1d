/** Milliseconds for which a message is shown, and one that offers an action. */
const SHOWN_FOR = 3000
const OFFERED_FOR = 8000

/** An action that a message offers, such as Undo. */
export interface Offer {
  label: string
  run: () => unknown
}

let timer: ReturnType<typeof setTimeout> | undefined
let offer: Offer | null = null

/** Returns the element of the page with an id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`#${id} is missing from index.html`)
  return found
}

/** Moves the message into the topmost dialog. A modal dialog covers everything outside it, and blocks clicks on it. */
export function placeToast(): void {
  const dialogs = document.querySelectorAll('dialog:modal')
  const place = [...dialogs].at(-1) ?? document.body
  place.append(byId('toast'))
}

/** Shows a message for a moment, with a button for the action that it offers. Screen readers read it. */
export function announce(text: string, offered: Offer | null = null): void {
  offer = offered
  byId('announcer').textContent = text
  const button = byId('offer')
  button.textContent = offered?.label ?? ''
  button.hidden = !offered
  byId('toast').classList.add('shown')
  hideAfter(offered ? OFFERED_FOR : SHOWN_FOR)
}

/** Runs the action that the current message offers. Returns whether there is one. */
export function takeOffer(): boolean {
  const taken = offer
  offer = null
  if (!taken) return false
  hide()
  void taken.run()
  return true
}

/** Hides the message that offers an action, if it is still shown. */
export function withdraw(offered: Offer): void {
  if (offered === offer) hide()
}

function hideAfter(delay: number): void {
  clearTimeout(timer)
  timer = setTimeout(hide, delay)
}

function hide(): void {
  offer = null
  byId('toast').classList.remove('shown')
  byId('offer').hidden = true
}

/** Makes the button of messages work. A message stays while the pointer or the focus is on it. Must be called once. */
export function prepareOffers(): void {
  const toast = byId('toast')
  byId('offer').addEventListener('click', takeOffer)
  for (const name of ['pointerenter', 'focusin']) toast.addEventListener(name, () => clearTimeout(timer))
  for (const name of ['pointerleave', 'focusout']) toast.addEventListener(name, () => hideAfter(SHOWN_FOR))
}
