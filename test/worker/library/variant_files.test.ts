import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { variants } from '../../../src/adapters/db/schema/library.ts'
import {
  anApiKey,
  anOrganization,
  aPlaySession,
  aVariant,
  callPlaySession,
  db,
  indexesOf,
  ok,
  query,
  expectError,
  silentQueue,
} from '../support/api.ts'
import {
  aTrackWithJob,
  beforeBatch,
  deliver,
  eventually,
  fileRows,
  jobRow,
  advanceHours,
  runSweep,
  storedFiles,
} from '../support/fixtures.ts'
import { seed } from '../support/seed.ts'
import { signedParts } from '../support/signature.ts'
import { eventStream, completeResult, openStream, serveTranscoder, startTranscoder } from '../support/transcoder.ts'

/** The effects of custom variants on tracks, sessions and keys. */

let work: Awaited<ReturnType<typeof aTrackWithJob>>
beforeEach(async () => {
  work = await aTrackWithJob()
})
afterEach(() => void vi.useRealTimers())

const session = (body: object = {}) => aPlaySession(work.key, 'track', work.track_id, body)
const plays = async (names: string[]) => indexesOf((await session({ variants: names })).first_track!)
const files = () => fileRows(work.track_id)
const base = () => `media/${work.organization_id}/${work.collection_id}/${work.row.index}/${work.job_id.slice(-8)}`

describe('a track', () => {
  it('gets all variants of its organization with their settings, and no variants of others', async () => {
    await aVariant(work.key)
    await aVariant(work.key, { name: 'Voice', codec: 'opus', bitrate: 32, channels: 1 })
    await aVariant(work.key, { name: 'Teaser', type: 'preview', codec: 'aac', bitrate: 96, start: 20, length: 10 })
    const other = await anOrganization()
    await aVariant(other.key, { name: 'Theirs', codec: 'flac' })
    const { transcodes } = startTranscoder({ transcode: (job) => eventStream(completeResult(job)) })
    await work.run()
    const requested = transcodes[0]!.variants.slice(7).map(({ url, ...variant }) => [variant, signedParts(url).key])
    expect(requested).toEqual([
      [
        {
          index: 'teaser',
          content_type: 'audio/mp4',
          kind: 'preview',
          codec: 'aac',
          bitrate: 96,
          start: 20,
          length: 10,
        },
        `${base()}/teaser.m4a`,
      ],
      [
        {
          index: 'voice',
          content_type: 'audio/webm; codecs=opus',
          kind: 'audio',
          codec: 'opus',
          bitrate: 32,
          channels: 1,
        },
        `${base()}/voice.webm`,
      ],
      [
        { index: 'radio', content_type: 'audio/mpeg', kind: 'audio', codec: 'mp3', bitrate: 320 },
        `${base()}/radio.mp3`,
      ],
    ])
    expect(await plays(['voice', 'radio', 'aac-160', 'teaser'])).toEqual(['voice', 'radio', 'aac-160', 'teaser'])
    const { play_session_id } = await session({ variants: ['voice'], is_downloadable: true })
    const { download } = await ok('GET', `/v1/play/${play_session_id}/${work.track_id}/voice/download`)
    expect(signedParts(download.url).disposition).toContain('So What.webm')
  })

  it('is processed with the settings that were valid when its job started, despite a new follower and later changes', async () => {
    const { id } = await aVariant(work.key)
    const deleted = await aVariant(work.key, { name: 'Gone' })
    const stream = openStream()
    const { transcodes } = startTranscoder({
      transcode: (job, times) => (times === 1 ? stream.response : eventStream(completeResult(job))),
    })
    const running = work.run()
    await eventually(async () => transcodes.length === 1)
    await ok('PUT', `/v1/variant/${id}`, { key: work.key, body: { codec: 'opus', bitrate: 32 } })
    await aVariant(work.key, { name: 'Later' })
    await ok('DELETE', `/v1/variant/${deleted.id}`, { key: work.key })
    stream.end()
    await running
    await work.changeJob({ lease_until: 0 })
    await work.run()
    const requests = transcodes.map(({ variants }) =>
      variants.map(({ url, ...variant }) => [variant, signedParts(url).key]),
    )
    expect(requests[1]).toEqual(requests[0])
    expect((await files()).find(({ index }) => index === 'radio')?.path).toBe(`${base()}/radio.mp3`)
    expect(await plays(['radio'])).toEqual(['radio'])
  })

  it("does not get a variant that was deleted during its job, and the variant's file is purged", async () => {
    const { id } = await aVariant(work.key)
    const stream = openStream()
    const { transcodes } = startTranscoder({ transcode: () => stream.response })
    const running = work.run()
    await eventually(async () => transcodes.length === 1)
    await ok('DELETE', `/v1/variant/${id}`, { key: work.key })
    await env.MEDIA.put(`${base()}/radio.mp3`, 'audio')
    stream.send(completeResult(transcodes[0]!))
    await running
    expect((await files()).map(({ index }) => index)).not.toContain('radio')
    expect(await files()).toHaveLength(8)
    advanceHours(3)
    await runSweep()
    await eventually(async () => !(await storedFiles()).includes(`${base()}/radio.mp3`))
  })

  it('is incomplete when a custom variant failed', async () => {
    await aVariant(work.key)
    const failed = [{ index: 'radio', message: 'The mp3 encoder failed.' }]
    startTranscoder({
      transcode: (job) => {
        const variants = job.variants.map(({ index }) => ({ index, size: 1, bitrate: 1, duration: 1 }))
        return eventStream(completeResult(job, { variants: variants.filter(({ index }) => index !== 'radio'), failed }))
      },
    })
    await work.run()
    expect(await work.read()).toMatchObject({ status: 'incomplete', info: { failed_variants: failed } })
  })
})

