const warn = (event: BeforeUnloadEvent) => event.preventDefault()

/**
 * The browser asks before the page is left while something would be lost. The listener is there only then: with one, pages cannot be
 * kept for a quick way back (bfcache).
 */
export function createLeaveGuard() {
  let on = false
  return (needed: boolean) => {
    if (needed === on) return
    on = needed
    if (on) addEventListener('beforeunload', warn)
    else removeEventListener('beforeunload', warn)
  }
}
