const warn = (event: BeforeUnloadEvent) => event.preventDefault()

/**
 * Makes the browser ask before the page is left, while it is needed. The listener is removed otherwise, because it excludes the page from
 * the back/forward cache.
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