describe('a deleted variant', () => {
  /** Creates a track with a file of a custom variant, and a session that plays this file. */
  async function aRadioTrack() {
    const variant = await aVariant(work.key)
    serveTranscoder()
    await work.run()
    const { play_session_id } = await session({ variants: ['radio', 'mp3-128'], expires_in: 86_400 })
    const view = async () => indexesOf(await ok('GET', `/v1/play/${play_session_id}/${work.track_id}`))
    expect(await view()).toEqual(['radio', 'mp3-128'])
    return { variant, view }
  }

  it('disappears from sessions that name it, and its files are purged when no URL to them is valid any more', async () => {
    const { variant, view } = await aRadioTrack()
    const before = await storedFiles('media/')
    await ok('DELETE', `/v1/variant/${variant.id}`, { key: work.key })
    await eventually(async () => (await view()).length === 1)
    expect(await view()).toEqual(['mp3-128'])
    expect(await storedFiles('media/')).toEqual(before)
    // URLs are valid for an hour.
    advanceHours(1)
    await runSweep()
    expect(await storedFiles('media/')).toEqual(before)
    advanceHours(2)
    await runSweep()
    await eventually(async () => (await storedFiles('media/')).length < before.length)
    expect(await storedFiles('media/')).toEqual(before.filter((path) => path !== `${base()}/radio.mp3`))
  })

  it('does not purge the files of a new variant with the same index', async () => {
    const { variant } = await aRadioTrack()
    await ok('DELETE', `/v1/variant/${variant.id}`, { key: work.key })
    await aVariant(work.key, { codec: 'opus', bitrate: 64 })
    await ok('POST', `/v1/track/${work.track_id}/reprocess`, { key: work.key })
    await eventually(async () => (await work.read()).status === 'ready')
    const purges = await query<{ id: string }>(`select id from jobs where payload ->> '$.variant.id' = ?`, variant.id)
    // The purge of the deleted variant runs again after the new variant has its files.
    await query(`update jobs set state = 'open', lease_until = 0 where id = ?`, purges[0]!.id)
    await deliver('task', { job_id: purges[0]!.id })
    expect((await jobRow(purges[0]!.id)).state).toBe('done')
    expect((await files()).find(({ index }) => index === 'radio')?.path).toMatch(/radio\.webm$/)
  })

  it('is removed from many tracks, a thousand at a time, without affecting their other files', async () => {
    const { id } = await aVariant(work.key)
    await seed('tracks', 1, 1450, work)
    await query(
      `update tracks set files = json_object('base', 'many', 'list', json_array(json_array('mp3-128.mp3', 1, 1, 1),
        json_array('radio.mp3', 1, 1, 1, ?))) where "order" % 3 = 0`,
      id,
    )
    const radio = `media/${work.organization_id}/${work.collection_id}/seeded350/many/radio.mp3`
    const with_files = `select files from tracks where files is not null`
    const many = (await query(with_files)).length
    await env.MEDIA.put(radio, 'audio')
    await ok('DELETE', `/v1/variant/${id}`, { key: work.key })
    await eventually(async () => (await query(`${with_files} and files like '%radio%'`)).length === 0)
    expect(await query(`${with_files} and files like '%[["mp3-128.mp3",1,1,1]]%'`)).toHaveLength(many)
    const [purge] = await query<{ paths: number }>(
      `select sum(json_array_length(payload ->> '$.paths')) as paths from jobs where payload ->> 'kind' = 'purge'`,
    )
    expect(purge?.paths).toBe(many)
    advanceHours(3)
    await runSweep()
    await eventually(async () => (await storedFiles(radio)).length === 0)
  })

  it('is removed from tracks that move to another collection during the deletion', async () => {
    const { variant } = await aRadioTrack()
    const body = { title: 'Another' }
    const { collection_id } = await ok('POST', '/v1/collection', { key: work.key, body })
    const move = (to: string) => query('update tracks set collection_id = ? where id = ?', to, work.track_id)
    await move(collection_id)
    const bindings = { ...env, TASK_QUEUE: silentQueue }
    await ok('DELETE', `/v1/variant/${variant.id}`, { key: work.key, bindings })
    const [purge] = await query<{ id: string }>(`select id from jobs where payload ->> '$.variant.id' = ?`, variant.id)
    await deliver('task', { job_id: purge!.id }, { bindings: beforeBatch(() => move(work.collection_id)) })
    expect((await jobRow(purge!.id)).state).toBe('done')
    expect((await files()).map(({ index }) => index)).not.toContain('radio')
  })

  it('is deleted with its organization', async () => {
    await aVariant(work.key)
    await ok('DELETE', `/v1/organization/${work.organization_id}`, { key: env.ROOT_KEY })
    await eventually(async () => (await db.select().from(variants)).length === 0)
  })
})

