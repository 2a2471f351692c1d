'use client'

import '@tonearm/elements/player'
import '@tonearm/elements/react'
import { useState } from 'react'

/** The server renders only the tag; the element starts in the browser. */
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
