/** Makes a change inside of an element; should the focused control go by it, the focus goes on to `next`, and not back to the page. */
export function keepFocus(within: HTMLElement, change: () => void, next: () => void): void {
  const root = within.getRootNode()
  const focused = root instanceof ShadowRoot ? root.activeElement : null
  const concerned = focused !== null && within.contains(focused)
  change()
  if (concerned && !(focused.isConnected && focused.checkVisibility())) next()
}
