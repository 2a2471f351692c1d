import { useEffect, useMemo, useState } from 'preact/hooks'

import { connect, REFUSED } from './api.ts'
import { ConnectionContext } from './data/connection.ts'
import { forgetJobs } from './data/jobs.ts'
import { forgetNames } from './data/naming.ts'
import { stopPlaying } from './data/now_playing.ts'
import { clearQueries } from './data/query.ts'
import { endUploads } from './data/uploads.ts'
import { forgetKey, isRootKey, keepKey, takeKey } from './session.ts'
import { Shell } from './shell.tsx'
import { SignIn } from './sign_in.tsx'
import { t } from './text.ts'
import { forgetDrafts } from './ui/edit.ts'
import { forgetScroll } from './ui/scroll.ts'

/** The whole page: the form to sign in, or the studio. */
export const root = () => <Root first={takeKey()} />

function Root({ first }: { first: string | null }) {
  const [key, setKey] = useState(first)
  const [problem, setProblem] = useState('')
  const connection = useMemo(
    () => (key === null ? null : { api_key: key, client: connect(key), is_root: isRootKey(key) }),
    [key],
  )

  function end(reason = '') {
    forgetKey()
    forgetScroll()
    if (!reason) forgetDrafts()
    endUploads()
    forgetJobs()
    forgetNames()
    stopPlaying()
    clearQueries()
    setProblem(reason)
    setKey(null)
  }
  useEffect(() => {
    const refused = (event: Event) => {
      if (key !== null && (event as CustomEvent<string>).detail === key) end(t('This key is no longer valid.'))
    }
    window.addEventListener(REFUSED, refused)
    return () => window.removeEventListener(REFUSED, refused)
  }, [key])

  if (!connection) {
    const accept = (given: string) => {
      keepKey(given)
      setKey(given)
    }
    return <SignIn key={problem} onKey={accept} problem={problem} />
  }
  return (
    <ConnectionContext.Provider value={connection}>
      <Shell onSignOut={() => end()} />
    </ConnectionContext.Provider>
  )
}
