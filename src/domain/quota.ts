import { type SQL, sql } from 'drizzle-orm'

import { insertFrom, runBatch } from '../adapters/db/database.ts'
import { recordEvents } from '../adapters/db/record_event.ts'
import { apiKeys } from '../adapters/db/schema/api_keys.ts'
import { organizations } from '../adapters/db/schema/library.ts'
import { reservations } from '../adapters/db/schema/reservations.ts'
import { wakeIfSubscribed } from '../adapters/queue/wake_webhooks.ts'
import type { System } from '../context.ts'
import type { ExceededQuota } from '../contract/common.ts'
import type { Quota } from '../contract/quota.ts'
import { DAY } from '../contract/time.ts'
import { ApiError, unauthorized } from '../core/errors.ts'
import { timestamp } from '../core/time.ts'

/** Quotas of upload sessions, uploader keys and organizations (docs/decisions/0078). */

/** The number of the day, in UTC, since 1970. */
const dayOf = (now: number) => Math.floor(now / DAY)

/** An upload of a track's file. */
export interface Upload {
  organization_id: string
  track_id: string
  bytes: number
  /** Only for a track that does not exist yet; the row of a track in `reservations` has the ids. */
  upload_session_id?: string | null | undefined
  api_key_id?: string | null | undefined
  isNew?: boolean
}

/** The organization, session and key of quotas that are read without an upload. */
type QuotaOwner = Pick<Upload, 'organization_id' | 'upload_session_id' | 'api_key_id'>

/** A quota after an upload. */
interface QuotaRow {
  scope: ExceededQuota['scope']
  id: string
  max_bytes: number | null
  max_tracks: number | null
  /** With the upload; null if it was not counted because the quota has no limit. The tracks of an organization are not counted. */
  used_bytes: number | null
  used_tracks: number | null
  /** The bytes that count for the track without the upload. */
  own_bytes: number
  /** 1 from 80 % on, 2 if the quota is used up, otherwise 0. For a key, four times the day is added. */
  level: number
  /** The level that was reported last. */
  quota_level: number
  exceeded: ExceededQuota['name'] | null
}

type Scope = Record<'name' | 'id' | 'columns' | 'base' | 'rows' | 'amount' | 'stored', SQL> & { tracks?: SQL }

/**
 * Selects a row for each quota that applies to an upload. Without an upload, all of them are counted; otherwise only those that have a limit, because
 * counting reads a row for each upload of the organization that is open.
 */
function quotasAfter(now: number, upload: Upload | QuotaOwner): SQL {
  const { organization_id, upload_session_id = null, api_key_id = null } = upload
  const { track_id, bytes, isNew = false } = 'track_id' in upload ? upload : { track_id: null, bytes: 0 }
  const added = isNew ? 1 : 0
  const isTrack = sql`track_id is ${track_id}`
  const ofTrack = (column: string, value: unknown) =>
    sql`coalesce((select ${sql.raw(column)} from reservations where organization_id = ${organization_id} and track_id = ${track_id}), ${value})`
  const open = sql`iif(expires_at > ${now}, reserved, 0)`
  const forSession = sql`max(uploaded, ${open})`
  const forOrganization = sql`trashed + max(unprocessed, ${open})`
  const session = ofTrack('upload_session_id', upload_session_id)
  const key = ofTrack('api_key_id', api_key_id)
  const day = ofTrack('day', dayOf(now))
  const ofOrganization = sql`organization_id = ${organization_id}`
  const files = sql`(select coalesce(sum(value ->> 0), 0) from usage_days, json_each(usage_days.files) where ${ofOrganization})`
  const selectScope = ({ name, id, columns, base, rows, amount, stored, tracks }: Scope) => {
    const ifLimited = (column: SQL, count: SQL) =>
      track_id === null ? count : sql`iif(${column} is null, null, ${count})`
    // A new handle of a track replaces the previous one, so the larger of the two counts.
    const used = sql`(select coalesce(sum(iif(${isTrack}, 0, ${amount})), 0) + max(coalesce(sum(iif(${isTrack}, ${amount}, 0)), 0), ${bytes})
      from reservations where ${rows})`
    return sql`select '${name}' as scope, id, ${columns}, ${base} as base, ${ifLimited(sql`max_bytes`, sql`${stored} + ${used}`)} as used_bytes,
      ${tracks ?? ifLimited(sql`max_tracks`, sql`(select count(*) + ${added} from reservations where ${rows} and not (${added} and ${isTrack}))`)} as used_tracks,
      coalesce((select sum(${amount}) from reservations where ${rows} and ${isTrack}), 0) as own_bytes
      from ${name}s where id = ${id}`
  }
  const scopes = [
    {
      name: sql.raw('upload_session'),
      id: session,
      columns: sql`max_bytes, max_tracks, 0 as quota_level`,
      base: sql`0`,
      rows: sql`upload_session_id = upload_sessions.id`,
      amount: forSession,
      stored: sql`0`,
    },
    {
      name: sql.raw('api_key'),
      id: key,
      columns: sql`max_bytes, max_tracks, quota_level`,
      base: sql`${day} * 4`,
      rows: sql`day = ${day} and api_key_id = api_keys.id and upload_session_id is not null`,
      amount: forSession,
      stored: sql`0`,
    },
    {
      name: sql.raw('organization'),
      id: sql`${organization_id}`,
      columns: sql`max_bytes, null as max_tracks, quota_level`,
      base: sql`0`,
      rows: ofOrganization,
      amount: forOrganization,
      stored: files,
      tracks: sql`null`,
    },
  ]
  const levelOf = (name: string) =>
    sql.raw(`coalesce((used_${name} * 5 >= max_${name} * 4) + (used_${name} >= max_${name}), 0)`)
  return sql`select scope, id, max_bytes, max_tracks, used_bytes, used_tracks, own_bytes, quota_level,
    base + max(${levelOf('bytes')}, ${levelOf('tracks')}) as level,
    iif(used_bytes > max_bytes and own_bytes < ${bytes}, 'max_bytes', iif(${added} and used_tracks > max_tracks, 'max_tracks', null)) as exceeded
    from (${sql.join(scopes.map(selectScope), sql` union all `)})`
}