describe('a play session', () => {
  it('plays custom variants only if the request names them, because they are not in the default list', async () => {
    await aVariant(work.key)
    const unnamed = ['aac-160', 'mp3-128', 'opus-96', 'lossless']
    expect((await session()).play_session.variants).toEqual(unnamed)
    expect((await session({ variants: ['radio', 'opus-96'] })).play_session.variants).toEqual(['radio', 'opus-96'])
  })

  it('is refused with 400 when the request names an unknown variant, and the error lists the known variants', async () => {
    await aVariant(work.key)
    const other = await anOrganization()
    await aVariant(other.key, { name: 'Theirs', codec: 'flac' })
    const body = { track_id: work.track_id, variants: ['radio', 'theirs'] }
    const { errors } = await expectError(400, 'unknown_variant', 'POST', '/v1/play_session/track', {
      key: work.key,
      body,
    })
    expect(errors).toEqual([{ path: 'variants.1', message: expect.stringMatching(/known are aac-160, .*, radio$/) }])
  })
})

describe('a player key', () => {
  it('can be bound to custom variants, but not to unknown variants', async () => {
    const { id } = await aVariant(work.key)
    const { key } = work
    const body = { title: 'Web', type: 'player', variants: ['radio', 'theirs'] }
    await expectError(400, 'unknown_variant', 'POST', '/v1/api_key', { key, body })
    const { secret } = await anApiKey(key, { variants: ['radio'] })
    const play = async (body?: object) => (await callPlaySession(secret, 'track', work.track_id, body)).body
    expect((await play()).play_session.variants).toEqual(['radio'])
    expect((await play({ variants: ['aac-160'] })).code).toBe('insufficient_scope')
    // After the deletion, the key still exists but cannot play a variant of this name.
    await ok('DELETE', `/v1/variant/${id}`, { key })
    expect((await play({ variants: ['radio'] })).code).toBe('unknown_variant')
    expect((await play()).play_session.variants).toEqual(['radio'])
  })
})

it('a change to the settings keeps the files of a track until it is processed again', async () => {
  const { id } = await aVariant(work.key)
  serveTranscoder()
  await work.run()
  await ok('PUT', `/v1/variant/${id}`, { key: work.key, body: { codec: 'aac', bitrate: 64 } })
  expect((await files()).find(({ index }) => index === 'radio')?.path).toBe(`${base()}/radio.mp3`)
  await ok('POST', `/v1/track/${work.track_id}/reprocess`, { key: work.key })
  await eventually(async () => (await work.read()).status === 'ready')
  expect((await files()).find(({ index }) => index === 'radio')?.path).toMatch(/\/radio\.m4a$/)
  expect(await plays(['radio'])).toEqual(['radio'])
})
