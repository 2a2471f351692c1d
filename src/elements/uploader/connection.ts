import { type Client, createClient } from '../../client/client.ts'
import type { Failure } from '../../client/types.ts'

/** Where files go, and with which key. */
export interface Place {
  base_url: string
  api_key: string
  collection_id: string
  upload_session_id: string
}

/** The service, and the upload session that is open there. */
export interface Connection {
  client: Client
  /** The id of a session with time left: the page's own, or one that is opened when the first file needs it. */
  session: () => Promise<{ ok: true; upload_session_id: string } | Failure>
  /** Whether sessions are opened here, so that an ended one is no obstacle. */
  renews: boolean
  /** The session has ended; the next file opens another. */
  forget: (upload_session_id: string) => void
}

/** A session this close to its end is not begun to be used, in milliseconds. */
const MARGIN = 60_000

export function connect({ base_url, api_key, collection_id, upload_session_id }: Place): Connection {
  const client = createClient({ base_url, api_key })
  if (upload_session_id) {
    return { client, session: async () => ({ ok: true, upload_session_id }), renews: false, forget: () => {} }
  }
  let current: { id: string; ends: number } | null = null
  let opening: ReturnType<typeof open> | null = null

  async function open() {
    const asked = Date.now()
    const made = await client.post('/v1/upload_session', { body: { collection_id } })
    // By this machine's clock: sessions last as long as their first URLs do, an hour (docs/architecture.md#uploads).
    if (made.ok) current = { id: made.upload_session_id, ends: asked + 3600_000 - MARGIN }
    return made
  }
  return {
    client,
    renews: true,
    async session() {
      if (current && current.ends > Date.now()) return { ok: true, upload_session_id: current.id }
      // Several files may ask at once.
      opening ??= open().finally(() => (opening = null))
      return opening
    },
    forget(id) {
      if (current?.id === id) current = null
    },
  }
}
