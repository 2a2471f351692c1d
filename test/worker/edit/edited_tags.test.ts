import { beforeEach, describe, expect, it, vi } from 'vitest'

import type { Tags } from '../../../src/contract/info.ts'
import type { TranscodeJob } from '../../../src/contract/job.ts'
import { aPlaySession, aWaitingTrack, call, errorPaths, ok, query, readTrack } from '../support/api.ts'
import { aTenant, batchTracks, type Tenant } from '../support/fixtures.ts'
import { uploadAndProcess } from '../support/processed_track.ts'
import { countCallRows } from '../support/row_counter.ts'
import { completeResult, serveTranscoder } from '../support/transcoder.ts'

/** The tags that people set (docs/decisions/0050). */

const TAGS = {
  title: 'Blue',
  artist: 'Miles',
  album: 'Kind of Blue',
  genre: 'Jazz',
  track_number: 3,
  year: 1959,
} satisfies Tags

let tenant: Tenant
let ofFile: Tags
let jobs: TranscodeJob[]

beforeEach(async () => {
  vi.restoreAllMocks()
  ofFile = TAGS
  jobs = serveTranscoder((job) => completeResult(job, { tags: ofFile }))
  tenant = await aTenant()
})

const aTrack = async () => {
  const track_id = await aWaitingTrack(tenant.key, tenant.collection_id)
  await uploadAndProcess(tenant.key, track_id)
  return track_id
}
const put = async (track_id: string, tags: object) =>
  (await ok('PUT', `/v1/track/${track_id}`, { key: tenant.key, body: { tags } })).track
const read = (track_id: string) => readTrack(tenant.key, track_id)
const found = async (q: string) =>
  (await ok('GET', `/v1/track?q=${encodeURIComponent(q)}`, { key: tenant.key })).tracks.map(({ id }) => id)
const process = async (track_id: string, tags: Tags) => {
  ofFile = tags
  await ok('POST', `/v1/track/${track_id}/upload`, { key: tenant.key, body: {} })
  await uploadAndProcess(tenant.key, track_id)
}

