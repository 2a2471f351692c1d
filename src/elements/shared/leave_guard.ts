const warn = (event: BeforeUnloadEvent) => event.preventDefault()

/**
 * Returns a function that turns a guard on or off. While it is on, the browser asks the user before leaving the page. The listener is
 * removed while the guard is off, because it excludes the page from the back/forward cache.
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
