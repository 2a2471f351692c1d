import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'

import { playSessions } from '../../../src/adapters/db/schema/play_sessions.ts'
import { aPlaySession, db, HOUR, ok, expectError, UNKNOWN_ID } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'

/** `GET /v1/play/{play_session_id}`: the public view of a session, which requires only the session's id. */

async function aSession() {
  const { key, collection_id } = await aTenant()
  await aReadyTrack(key, collection_id, { player_title: 'So What' })
  const body = { metadata: { plan: 'secret' }, organization_index: 'customer-7' }
  const created = await aPlaySession(key, 'collection', collection_id, body)
  return { key, created, path: `/v1/play/${created.play_session_id}` }
}

it("a public session returns the tracks and the first play view to any client that has its id, but not the creator's own fields", async () => {
  const { key, created, path } = await aSession()
  const publicView = await ok('GET', path)
  const creatorView = await ok('GET', `/v1/play_session/${created.play_session_id}`, { key })
  expect(publicView.tracks).toEqual(creatorView.tracks)
  expect(publicView.first_track.track).toEqual(creatorView.first_track!.track)
  const { id, variants, is_downloadable, expires_at } = creatorView.play_session
  expect(publicView.play_session).toEqual({ id, variants, is_downloadable, expires_at })
  expect(JSON.stringify(publicView)).not.toMatch(/secret|customer-7/)
})

it('a public session returns 410 for a day after its end, and then 404 like a session that never existed', async () => {
  const { created, path } = await aSession()
  const end = (expires_at: number) =>
    db.update(playSessions).set({ expires_at }).where(eq(playSessions.id, created.play_session_id))
  await end(Date.now() - 1000)
  await expectError(410, 'session_expired', 'GET', path)
  await end(Date.now() - 25 * HOUR)
  await expectError(404, 'not_found', 'GET', path)
  await expectError(404, 'not_found', 'GET', `/v1/play/${UNKNOWN_ID}`)
})
