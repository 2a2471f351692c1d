import { eq } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'

import { filesOf as decoded } from '../../src/adapters/bucket/track_files.ts'
import { toHex } from '../../src/adapters/crypto/secret.ts'
import { hexLevels } from '../../src/adapters/db/hex_levels.ts'
import { packLevels, unpackLevels } from '../../src/adapters/db/levels.ts'
import { tracks } from '../../src/adapters/db/schema/library.ts'
import { packInfo, unpackInfo } from '../../src/adapters/db/track_info.ts'
import type { TrackInfo } from '../../src/contract/info.ts'
import { settingsOf } from '../../src/domain/transcode/variants.ts'
import { db, ok, query } from './support/api.ts'
import { aReadyTrack, aTenant, aTrackWithJob, fileRows } from './support/fixtures.ts'
import { eventStream, lossyResult, startTranscoder } from './support/transcoder.ts'

/** The compact formats of a track's columns (docs/decisions/0069). */

const LOUDNESS = {
  integrated_lufs: -14.2,
  loudness_range: null,
  true_peak_dbtp: 0.3,
  sample_peak_dbfs: -0.1,
  replaygain_track_gain: -3.8,
  replaygain_track_peak: 0.988,
  r128_track_gain: -2253,
  is_silent: false,
}
const FACTS: TrackInfo = {
  container: 'mp3',
  codec: 'mp3',
  profile: null,
  sample_rate: 44100,
  channels: 2,
  channel_layout: 'stereo',
  bit_depth: null,
  bitrate: 192,
  lossless: false,
  size: 5_760_000,
  tags: { title: 'So “What”', constructor: 'a tag may have any name' },
  chapters: [
    { start: 0, title: null },
    { start: 12.5, title: 'Äö' },
  ],
  chapter_count: 2,
  has_cover: false,
  loudness: LOUDNESS,
  silence: { start: 0, end: 0.25 },
  pass: 'strict',
  ffmpeg: '7.1',
}

describe('levels', () => {
  it.each([0, 1, 2, 3, 4, 5, 7, 319, 320])('are restored without changes when there are %i of them', (count) => {
    const levels = Array.from({ length: count }, (_, at) => ((at * 389) % 1001) / 1000)
    const bytes = packLevels(levels)
    expect(bytes).toHaveLength(Math.ceil(count * 1.25))
    expect(unpackLevels(bytes)).toEqual(levels)
    expect(hexLevels(toHex(bytes))).toEqual(levels)
  })

  it('preserve each of the 1,001 possible values', () => {
    const levels = Array.from({ length: 1001 }, (_, value) => value / 1000)
    expect(JSON.stringify(unpackLevels(packLevels(levels)))).toBe(JSON.stringify(levels))
    expect(JSON.stringify(hexLevels(toHex(packLevels(levels))))).toBe(JSON.stringify(levels))
  })

  it('are empty for a track without a finished job', async () => {
    expect(hexLevels(null)).toEqual([])
    const { track_id, organization_id } = await aTrackWithJob()
    const [row] = await query(
      'select levels from tracks where id = ? and organization_id = ?',
      track_id,
      organization_id,
    )
    expect(row).toEqual({ levels: null })
  })
})

