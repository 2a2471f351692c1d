import { createClient } from '@tonearm/client'

import { Player } from './player'

/** Each visitor gets a session of their own, so the page is rendered for each. */
export const dynamic = 'force-dynamic'

/** Runs on the server only: the key never reaches a browser. */
export default async function Page() {
  const { TONEARM_URL: service = '', TONEARM_KEY: api_key = '', COLLECTION_ID: collection_id = '' } = process.env
  const client = createClient({ base_url: service, api_key })
  const session = await client.post('/v1/play_session/{scope}', {
    params: { scope: 'collection' },
    body: { collection_id },
  })
  return (
    <main>
      <h1>Our new record</h1>
      {session.ok ? <Player service={service} session={session.play_session_id} /> : <p>Not to be heard right now.</p>}
    </main>
  )
}
