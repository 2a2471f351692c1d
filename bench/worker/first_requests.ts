import { randomBytes } from 'node:crypto'

import { createCollection, createReadyTrack, createSession, createSigner, createTenant, viewPath } from './seed.ts'
import type { System } from './system.ts'

/** A request that an isolate may get first. It is a `POST` if it has a body; each isolate gets a new one. */
export interface FirstRequest {
  path: string
  headers?: Record<string, string>
  bodyOf?: () => string
}

/** Browsers send this header for a page and for a frame, which then carry a session (docs/decisions/0083). */
const shownIn = (place: 'document' | 'iframe') => ({ 'sec-fetch-dest': place })

/** Creates what each kind of a listener's request needs, and returns the requests. */
export async function firstRequestsOf(system: System) {
  const tenant = await createTenant(system)
  const collection_id = await createCollection(system, tenant)
  const track_id = await createReadyTrack(system, tenant, collection_id, 1)
  const session_id = await createSession(system, tenant, 'collection', collection_id)
  const shared = { scope: 'collection', id: collection_id }
  const { share } = await system.call<{ share: { slug: string } }>('POST', '/v1/share', tenant.key, shared)
  const token = await (await createSigner(system, tenant, collection_id))()
  const { heard_token } = await system.call<{ heard_token: string }>('GET', `/v1/play/${session_id}`)
  const report = () =>
    JSON.stringify({
      visit: randomBytes(8).toString('hex'),
      sequence: 1,
      age: 5,
      first: 0,
      source: 'example.com',
      listens: [{ track: track_id, ranges: [[0, 4]] }],
    })
  return {
    'play view': { path: viewPath(session_id, track_id) },
    signed: { path: viewPath(token, track_id) },
    session: { path: `/v1/play/${session_id}` },
    embed: { path: `/embed/${session_id}`, headers: shownIn('iframe') },
    share: { path: `/s/${share.slug}`, headers: shownIn('document') },
    cover: { path: '/cover/KB-210-0123456789abcdef/regular.svg' },
    report: { path: `/v1/heard/${heard_token}`, headers: { 'content-type': 'text/plain' }, bodyOf: report },
  } satisfies Record<string, FirstRequest>
}