/** Whether to report the level of a quota, or to reset an organization's level to 0. */
const CHANGES = sql.raw(
  `(level > quota_level and level % 4 > 0 or scope = 'organization' and level = 0 and quota_level > 0)`,
)

/** A condition for an upload that no quota forbids. An upload that is not larger than its track's reservation is never forbidden. */
export const fitsQuotas = ({ now }: System, upload: Upload) =>
  sql`not exists (select 1 from (${quotasAfter(now, upload)}) where exceeded is not null)`

/**
 * Returns the statement that reserves the bytes of a new upload handle, for the batch that creates the handle, if the source has a row (`tracks where
 * …`) and no quota forbids it. `isReserved` is the condition for the statements that follow. A repeated statement reserves nothing twice.
 */
export function reserveUpload({ db, now }: System, upload: Upload, expires_at: number, source: SQL) {
  const { organization_id, track_id, upload_session_id = null, api_key_id = null, bytes } = upload
  const ofTrack = sql`organization_id = ${organization_id} and track_id = ${track_id}`
  const isKeyValid = api_key_id === null ? sql`true` : sql`exists (select 1 from api_keys where id = ${api_key_id})`
  const after = sql`(select count(exceeded) as exceeded, max(${CHANGES}) as changes from (${quotasAfter(now, upload)})) as quotas`
  const values = {
    organization_id,
    track_id,
    upload_session_id,
    api_key_id,
    day: dayOf(now),
    reserved: bytes,
    expires_at,
    changes_level: sql`changes`,
  }
  const rows = sql`${after} where exceeded = 0 and ${isKeyValid} and exists (select 1 from ${source})`
  const statement = insertFrom(db, reservations, values, rows)
    .onConflictDoUpdate({
      target: [reservations.organization_id, reservations.track_id],
      set: {
        reserved: sql`max(iif(expires_at > ${now}, reserved, 0), excluded.reserved)`,
        expires_at: sql`max(expires_at, excluded.expires_at)`,
        changes_level: sql`excluded.changes_level`,
      },
    })
    .returning({ changes_level: reservations.changes_level })
  return {
    statement,
    isReserved: sql`exists (select 1 from reservations where ${ofTrack} and reserved >= ${bytes} and expires_at >= ${expires_at})`,
    /** Whether to call `reportLevels` after the batch. */
    changesLevel: sql<number>`(select changes_level from reservations where ${ofTrack})`,
  }
}

/** Returns the statement that counts a file that has arrived instead of its reservation. A reservation for a newer handle stays. */
export function countUploaded({ db, now }: System, { organization_id, track_id, bytes }: Upload, condition: SQL) {
  const values = {
    organization_id,
    track_id,
    day: dayOf(now),
    reserved: 0,
    expires_at: 0,
    uploaded: bytes,
    unprocessed: bytes,
  }
  const isNewest = sql`exists (select 1 from tracks where id = ${track_id} and upload_path <= source_path)`
  return insertFrom(db, reservations, values, sql`tracks where id = ${track_id} and ${condition}`).onConflictDoUpdate({
    target: [reservations.organization_id, reservations.track_id],
    set: { uploaded: bytes, unprocessed: bytes, reserved: sql`iif(${isNewest}, 0, reserved)` },
  })
}

const resetsAt = (scope: QuotaRow['scope'], now: number) =>
  scope === 'api_key' ? timestamp((dayOf(now) + 1) * DAY) : null

/** Returns the quotas of a session, a key and an organization, with the bytes and tracks that are used. */
export async function readQuotas({ db, now }: System, of: QuotaOwner): Promise<(Quota & Pick<QuotaRow, 'scope'>)[]> {
  const rows = await db.all<QuotaRow>(quotasAfter(now, of))
  return rows.map(({ scope, max_bytes, max_tracks, used_bytes, used_tracks }) => ({
    scope,
    max_bytes,
    used_bytes: used_bytes!,
    max_tracks,
    used_tracks: used_tracks ?? 0,
    resets_at: resetsAt(scope, now),
  }))
}

