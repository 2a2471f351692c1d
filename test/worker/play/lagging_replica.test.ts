import { createExecutionContext } from 'cloudflare:test'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { playSessions } from '../../../src/adapters/db/schema/play_sessions.ts'
import worker from '../../../src/index.ts'
import { aPlaySession, aWaitingTrack, call, db, HOUR, ok } from '../support/api.ts'
import { aTenant, aTenantWithTrack, storeFiles } from '../support/fixtures.ts'
import { laggingBindings, updateReplica } from '../support/lagging_replica.ts'
import { apiKeyIn, aShare, openPage } from '../support/share_visitor.ts'

/** Requests of listeners while the nearest replica of the database lags behind the primary (docs/decisions/0075). */

let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id, track_id } = await aTenantWithTrack())
  await storeFiles(track_id)
})

const sessionOf = async () =>
  (await aPlaySession(key, 'collection', collection_id, { is_downloadable: true, variants: ['mp3-128'] }))
    .play_session_id

/** Requests a path and returns the status, and how often the primary was asked. */
async function visit(path: string) {
  const { bindings, primaryCalls } = laggingBindings()
  const request = new Request(`https://tonearm.test${path}`, { redirect: 'manual' })
  const response = await worker.fetch(request, bindings, createExecutionContext())
  await response.arrayBuffer()
  return { status: response.status, asksPrimary: primaryCalls() > 0 }
}

const pathsOf = (play_session_id: string) => ({
  view: `/v1/play/${play_session_id}/${track_id}`,
  session: `/v1/play/${play_session_id}`,
  download: `/v1/play/${play_session_id}/${track_id}/mp3-128/download`,
  'all downloads': `/v1/play/${play_session_id}/download`,
  zip: `/zip/${play_session_id}`,
  embed: `/embed/${play_session_id}`,
  oembed: `/oembed?url=${encodeURIComponent(`https://tonearm.test/embed/${play_session_id}`)}`,
})
const shareOf = (slug: string) => ({
  page: `/s/${slug}`,
  frame: `/embed/s/${slug}`,
  card: `/s/${slug}/cover.jpg`,
  oembed: `/oembed?url=${encodeURIComponent(`https://tonearm.test/s/${slug}`)}`,
})
const visitAll = async (paths: Record<string, string>) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(paths).map(async ([name, path]) => {
        const { status, asksPrimary } = await visit(path)
        return [name, `${status}${asksPrimary ? ' from the primary' : ''}`]
      }),
    ),
  ) as Record<string, string>
const everywhere = (paths: object, answer: string) =>
  Object.fromEntries(Object.keys(paths).map((name) => [name, answer]))

describe('a replica that lags behind', () => {
  it('is asked alone when it has the rows', async () => {
    const { slug } = await aShare(key, collection_id)
    const paths = pathsOf(await sessionOf())
    await updateReplica()
    expect(await visitAll(paths)).toEqual(everywhere(paths, '200'))
    expect(await visitAll(shareOf(slug))).toEqual({ ...everywhere(shareOf(slug), '200'), card: '302' })
  })

  it('does not hide what was created since', async () => {
    await updateReplica()
    const { slug } = await aShare(key, collection_id)
    const paths = pathsOf(await sessionOf())
    expect(await visitAll(paths)).toEqual(everywhere(paths, '200 from the primary'))
    const found = everywhere(shareOf(slug), '200 from the primary')
    expect(await visitAll(shareOf(slug))).toEqual({ ...found, card: '302 from the primary' })
  })

  it('does not hide that a track became ready', async () => {
    const { session: _session, embed: _embed, oembed: _oembed, ...paths } = pathsOf(await sessionOf())
    const [row] = await db.select().from(tracks).where(eq(tracks.id, track_id))
    await db.update(tracks).set({ files: null, status: 'processing' }).where(eq(tracks.id, track_id))
    await updateReplica()
    expect(await visitAll(paths)).toEqual(everywhere(paths, '409 from the primary'))
    await db.update(tracks).set({ files: row!.files, status: 'ready' }).where(eq(tracks.id, track_id))
    expect(await visitAll(paths)).toEqual(everywhere(paths, '200 from the primary'))
  })

  it('does not end what was extended since', async () => {
    const play_session_id = await sessionOf()
    const share = await aShare(key, collection_id)
    const paths = { ...pathsOf(play_session_id) }
    const endAt = (expires_at: number) =>
      db.update(playSessions).set({ expires_at }).where(eq(playSessions.id, play_session_id))
    const { expires_at } = (await db.select().from(playSessions).where(eq(playSessions.id, play_session_id)).get())!
    await endAt(Date.now() - HOUR)
    await updateReplica()
    expect(await visitAll(paths)).toEqual({
      ...everywhere(paths, '410 from the primary'),
      oembed: '404 from the primary',
    })
    await endAt(expires_at)
    expect(await visitAll(paths)).toEqual(everywhere(paths, '200 from the primary'))
    // The slug moves to the share again, while the replica still has it as retired.
    await ok('PUT', `/v1/share/${share.id}`, { key, body: { slug: 'moved' } })
    await updateReplica()
    await ok('PUT', `/v1/share/${share.id}`, { key, body: { slug: share.slug } })
    const found = everywhere(shareOf(share.slug), '200 from the primary')
    expect(await visitAll(shareOf(share.slug))).toEqual({ ...found, card: '302 from the primary' })
  })

  it('may show the page of a share that was just revoked, but the page plays nothing', async () => {
    const { id, slug } = await aShare(key, collection_id, { is_downloadable: true })
    await updateReplica()
    await ok('DELETE', `/v1/share/${id}`, { key })
    const { bindings } = laggingBindings()
    const page = await openPage(`/s/${slug}`, undefined, bindings)
    const body = { collection_id }
    const answer = await call('POST', '/v1/play_session/collection', { key: apiKeyIn(page), body, bindings })
    expect([page.status, answer.status]).toEqual([200, 401])
  })

  it('decides neither about a password nor about an API key', async () => {
    const { id, slug } = await aShare(key, collection_id, { password: 'the old one' })
    await updateReplica()
    await ok('PUT', `/v1/share/${id}`, { key, body: { password: 'the new one' } })
    const { bindings } = laggingBindings()
    expect((await openPage(`/s/${slug}`, 'the old one', bindings)).status).toBe(403)
    expect((await openPage(`/s/${slug}`, 'the new one', bindings)).status).toBe(200)
    const other = await aTenant()
    expect((await call('GET', '/v1/collection', { key: other.key, bindings })).status).toBe(200)
  })

  it('is replaced by the primary when it does not respond', async () => {
    const paths = pathsOf(await sessionOf())
    await updateReplica()
    for (const path of Object.values(paths)) {
      const { bindings } = laggingBindings(() => new Error('D1_ERROR: Network connection lost.'))
      const response = await worker.fetch(
        new Request(`https://tonearm.test${path}`),
        bindings,
        createExecutionContext(),
      )
      await response.body?.cancel()
      expect([path, response.status]).toEqual([path, 200])
    }
  })

  it('does not make the primary search for ids that were never issued', async () => {
    await updateReplica()
    const { status, asksPrimary } = await visit(`/embed/${crypto.randomUUID()}`)
    expect([status, asksPrimary]).toEqual([404, false])
  })

  it('hides a track that does not have a file yet in both', async () => {
    const waiting = await aWaitingTrack(key, collection_id)
    const play_session_id = await sessionOf()
    await updateReplica()
    expect((await visit(`/v1/play/${play_session_id}/${waiting}`)).status).toBe(409)
  })
})
