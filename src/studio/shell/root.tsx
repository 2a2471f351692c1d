import { useEffect, useMemo, useState } from 'preact/hooks'

import { createClient } from '../../client/index.ts'
import { connect, REFUSED, renewKey } from '../base/api.ts'
import { forgetKey, isRootKey, keepKey, takeKey } from '../base/session.ts'
import { ConnectionContext } from '../data/connection.ts'
import { forgetJobs } from '../data/jobs.ts'
import { forgetNames } from '../data/naming.ts'
import { stopPlaying } from '../data/now_playing.ts'
import { isOfThisOrganization } from '../data/organization.ts'
import { clearQueries, invalidate } from '../data/query.ts'
import { endUploads, renewUploads } from '../data/uploads.ts'
import { forgetDrafts } from '../ui/edit/drafts.ts'
import { forgetScroll } from '../ui/page/scroll.ts'
import { Shell } from './shell.tsx'
import { SignIn, SignInAgain } from './sign_in.tsx'

/** The whole page: the form to sign in, or the studio. */
export const root = () => <Root first={takeKey()} />

function Root({ first }: { first: string | null }) {
  const [key, setKey] = useState(first)
  const [isRefused, setRefused] = useState(false)
  const connection = useMemo(
    () => (key === null ? null : { api_key: key, client: connect(key), is_root: isRootKey(key) }),
    [key],
  )

  function end() {
    if (key !== null) renewKey(key, null)
    forgetKey()
    forgetScroll()
    forgetDrafts()
    endUploads()
    forgetJobs()
    forgetNames()
    stopPlaying()
    clearQueries()
    setRefused(false)
    setKey(null)
  }
  function accept(given: string) {
    keepKey(given)
    setKey(given)
  }
  /** Continues with another key, or signs out first if it belongs to another organization. */
  async function acceptAgain(given: string) {
    if (key === null) return
    const isSame =
      isRootKey(given) === isRootKey(key) &&
      (isRootKey(given) || (await isOfThisOrganization(createClient({ base_url: location.origin, api_key: given }))))
    if (!isSame) {
      end()
      return accept(given)
    }
    renewKey(key, given)
    renewUploads(given)
    setRefused(false)
    accept(given)
    // Reads that have failed meanwhile are repeated.
    invalidate()
  }
  useEffect(() => {
    const refused = (event: Event) => {
      if (key !== null && (event as CustomEvent<string>).detail === key) setRefused(true)
    }
    window.addEventListener(REFUSED, refused)
    return () => window.removeEventListener(REFUSED, refused)
  }, [key])

  if (!connection) return <SignIn onKey={accept} />
  return (
    <ConnectionContext.Provider value={connection}>
      <Shell onSignOut={end} />
      {isRefused && <SignInAgain onKey={acceptAgain} onSignOut={end} />}
    </ConnectionContext.Provider>
  )
}
