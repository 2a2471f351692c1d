import { API_KEY } from './storage_keys.ts'
import { t } from './text.ts'

/** Whether a key is the root key. The operator chooses it, so it does not have the prefix of the other keys. */
export const isRootKey = (key: string) => !/^ta_[spu]k_/.test(key)

/**
 * The key of this tab. It comes from the address (`#key=…`, as `npm start` prints it) or from the form, and is stored for this tab only. It is
 * removed from the address at once, so that it is in no bookmark or screenshot.
 */
export function takeKey(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('key')
  const stored = sessionStorage.getItem(API_KEY)
  if (given) {
    // A link from someone else must not switch this tab to their organization.
    const wanted = stored === null || stored === given || confirm(t('Sign in with the other key of this link?'))
    if (wanted) keepKey(given)
    history.replaceState(null, '', location.pathname + location.search)
  }
  return sessionStorage.getItem(API_KEY)
}

export const keepKey = (key: string) => sessionStorage.setItem(API_KEY, key)
/** Everything else in the session storage belongs to the organization of the key. */
export const forgetKey = () => sessionStorage.clear()
