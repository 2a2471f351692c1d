import { expect } from 'vitest'

import { HAS_FINAL_FILES, indexSql } from '../../../src/adapters/bucket/track_storage.ts'
import { ok, query } from './api.ts'
import { completeResult } from './transcoder.ts'

/** The numbers of `GET /v1/usage`, and a scan to compare them with. */

export const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10)

/** The usage of the key's organization. */
export const usageOf = async (key: string, days = '') => (await ok('GET', `/v1/usage${days}`, { key })).usage

/** The usage of an organization's tracks, by a scan. */
async function scan(organization_id: string) {
  const files = await query<{ variant: string; bytes: number; files: number }>(
    `select ${indexSql('(value ->> 0)')} as variant, sum(value ->> 1) as bytes, count(*) as files
      from tracks, json_each(tracks.files, '$.list') where organization_id = ? and ${HAS_FINAL_FILES}
      group by 1 order by 2 desc, 1`,
    organization_id,
  )
  const [length] = await query<{ duration: number }>(
    `select coalesce(sum(round(duration * 1000)), 0) / 1000.0 as duration from tracks
      where organization_id = ? and ${HAS_FINAL_FILES}`,
    organization_id,
  )
  const original = files.find(({ variant }) => variant === 'original')
  return {
    tracks: original?.files ?? 0,
    duration: length!.duration,
    bytes: { total: files.reduce((sum, { bytes }) => sum + bytes, 0), original: original?.bytes ?? 0 },
    variants: files.filter(({ variant }) => variant !== 'original'),
  }
}

/** Counts today what an organization has, for tests that write tracks without triggers. */
export async function recount(organization_id: string) {
  const { duration, variants, tracks, bytes } = await scan(organization_id)
  const files = [...variants, { variant: 'original', bytes: bytes.original, files: tracks }]
  await query('delete from usage_days where organization_id = ?', organization_id)
  await query(
    `insert into usage_days (organization_id, date, milliseconds, files) values (?, date('now'), ?, ?)`,
    organization_id,
    Math.round(duration * 1000),
    JSON.stringify(Object.fromEntries(files.map((one) => [one.variant, [one.bytes, one.files]]))),
  )
}

/** Expects the reported usage to equal the scanned one. */
export async function expectCounted({ key, organization_id }: { key: string; organization_id: string }) {
  const { days: _, ...usage } = await usageOf(key)
  expect(usage).toEqual(await scan(organization_id))
  return usage
}

/** A transcode result whose files each have this size and this duration. */
export const resultOfSize = (size: number, duration: number) => (job: Parameters<typeof completeResult>[0]) =>
  completeResult(job, {
    duration,
    variants: job.variants.map(({ index }) => ({ index, size, bitrate: 128, duration })),
  })

/** Files of a track, written directly into the database: `size` is SQL over the row. */
export const filesSql = (
  size: string,
) => `json_object('base', '00job', 'source', '', 'list', (select json_group_array(json_array(value, ${size}, 1, 1))
  from json_each('["aac-160.m4a","flac.flac","original"]')))`

/** Tracks without files. Their ids sort differently from their positions. */
export async function seedTracksWithoutFiles(
  { organization_id, collection_id }: { organization_id: string; collection_id: string },
  count: number,
  name = 5,
  created_at = '1',
) {
  await query(
    `insert into tracks (id, organization_id, collection_id, "index", file_name, "order", metadata, cover_colors, status,
        upload_expires_at, awaiting_upload, next_check_at, created_at, info)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      select printf('0000000${name}-0000-4000-8000-%012x', i * 7919 % 1000003), ?, ?, 'many' || i, 'many.mp3', i, '{}', '[]', 'processing',
        0, 0, 0, ${created_at}, '{}' from n`,
    organization_id,
    collection_id,
  )
}
