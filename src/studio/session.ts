const STORED = 'tonearm.key'

/** The operator's key opens the system, and nothing of an organization; it looks as the operator likes. */
export const isRootKey = (key: string) => !/^ta_[spu]k_/.test(key)

/**
 * The server key, or the root key, this page works with. It comes from the address (`#key=…`, as `npm start` prints it) or from the form, is kept
 * for this tab only, and leaves the address at once so that it lands in no bookmark and no screenshot.
 */
export function takeKey(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('key')
  const stored = sessionStorage.getItem(STORED)
  if (given) {
    // A link from somebody else must not move this page into their organization unasked.
    const wanted = stored === null || stored === given || confirm('Sign in with the other key of this link?')
    if (wanted) keepKey(given)
    history.replaceState(null, '', location.pathname + location.search)
  }
  return sessionStorage.getItem(STORED)
}

export const keepKey = (key: string) => sessionStorage.setItem(STORED, key)
/** Whatever else is kept for this tab belongs to what the key opened. */
export const forgetKey = () => sessionStorage.clear()
