import { sql, type SQL } from 'drizzle-orm'

import { formerPlaySessions, formerTrackFiles } from '../adapters/former_schema.ts'
import { beat } from '../adapters/heartbeats.ts'
import { gonePlaySessions, playSessions } from '../adapters/play_sessions.ts'
import { tracks, uploadSessions } from '../adapters/schema.ts'
import { idempotencyKeys, jobs } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { ingestWaiting } from './ingest.ts'
import { forgottenJobs, sendJob } from './jobs.ts'
import { sweepMultipart } from './multipart.ts'
import { fillSearch } from './search.ts'
import { dispatch, isWaiting, lineUp } from './transcode/line.ts'
import { endUnwanted } from './transcode/unwanted.ts'
import { sweepTrash } from './trash.ts'
import { countSessions, countTracks, mergeDays, usageDue } from './usage.ts'

const DAY = 24 * 3600 * 1000
/** Rows of one kind that one sweep looks after: it runs every minute, and must end within one. */
const LIMIT = 200
/** Rows that one statement deletes: a batch has 30 seconds (D1, Limits), and others wait for it. */
const CHUNK = 5000
/** Batches of one sweep: it may ask the database a thousand times (D1, Limits). A million rows of each kind. */
const ROUNDS = 200

/** The cron: catches what events, messages and workers lost, and takes away what has ended. */
export async function sweep(system: System): Promise<void> {
  for (const job of await forgottenJobs(system, LIMIT)) {
    await (job.payload.kind === 'transcode' ? lineUp(system, job.id) : sendJob(system, job))
  }
  const { is_running, is_waiting, is_former, is_unsearched, sessions, days, tracks } = await lookAround(system)
  if (is_running) await endUnwanted(system)
  if (is_running || is_waiting) await dispatch(system)
  if (is_former) await moveTrackFiles(system)
  if (tracks) await countTracks(system)
  await ingestWaiting(system, LIMIT)
  await sweepMultipart(system, LIMIT)
  await sweepTrash(system)
  if (sessions) await countSessions(system)
  if (days) await mergeDays(system)
  await deleteEnded(system)
  if (is_unsearched) await fillSearch(system)
  await beat(system.db, 'sweep')
}

/** What there is to do of what is rare. */
async function lookAround({ db, now }: System) {
  const due = usageDue(now)
  const exists = (rows: SQL, name: string) => sql<number>`exists (select 1 from ${rows})`.as(name)
  const [found] = await db
    .select({
      is_running: exists(sql`jobs where slot is not null`, 'is_running'),
      is_waiting: exists(sql`jobs where ${isWaiting}`, 'is_waiting'),
      is_former: exists(sql`track_variants`, 'is_former'),
      is_unsearched: exists(sql`search_fills`, 'is_unsearched'),
      sessions: exists(due.sessions, 'sessions'),
      days: exists(due.days, 'days'),
      tracks: exists(due.tracks, 'tracks'),
    })
    .from(sql`(select 1)`)
  return found!
}

/** Tracks whose files are moved in one batch. */
const MOVED = 500

/**
 * Files that an older version has written, also while this one was being deployed, stand in a table of their own: they are brought into
 * their track's row (docs/decisions/0030). Only this version writes sizes there: what has one is newer.
 */
async function moveTrackFiles({ db }: System): Promise<void> {
  const former = sql`(select distinct track_id from track_variants order by track_id limit ${MOVED})`
  for (let round = 0; round < ROUNDS; round++) {
    const [, gone] = await db.batch([
      db
        .update(tracks)
        .set({ files: sql`(${formerFiles})` })
        .where(sql`id in ${former} and files ->> '$[0].size' is null`),
      db
        .delete(formerTrackFiles)
        .where(sql`track_id in ${former}`)
        .returning({ track_id: formerTrackFiles.track_id }),
    ])
    if (gone.length === 0) return
  }
}

const formerFiles = sql`select json_group_array(json_object('index', "index", 'path', path, 'size', size, 'bitrate', bitrate,
    'duration', duration, 'variant_id', variant_id, 'is_early', is_early))
  from (select * from track_variants where track_id = tracks.id order by rowid)`

/** Deletes what has ended, chunk by chunk, until nothing is left. */
async function deleteEnded({ db, now }: System): Promise<void> {
  type Table =
    | typeof playSessions
    | typeof formerPlaySessions
    | typeof uploadSessions
    | typeof idempotencyKeys
    | typeof jobs
  const ended = (table: Table, condition: SQL, order: SQL) =>
    db.delete(table).where(sql`id in (select id from ${table} where ${condition} order by ${order} limit ${CHUNK})`)
  const expired = sql`expires_at < ${now - DAY}`
  const old = (days: number) => sql`created_at < ${now - days * DAY}`
  let due = [
    ended(playSessions, gonePlaySessions(now), sql`id`),
    ended(formerPlaySessions, expired, sql`expires_at`),
    ended(uploadSessions, expired, sql`expires_at`),
    ended(idempotencyKeys, old(1), sql`created_at`),
    ended(jobs, sql`${old(7)} and state <> 'open'`, sql`created_at`),
  ]
  for (let round = 0; due.length > 0 && round < ROUNDS; round++) {
    const results = await db.batch(due as [(typeof due)[number]])
    due = due.filter((_, at) => (results as D1Result[])[at]?.meta.changes === CHUNK)
  }
}
