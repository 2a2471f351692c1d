import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import type { Sound } from './clients.ts'

/** What is wrong in a STATE_DIR that nothing works on any more. */
export interface Verdict {
  /** Jobs that are open although nothing waits, and tracks that are neither ready nor failed. */
  stuck: number
  /** Objects of the bucket that no row names and no purge will delete, and uploads in parts that no row knows. */
  orphans: number
  /** Files of rows that the bucket does not have. */
  missing: number
  /** Tracks that no client made. */
  strangers: number
  /** Tracks whose name, length, facts, variants or original are not those of the file that should be theirs. */
  wrong: number
}

type Row = Record<string, string>

function read(state_dir: string, kind: string, sql: string): Row[] {
  const directory = join(state_dir, 'v3', kind)
  const [name = ''] = readdirSync(directory).filter((file) => /^[0-9a-f]{64}\.sqlite$/.test(file))
  const database = new DatabaseSync(join(directory, name), { readOnly: true })
  const rows = database.prepare(sql).all() as Row[]
  database.close()
  return rows
}

/** Seconds by which lengths may differ: a frame of AAC or MP3 at 16 kHz. */
const TOLERANCE = 0.07

/** `wanted` are the files that should be the tracks' own, by the tracks' ids. */
export function judge(state_dir: string, wanted: Map<string, Sound>): Verdict {
  const d1 = (sql: string) => read(state_dir, 'd1/miniflare-D1DatabaseObject', sql)
  const r2 = (sql: string) => read(state_dir, 'r2/miniflare-R2BucketObject', sql)
  const sizes = new Map(r2('select key, size from _mf_objects').map(({ key = '', size = '' }) => [key, Number(size)]))
  const objects = [...sizes.keys()]
  const begun = r2('select upload_id from _mf_multipart_uploads where state = 0').map((row) => row.upload_id)
  const kept = d1('select upload_id from multipart_uploads').map((row) => row.upload_id)
  const tracks = d1(
    "select id, status, source_path, upload_path, file_name, duration, info ->> '$.size' as size, files from tracks",
  )
  const files = d1("select value ->> 'path' as path from tracks, json_each(coalesce(files, '[]'))").map(
    ({ path = '' }) => path,
  )
  const jobs = d1("select payload from jobs where state = 'open'").map(({ payload = '' }) => JSON.parse(payload) as Job)
  const purges = jobs.filter(({ kind }) => kind === 'purge')
  const named = new Set([
    ...files,
    ...tracks.flatMap(({ source_path = '', upload_path = '' }) => [source_path, upload_path]),
  ])
  const isLeaving = (key: string) =>
    purges.some(
      ({ prefixes = [], paths = [] }) => paths.includes(key) || prefixes.some((prefix) => key.startsWith(prefix)),
    )
  const isRight = ({ id = '', file_name, duration, size, files }: Row) => {
    const { seconds, bytes, ...own } = wanted.get(id)!
    const isLong = (value: number) => Math.abs(value - seconds) <= TOLERANCE
    const made = JSON.parse(files ?? '[]') as Made[]
    const original = made.find(({ index }) => index === 'original')
    const facts = [Number(size), original?.size, sizes.get(original?.path ?? '')]
    const sounds = made.filter(({ index }) => !['preview', 'waveform', 'analysis'].includes(index))
    return (
      file_name === own.file_name &&
      isLong(Number(duration)) &&
      facts.every((value) => value === bytes) &&
      sounds.every((file) => isLong(file.duration))
    )
  }
  const unsettled = tracks.filter(({ status }) => status !== 'ready' && status !== 'failed')
  return {
    stuck: jobs.length - purges.length + unsettled.length,
    orphans:
      objects.filter((key) => !named.has(key) && !isLeaving(key)).length +
      begun.filter((upload_id) => !kept.includes(upload_id)).length,
    missing: files.filter((path) => !objects.includes(path)).length,
    strangers: tracks.filter(({ id = '' }) => !wanted.has(id)).length,
    wrong: tracks.filter((track) => track.status === 'ready' && wanted.has(track.id ?? '') && !isRight(track)).length,
  }
}

interface Made {
  index: string
  path: string
  size: number
  duration: number
}

interface Job {
  kind: string
  prefixes?: string[]
  paths?: string[]
}