describe('info', () => {
  it('is restored with all fields in their order, including unknown fields', () => {
    const whole: TrackInfo = {
      ...FACTS,
      lyrics: 'of a newer transcoder',
      warnings: [{ code: 'clipping', message: 'Clips' }],
      error: { code: 'internal', message: 'No', attempt: 4 },
    }
    const stored = packInfo(whole)
    expect(Object.keys(stored)).toEqual(['facts', 'lyrics', 'warnings', 'error'])
    expect(JSON.stringify(unpackInfo(JSON.parse(JSON.stringify(stored)) as typeof stored))).toBe(JSON.stringify(whole))
  })

  it('is stored with the names of its fields when the facts are incomplete', () => {
    const { ffmpeg: _, ...incomplete } = FACTS
    for (const info of [{}, { codec: 'mp3' }, incomplete, { ...FACTS, loudness: {} } as unknown as TrackInfo]) {
      expect(packInfo(info)).toBe(info)
      expect(unpackInfo(info)).toEqual(info)
    }
  })

  it('is restored unchanged when an unknown field has the same name as the packed facts', () => {
    const info: TrackInfo = { ...FACTS, facts: { key: 'C minor' } }
    const stored = JSON.parse(JSON.stringify(packInfo(info))) as ReturnType<typeof packInfo>
    expect(JSON.stringify(unpackInfo(stored))).toBe(JSON.stringify(info))
  })

  it('is returned byte for byte as the transcoder sent it', async () => {
    const work = await aTrackWithJob()
    const levels = Array.from({ length: 320 }, (_, at) => ((at * 37) % 1001) / 1000)
    startTranscoder({ transcode: () => eventStream(lossyResult({ info: FACTS, levels, skipped: [] })) })
    await work.run()
    const stored = await query<{ info: string; bytes: number }>('select info, length(levels) as bytes from tracks')
    expect(stored[0]!.info).toMatch(/^\{"facts":\["mp3",/)
    expect(stored[0]!.bytes).toBe(400)
    const { info } = await work.read()
    expect(JSON.stringify(info)).toBe(JSON.stringify({ ...FACTS, warnings: [] }))
    const { key, collection_id, track_id } = work
    const list = await ok('GET', `/v1/collection/${collection_id}/track?include=levels,loudness`, { key })
    expect(JSON.stringify(list.tracks[0]!.loudness)).toBe(JSON.stringify(LOUDNESS))
    expect(list.tracks[0]!.levels).toEqual({ levels })
    const { play_session_id } = await ok('POST', '/v1/play_session/track', { key, body: { track_id } })
    const view = await ok('GET', `/v1/play/${play_session_id}/${track_id}`)
    expect(view.levels).toEqual({ levels })
    expect(view.chapters).toEqual(FACTS.chapters)
    // A row in the trash is stored as JSON, so the track is trashed and restored.
    const row = async () =>
      (await query(`select *, hex(levels) as levels, 0 as next_check_at from tracks where id = ?`, track_id))[0]
    const before = await row()
    await ok('DELETE', `/v1/track/${track_id}?trash=true`, { key })
    await ok('POST', `/v1/trash/${track_id}/restore`, { key })
    expect(await row()).toEqual(before)
  })
})

describe('paths', () => {
  it('stay the same when a track moves to another collection', async () => {
    const { key, collection_id } = await aTenant()
    const goal = (await ok('POST', '/v1/collection', { key, body: { title: 'Goal' } })).collection_id
    const id = await aReadyTrack(key, collection_id)
    const before = await fileRows(id)
    await ok('POST', '/v1/track/batch', {
      key,
      body: { changes: [{ action: 'move', track_id: id, collection_id: goal }] },
    })
    expect(await fileRows(id)).toEqual(before)
    const row = (await db.select().from(tracks).where(eq(tracks.id, id)).get())!
    expect(row.source_path).toBe(before.at(-1)!.path)
    expect(row.upload_path).toBe(`uploads/${row.organization_id}/${collection_id}/${id}`)
  })

  it('are derived from the ids of the track, with and without an extension', () => {
    const owner = { id: 'i', organization_id: 'o', collection_id: 'c', folder_id: 'f', index: 'x' }
    const list = [
      ['mp3-128.mp3', 1, 2, 3],
      ['radio.webm', 4, 5, 6, 'own'],
      ['original', 7, 8, 9],
    ] as [string, number, number, number, string?][]
    const files = decoded({ ...owner, files: { base: 'job', source: '.1', list } })
    expect(files.map(({ index, path, variant_id }) => [index, path, variant_id])).toEqual([
      ['mp3-128', 'media/o/f/x/job/mp3-128.mp3', null],
      ['radio', 'media/o/f/x/job/radio.webm', 'own'],
      ['original', 'uploads/o/f/i.1', null],
    ])
    const [early] = decoded({ ...owner, files: { base: 'job', is_early: 1, list: [['early', 1, 2, 3]] } })
    expect(early).toMatchObject({ index: 'early', path: 'media/o/f/x/job/early', is_early: 1 })
    expect(decoded({ ...owner, files: null })).toEqual([])
  })
})

it('different settings have different hashes, each with 8 characters', async () => {
  const base = { index: 'a', type: 'transcode', codec: 'mp3', bitrate: 128, channels: 2 }
  const hashes = await settingsOf(
    Array.from({ length: 1000 }, (_, bitrate) => ({ ...base, bitrate }) as Parameters<typeof settingsOf>[0][number]),
  )
  expect(new Set(hashes).size).toBe(1000)
  expect(hashes.every((hash) => /^[\w+/]{8}$/.test(hash))).toBe(true)
})