/** Returns the error of an upload that a quota forbids; null if none does. Reports that the quota is used up if less than 20 % of it was left. */
export async function quotaExceeded(system: System, upload: Upload): Promise<ApiError | null> {
  const { db, now } = system
  const rows = await db.all<QuotaRow>(quotasAfter(now, upload))
  // Keys are cached for half a minute, but a revoked key must not upload without its quota.
  if (upload.api_key_id && !rows.some(({ scope }) => scope === 'api_key'))
    return unauthorized('This API key is not valid')
  const row = rows.find(({ exceeded }) => exceeded !== null)
  if (!row) return null
  const { scope, id, exceeded, own_bytes } = row
  const isBytes = exceeded === 'max_bytes'
  const limit = (isBytes ? row.max_bytes : row.max_tracks)!
  const used = isBytes ? row.used_bytes! - upload.bytes + own_bytes : row.used_tracks! - 1
  const quota: ExceededQuota = {
    scope,
    name: exceeded!,
    limit,
    used,
    requested: isBytes ? upload.bytes : 1,
    resets_at: resetsAt(scope, now),
  }
  const isReported = scope === 'upload_session' || row.quota_level >= usedUp(row.level)
  if (used * 5 >= limit * 4 && !isReported) await reportLevels(system, upload, id)
  return new ApiError('quota_exceeded', messageOf(quota), { quota })
}

const OWNERS = { upload_session: 'upload session', api_key: 'API key', organization: 'organization' }

function messageOf({ scope, name, limit, used, requested, resets_at }: ExceededQuota): string {
  const unit = name === 'max_bytes' ? 'bytes' : 'tracks'
  const advice = {
    upload_session: 'Create another session',
    api_key: `Try again after ${resets_at}, or raise the limit of the key`,
    organization: 'Delete tracks and empty the trash, or ask the operator of the service for more',
  }
  const hint = unit === 'bytes' ? '. An upload without file_size reserves the largest size' : ''
  return `The ${OWNERS[scope]} may add ${limit} ${unit}: ${used} are used, and this upload needs ${requested}. ${advice[scope]}${hint}`
}

/** The level of a quota that is used up, on the same day as the given level. */
const usedUp = (level: number) => level - (level % 4) + 2

const TABLES = { api_key: apiKeys, organization: organizations }

/**
 * Writes the events of quotas whose level has risen: each level once, for a key once a day. `rejected` is the id of a key or organization whose rest
 * was too small for an upload.
 */
export async function reportLevels(system: System, upload: Upload, rejected: string | null = null): Promise<void> {
  const { db, now } = system
  const { organization_id, track_id } = upload
  // With a size of 0, the upload changes nothing; its track names the session and the key.
  const rows = await db.all<QuotaRow>(quotasAfter(now, { ...upload, track_id, bytes: 0, isNew: false }))
  const statements = rows.flatMap(({ scope, id, level: current, quota_level, ...quota }) => {
    if (scope === 'upload_session') return []
    const level = id === rejected ? usedUp(current) : current
    const isReset = scope === 'organization' && level === 0 && quota_level > 0
    if (!isReset && (level <= quota_level || level % 4 === 0)) return []
    const table = TABLES[scope]
    const isLower = isReset ? sql`id = ${id} and quota_level > 0` : sql`id = ${id} and quota_level < ${level}`
    const source = sql`(select id, ${organization_id} as organization_id, quota_level from ${table}) where ${isLower}`
    const { max_bytes, used_bytes, max_tracks, used_tracks } = quota
    const data = {
      scope,
      resource_id: sql`id`,
      max_bytes,
      used_bytes,
      max_tracks,
      used_tracks,
    }
    const type = level % 4 === 2 ? 'quota.reached' : 'quota.warning'
    return [
      ...(isReset ? [] : [recordEvents(system, type, source, data, scope)]),
      db.update(table).set({ quota_level: level }).where(isLower),
    ]
  })
  if (statements.length === 0) return
  await runBatch(db, statements)
  await wakeIfSubscribed(system, organization_id)
}

/** Days after which the rows of a day are not needed for its keys and sessions anymore: an upload in parts may take a day. */
const KEPT_DAYS = 3

/** Selects the rows whose day is over. */
export const endedReservations = (now: number) =>
  sql`reservations where upload_session_id is not null and day < ${dayOf(now) - KEPT_DAYS}`

/** Detaches rows from sessions and keys of earlier days, so that triggers delete those that count nothing anymore. Resolves to true if some are left. */
export async function endReservations({ db, now }: System, limit: number): Promise<boolean> {
  const chunk = sql`(select organization_id, track_id from ${endedReservations(now)} limit ${limit})`
  const { meta } =
    await db.run(sql`update reservations set upload_session_id = null, api_key_id = null, reserved = iif(expires_at > ${now}, reserved, 0)
    where (organization_id, track_id) in ${chunk}`)
  return meta.changes >= limit
}