describe('a tag that a person has set', () => {
  it('replaces the tag of the file everywhere, until it is null', async () => {
    const id = await aTrack()
    const set = await put(id, { artist: 'Bill Evans', date: '1960-02' })
    const edited = { ...TAGS, artist: 'Bill Evans', date: '1960-02', year: 1960 }
    expect(set).toMatchObject({ tags: edited, file_tags: TAGS, edited_tags: ['artist', 'date', 'year'] })
    expect(await read(id)).toEqual(set)
    const { first_track } = await aPlaySession(tenant.key, 'track', id)
    expect(first_track!.track).toMatchObject({ tags: edited, player_subtitle: 'Bill Evans' })
    expect([await found('evans'), await found('miles')]).toEqual([[id], []])
    const back = await put(id, { artist: null, date: null })
    expect(back).toMatchObject({ tags: TAGS, file_tags: TAGS, edited_tags: [] })
    expect([await found('evans'), await found('miles')]).toEqual([[], [id]])
  })

  it('remains when a new file is processed, and null then returns to the tag of the new file', async () => {
    const id = await aTrack()
    await put(id, { artist: 'Bill Evans', genre: 'Modal' })
    await process(id, { ...TAGS, artist: 'Nat Adderley', album: 'Other' })
    expect((await read(id)).tags).toMatchObject({ artist: 'Bill Evans', genre: 'Modal', album: 'Other' })
    expect((await put(id, { artist: null })).tags).toMatchObject({ artist: 'Nat Adderley', genre: 'Modal' })
    expect(jobs.at(-1)!.tags!.overrides).toMatchObject({ artist: 'Bill Evans', genre: 'Modal' })
  })

  it('can be set before the file is there, and while it is processed', async () => {
    const id = await aWaitingTrack(tenant.key, tenant.collection_id)
    expect((await put(id, { artist: 'Bjørk', track_number: 7 })).tags).toEqual({ artist: 'Bjørk', track_number: 7 })
    vi.restoreAllMocks()
    let isEdited = false
    serveTranscoder(async (job) => {
      if (!isEdited) await put(id, { genre: 'Æther' })
      isEdited = true
      return completeResult(job, { tags: TAGS })
    })
    await uploadAndProcess(tenant.key, id)
    expect((await read(id)).tags).toEqual({ ...TAGS, artist: 'Bjørk', genre: 'Æther', track_number: 7 })
    expect([await found('bjork'), await found('aether')]).toEqual([[id], [id]])
    expect((await put(id, { artist: null, track_number: null, genre: null })).tags).toEqual(TAGS)
  })

  it('is found together with the tags of the file if it is set while the file is processed', async () => {
    const id = await aTrack()
    vi.restoreAllMocks()
    serveTranscoder(async (job) => {
      await put(id, { genre: 'Ὕμνος' })
      return completeResult(job, { tags: { ...TAGS, artist: 'Ёлка' } })
    })
    await ok('POST', `/v1/track/${id}/upload`, { key: tenant.key, body: {} })
    await uploadAndProcess(tenant.key, id)
    expect([await found('ёлка'), await found('υμνος'), await found('miles')]).toEqual([[id], [id], []])
    expect((await read(id)).status).toBe('ready')
  })

  it('hides the tag of the file if it is empty or 0', async () => {
    const id = await aTrack()
    const { tags, edited_tags } = await put(id, { genre: '', track_number: 0, composer: '' })
    expect(tags).toEqual({ title: 'Blue', artist: 'Miles', album: 'Kind of Blue', year: 1959 })
    expect(edited_tags).toEqual(['composer', 'genre', 'track_number'])
    await process(id, TAGS)
    expect((await read(id)).tags).not.toHaveProperty('genre')
    expect((await put(id, { genre: null })).tags.genre).toBe('Jazz')
  })

  it('is not lost if another person sets another tag at the same time, in 10 rounds', async () => {
    const id = await aTrack()
    for (let round = 0; round < 10; round++) {
      const tags = { artist: `a${round}`, album: `b${round}`, genre: `c${round}`, disc_number: round + 1 }
      await Promise.all(Object.entries(tags).map(([name, value]) => put(id, { [name]: value })))
      expect((await read(id)).tags).toMatchObject(tags)
    }
  })

  it('is found in every script if people set different tags of a track at the same time, alone or in batches', async () => {
    const id = await aWaitingTrack(tenant.key, tenant.collection_id)
    const tags = { artist: 'Άρτι', album: 'Ёлка', composer: 'Øyst', genre: 'Ὕμνος' }
    const lost: string[] = []
    for (let round = 0; round < 3; round++) {
      const entries = Object.entries(tags).map(([name, value]) => [name, `${value}${'абв'[round]}`] as const)
      await Promise.all(
        entries.map(([name, value], at) =>
          (at + round) % 2 === 0
            ? put(id, { [name]: value })
            : batchTracks(tenant.key, [{ action: 'update', track_id: id, tags: { [name]: value } }]),
        ),
      )
      expect((await read(id)).tags).toMatchObject(Object.fromEntries(entries))
      for (const [, value] of entries) if ((await found(value)).length !== 1) lost.push(value)
    }
    expect(lost).toEqual([])
    const events = await query<{ n: number }>(`select count(*) as n from events where type = 'track.updated'`)
    expect(events).toEqual([{ n: 12 }])
  })

  it('is compared if a change with If-Match is repeated', async () => {
    const id = await aTrack()
    const { version } = await read(id)
    const headers = { 'if-match': `${version}` }
    const send = (tags: object) => call('PUT', `/v1/track/${id}`, { key: tenant.key, body: { tags }, headers })
    const statuses = []
    for (const artist of ['A', 'A', 'B']) statuses.push((await send({ artist })).status)
    expect(statuses).toEqual([200, 200, 412])
  })

  it.each([
    [{ artist: '🎷'.repeat(256) }, 'tags.artist'],
    [{ album: 5 }, 'tags.album'],
    [{ track_number: -1 }, 'tags.track_number'],
    [{ track_number: 1.5 }, 'tags.track_number'],
    [{ disc_number: 10_000 }, 'tags.disc_number'],
    [{ date: '1959-13' }, 'tags.date'],
    [{ date: 'yesterday' }, 'tags.date'],
    [{ title: 'A' }, 'tags.title'],
    [{ year: 1959 }, 'tags.year'],
    [null, 'tags'],
  ])('is refused with 400 if it is wrong: %j', async (tags, path) => {
    const id = await aWaitingTrack(tenant.key, tenant.collection_id)
    const { status, body } = await call('PUT', `/v1/track/${id}`, { key: tenant.key, body: { tags } })
    expect([status, errorPaths(body)]).toEqual([400, [path]])
    expect(await read(id)).toMatchObject({ tags: {}, edited_tags: [] })
  })
})

describe('tags in a batch', () => {
  it('are set in all tracks of one request, with few rows', async () => {
    const ids: string[] = []
    for (let at = 0; at < 30; at++) ids.push(await aWaitingTrack(tenant.key, tenant.collection_id))
    const tags = { artist: 'Bjørk', album: 'Northern Lights' }
    const changes = ids.map((track_id, at) => ({ action: 'update', track_id, tags: { ...tags, track_number: at + 1 } }))
    const { read: rows, trips } = await countCallRows('POST', '/v1/track/batch', { key: tenant.key, body: { changes } })
    expect(trips).toBeLessThanOrEqual(3)
    expect(rows / 30).toBeLessThanOrEqual(22)
    expect((await read(ids[29]!)).tags).toEqual({ ...tags, track_number: 30 })
    expect((await found('bjork')).length).toBe(30)
    const back = ids.map((track_id) => ({ action: 'update', track_id, tags: { artist: null } }))
    await batchTracks(tenant.key, back)
    expect((await found('bjork')).length).toBe(0)
  })
})
