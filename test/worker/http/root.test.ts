import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { operations } from '../../../src/contract/index.ts'
import { Limit } from '../../../src/contract/limit.ts'
import { anApiKey, anOrganization, call, ok, query, readTrack } from '../support/api.ts'
import { aWorkspace } from '../support/callers.ts'
import { eventually, storedFiles } from '../support/fixtures.ts'
import { seed } from '../support/seed.ts'

const root = env.ROOT_KEY
const TABLES = ['collections', 'tracks', 'playlists', 'upload_sessions', 'api_keys'] as const

/** The numbers of rows and files that belong to an organization. */
async function ownedBy(organization_id: string) {
  const counts = await Promise.all(
    TABLES.map((table) => query(`select id from ${table} where organization_id = ?`, organization_id)),
  )
  const files = (await storedFiles()).filter((path) => path.includes(organization_id))
  return { rows: counts.flat().length, files: files.length }
}

describe('the operator’s root key', () => {
  it('creates organizations, each with a server key, and lists them newest first', async () => {
    const [a, b] = [await anOrganization('A'), await anOrganization('B')]
    const { organizations, count } = await ok('GET', '/v1/organization', { key: root })
    expect([count, organizations.map(({ name }) => name)]).toEqual([2, ['B', 'A']])
    const page = await ok('GET', '/v1/organization?limit=1&offset=1', { key: root })
    expect([page.count, page.organizations[0]!.id]).toEqual([2, a.id])
    expect((await ok('GET', `/v1/organization/${b.id}`, { key: b.key })).organization.name).toBe('B')
    expect((await call('GET', `/v1/organization/${a.id}`, { key: b.key })).status).toBe(404)
  })

  it('deletes an organization with all its rows and files, and makes its keys stop working at once', async () => {
    const [deleted, kept] = [await aWorkspace(), await aWorkspace()]
    const { secret } = await anApiKey(deleted.key)
    const play = `/v1/play/${deleted.play_session_id}/${deleted.track_id}`
    await ok('GET', '/v1/variant', { key: secret })
    await ok('GET', play)
    const before = await ownedBy(kept.organization_id)
    expect((await ownedBy(deleted.organization_id)).files).toBeGreaterThan(5)
    const path = `/v1/organization/${deleted.organization_id}`
    const { deleted_organization } = await ok('DELETE', path, { key: root })
    expect(deleted_organization.id).toBe(deleted.organization_id)
    for (const key of [secret, deleted.key]) expect((await call('GET', '/v1/limits', { key })).status).toBe(401)
    expect((await call('GET', play)).status).toBe(404)
    expect((await call('DELETE', path, { key: root })).status).toBe(404)
    await eventually(
      async () =>
        (await query(`select 1 from jobs where state = 'open' and lease_until <= created_at + 60000`)).length === 0,
    )
    expect(await ownedBy(deleted.organization_id)).toEqual({ rows: 0, files: 0 })
    expect(await ownedBy(kept.organization_id)).toEqual(before)
    expect(await query('select id from organizations')).toEqual([{ id: kept.organization_id }])
    // Rows that depend on deleted rows are deleted as well: playlist entries and list counts.
    expect(await query('select 1 from playlist_tracks where track_id not in (select id from tracks)')).toEqual([])
    const ids = [deleted.organization_id, deleted.collection_id]
    const counts = await query<{ list: string }>('select list from list_counts')
    expect(counts.filter(({ list }) => ids.some((id) => list.includes(id)))).toEqual([])
    expect((await ok('GET', '/v1/organization', { key: root })).count).toBe(1)
    expect((await readTrack(kept.key, kept.track_id)).status).toBe('ready')
  })

  it('deletes an organization with thousands of tracks', async () => {
    const workspace = await aWorkspace()
    await seed('tracks', 1, 2300, workspace)
    await seed('collections', 1, 20, workspace)
    await ok('DELETE', `/v1/organization/${workspace.organization_id}`, { key: root })
    await eventually(async () => (await ownedBy(workspace.organization_id)).rows === 0)
    await eventually(async () => (await query('select 1 from list_counts')).length === 0)
  })
})

describe('limits', () => {
  it('are listed for every kind of key, and equal those in the contract', async () => {
    const { key } = await anOrganization()
    const { limits } = await ok('GET', '/v1/limits', { key })
    expect((await ok('GET', '/v1/limits', { key: root })).limits).toEqual(limits)
    const values = Object.fromEntries(
      Limit.array()
        .parse(limits)
        .map(({ name, value }) => [name, value]),
    )
    expect(values).toMatchObject({
      body_size: 65_536,
      string_length: 255,
      metadata_size: 16_384,
      metadata_depth: 5,
      theme_colors: 12,
      session_variants: 20,
      playlist_tracks: 1000,
      page_size: 200,
      filtered_offset: 10_000,
      upload_size: Number(env.MAX_UPLOAD_BYTES),
      duration: 43_200,
      upload_ttl: 3600,
      play_session_ttl: 86_400,
      api_rate: 1200,
      play_rate: 600,
      cover_size: 10_000_000,
    })
  })

  it('are enforced: a key gets 429 after 1,200 requests in a minute, while other keys do not', async () => {
    const [{ key }, other] = [await anOrganization(), await anOrganization()]
    let sent = 0
    let refused: Awaited<ReturnType<typeof call>>[] = []
    // The loop sends more than 1,200 requests, because the limiter resets its counter when a minute ends in between.
    for (; refused.length === 0 && sent < 4000; sent += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => call('GET', '/v1/limits', { key })))
      refused = answers.filter(({ status }) => status !== 200)
    }
    expect(sent).toBeGreaterThan(1200)
    const [{ status, body, headers } = {} as never] = refused
    expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '60'])
    expect((await call('GET', '/v1/limits', { key: other.key })).status).toBe(200)
    expect(operations.listLimits.access).toContain('server')
  })
})
