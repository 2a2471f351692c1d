import { useEffect, useMemo, useState } from 'preact/hooks'

import { connect, REFUSED } from './api.ts'
import { forgetScroll } from './scroll.ts'
import { forgetKey, isRootKey, keepKey, takeKey } from './session.ts'
import { Shell } from './shell.tsx'
import { SignIn } from './sign_in.tsx'
import { ConnectionContext } from './state/client.ts'
import { stopPlaying } from './state/now_playing.ts'
import { endUploads } from './state/uploads.ts'
import { forgetViews } from './state/views.ts'

/** The whole page: the form that asks for a key, or the studio that the key opens. */
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
    endUploads()
    stopPlaying()
    forgetViews(true)
    setProblem(reason)
    setKey(null)
  }
  useEffect(() => {
    const refused = (event: Event) => {
      if (key !== null && (event as CustomEvent<string>).detail === key) end('This key is not valid any more.')
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
