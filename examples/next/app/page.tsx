import { createClient } from '@tonearm/client'

import { Player } from './player'

/** Renders the page for each request, because every visitor gets a separate session. */
export const dynamic = 'force-dynamic'

/** This component runs only on the server, so the key is never sent to a browser. */
export default async function Page() {
  const { TONEARM_URL: service = '', TONEARM_KEY: api_key = '', COLLECTION_ID: collection_id = '' } = process.env
  const client = createClient({ base_url: service, api_key })
  const session = await client.post('/v1/play_session/collection', { body: { collection_id } })
  return (
    <main>
      <h1>Our new record</h1>
      {session.ok ? <Player service={service} session={session.play_session_id} /> : <p>Not available right now.</p>}
    </main>
  )
}
