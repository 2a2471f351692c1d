import '@tonearm/elements/player'
import type { TonearmPlayer } from '@tonearm/elements/player'
import '@tonearm/elements/react'
import { useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'

/**
 * Set these variables in .env: VITE_TONEARM_URL, the URL of your Tonearm service, and VITE_PLAY_SESSION_ID, the id of a play session that
 * your server created.
 */
const { VITE_TONEARM_URL: service, VITE_PLAY_SESSION_ID: session } = import.meta.env as Record<string, string>

function Record() {
  const player = useRef<TonearmPlayer>(null)
  const [title, setTitle] = useState('')
  const [track, setTrack] = useState(1)
  return (
    <main>
      <h1>Our new record</h1>
      <tonearm-player
        ref={player}
        base-url={service}
        play-session-id={session}
        track={track}
        theme="light"
        no-memory
        ontonearm-trackchange={({ detail }) => setTitle(detail.track?.player_title ?? '')}
        ontonearm-ended={({ detail }) => detail.last && setTrack(1)}
      />
      <p>Now: {title}</p>
      <button onClick={() => void player.current?.play()}>Listen</button>
    </main>
  )
}

createRoot(document.querySelector('#root')!).render(<Record />)
