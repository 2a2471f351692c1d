'use client'

import '@tonearm/elements/player'
import '@tonearm/elements/react'
import { useState } from 'react'

/** On the server, this component renders only the tag. The element starts in the browser. */
export function Player({ service, session }: { service: string; session: string }) {
  const [title, setTitle] = useState('')
  return (
    <>
      <tonearm-player
        base-url={service}
        play-session-id={session}
        ontonearm-trackchange={({ detail }) => setTitle(detail.track?.player_title ?? '')}
      />
      <p>Now: {title}</p>
    </>
  )
}
