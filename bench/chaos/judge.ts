import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { filesOf, type StoredFiles } from '../../src/adapters/bucket/track_files.ts'
import { SIZE_SQL } from '../../src/adapters/db/track_info.ts'
import type { ExpectedFile } from './clients.ts'

/** Number of faults of each kind in a STATE_DIR after its stack has stopped. */
export interface Faults {
  /** Jobs that are still open, although all work should be done, and tracks that are neither ready nor failed. */
  stuck: number
  /** Objects in the bucket that no row references and no scheduled purge or check of a handle will delete, and multipart uploads without a row. */
  orphans: number
  /** Files that rows reference, but that the bucket does not contain. */
  missing: number
  /** Tracks that no client created. */
  unknownTracks: number
  /** Tracks whose name, length, size, variants or original differ from the expected file. */
  wrong: number
}

type SqlRow = Record<string, string>

function read(state_dir: string, kind: string, sql: string): SqlRow[] {
  const directory = join(state_dir, 'v3', kind)
  const [name = ''] = readdirSync(directory).filter((file) => /^[0-9a-f]{64}\.sqlite$/.test(file))
  const database = new DatabaseSync(join(directory, name), { readOnly: true })
  const rows = database.prepare(sql).all() as SqlRow[]
  database.close()
  return rows
}

/** Tolerance for durations in seconds: one frame of AAC or MP3 at 16 kHz. */
const TOLERANCE = 0.07

/** Counts the faults. `expected` maps track ids to the expected files. */
export function findFaults(state_dir: string, expected: Map<string, ExpectedFile>): Faults {
  const d1 = (sql: string) => read(state_dir, 'd1/miniflare-D1DatabaseObject', sql)
  const r2 = (sql: string) => read(state_dir, 'r2/miniflare-R2BucketObject', sql)
  const sizes = new Map(r2('select key, size from _mf_objects').map(({ key = '', size = '' }) => [key, Number(size)]))
  const objects = [...sizes.keys()]
  const openUploads = r2('select upload_id from _mf_multipart_uploads where state = 0').map((row) => row.upload_id)
  const knownUploads = d1('select upload_id from multipart_uploads').map((row) => row.upload_id)
  const tracks = d1(
    `select id, organization_id, collection_id, coalesce(folder_id, '') as folder_id, "index", status, source_path,
      upload_path, file_name, duration, ${SIZE_SQL} as size, coalesce(files, 'null') as files from tracks`,
  )
  const files = tracks.flatMap((track) => filesOfRow(track).map(({ path }) => path))
  const jobs = d1("select payload from jobs where state = 'open'").map(({ payload = '' }) => JSON.parse(payload) as Job)
  const handles = new Set(d1('select path from upload_handles').map(({ path }) => path))
  const purges = jobs.filter(({ kind }) => kind === 'purge')
  const referenced = new Set([
    ...files,
    ...tracks.flatMap(({ source_path = '', upload_path = '' }) => [source_path, upload_path]),
  ])
  const willBePurged = (key: string) =>
    handles.has(key) ||
    purges.some(
      ({ prefixes = [], paths = [] }) => paths.includes(key) || prefixes.some((prefix) => key.startsWith(prefix)),
    )
  const isRight = (track: SqlRow) => {
    const { id = '', file_name, duration, size } = track
    const { seconds, bytes, ...winner } = expected.get(id)!
    const hasLength = (value: number) => Math.abs(value - seconds) <= TOLERANCE
    const made = filesOfRow(track)
    const original = made.find(({ index }) => index === 'original')
    const sizesSeen = [Number(size), original?.size, sizes.get(original?.path ?? '')]
    const audioFiles = made.filter(({ index }) => !['preview', 'waveform', 'analysis'].includes(index))
    return (
      file_name === winner.file_name &&
      hasLength(Number(duration)) &&
      sizesSeen.every((value) => value === bytes) &&
      audioFiles.every((file) => hasLength(file.duration))
    )
  }
  const unsettled = tracks.filter(({ status }) => status !== 'ready' && status !== 'failed')
  return {
    stuck: jobs.length - purges.length + unsettled.length,
    orphans:
      objects.filter((key) => !referenced.has(key) && !willBePurged(key)).length +
      openUploads.filter((upload_id) => !knownUploads.includes(upload_id)).length,
    missing: files.filter((path) => !objects.includes(path)).length,
    unknownTracks: tracks.filter(({ id = '' }) => !expected.has(id)).length,
    wrong: tracks.filter((track) => track.status === 'ready' && expected.has(track.id ?? '') && !isRight(track)).length,
  }
}

/** Returns the files that a track row references. All values of a row are strings. */
const filesOfRow = ({
  id = '',
  organization_id = '',
  collection_id = '',
  folder_id = '',
  index = '',
  files = 'null',
}: SqlRow) =>
  filesOf({
    id,
    organization_id,
    collection_id,
    folder_id: folder_id || null,
    index,
    files: JSON.parse(files) as StoredFiles | null,
  })

interface Job {
  kind: string
  prefixes?: string[]
  paths?: string[]
}
