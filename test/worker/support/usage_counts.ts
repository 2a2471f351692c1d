import { expect } from 'vitest'

import { HAS_FINAL_FILES, indexSql } from '../../../src/adapters/bucket/track_storage.ts'
import { ok, query } from './api.ts'
import { completeResult } from './transcoder.ts'

/** The numbers of `GET /v1/usage`, and the numbers computed from all rows to compare them with. */

export const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10)

/** The usage of the organization to which the key belongs. */
export const usageOf = async (key: string, days = '') => (await ok('GET', `/v1/usage${days}`, { key })).usage

/** Computes the usage of an organization from the rows of all its tracks. */
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

/** Recomputes the usage counts of an organization from its tracks as one row for today, for tests that write tracks without triggers. */
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

/** Expects the reported usage to equal the usage computed from all rows. */
export async function expectCounted({ key, organization_id }: { key: string; organization_id: string }) {
  const { days: _, ...usage } = await usageOf(key)
  expect(usage).toEqual(await scan(organization_id))
  return usage
}

/** The result of a transcode job in which each file has this size and this duration. */
export const resultOfSize = (size: number, duration: number) => (job: Parameters<typeof completeResult>[0]) =>
  completeResult(job, {
    duration,
    variants: job.variants.map(({ index }) => ({ index, size, bitrate: 128, duration })),
  })

/** SQL for the files of a track that is written directly into the database. `size` is SQL that can use the columns of the row. */
export const filesSql = (
  size: string,
) => `json_object('base', '00job', 'source', '', 'list', (select json_group_array(json_array(value, ${size}, 1, 1))
  from json_each('["aac-160.m4a","flac.flac","original"]')))`

/** Inserts tracks without files. The order of their ids differs from that of their positions. */
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
