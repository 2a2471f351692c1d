import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** What is wrong in a STATE_DIR that nothing works on any more. */
export interface Verdict {
  /** Jobs that are open although nothing waits, and tracks that are neither ready nor failed. */
  stuck: number
  /** Objects of the bucket that no row names and no purge will delete. */
  orphans: number
  /** Files of rows that the bucket does not have. */
  missing: number
  /** Tracks that no client made. */
  strangers: number
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

export function judge(state_dir: string, known: Set<string>): Verdict {
  const d1 = (sql: string) => read(state_dir, 'd1/miniflare-D1DatabaseObject', sql)
  const objects = read(state_dir, 'r2/miniflare-R2BucketObject', 'select key from _mf_objects').map(
    ({ key = '' }) => key,
  )
  const tracks = d1('select id, status, source_path, upload_path from tracks')
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
  const unsettled = tracks.filter(({ status }) => status !== 'ready' && status !== 'failed')
  return {
    stuck: jobs.length - purges.length + unsettled.length,
    orphans: objects.filter((key) => !named.has(key) && !isLeaving(key)).length,
    missing: files.filter((path) => !objects.includes(path)).length,
    strangers: tracks.filter(({ id = '' }) => !known.has(id)).length,
  }
}

interface Job {
  kind: string
  prefixes?: string[]
  paths?: string[]
}
