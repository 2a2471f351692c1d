import { countRows, insertRows, TABLES } from '../../adapters/db/backup.ts'
import type { Database } from '../../adapters/db/database.ts'
import { heartbeats, type RestoreReport } from '../../adapters/db/schema/counters.ts'
import { wakeWebhooks } from '../../adapters/queue/wake_webhooks.ts'
import type { Context } from '../../context.ts'
import type { BackupAnswers, BackupRequest } from '../../contract/backup.ts'
import { ApiError, invalid } from '../../core/errors.ts'
import { insertListening, LISTENING } from './backup_listening.ts'
import { repairOrganization } from './repair_organization.ts'

/**
 * A restore (docs/decisions/0081). Its row among the heartbeats exists until it has finished; until then, the sweep does nothing. Organizations and
 * keys are inserted last, so every key is rejected before.
 */

type Request<A extends BackupRequest['action']> = Extract<BackupRequest, { action: A }>

export const refused = (message: string) => new ApiError('restore_refused', message)

/** The name of the heartbeat that exists while a backup is restored, or an organization imported. */
export const restoreName = (organization_id?: string) =>
  organization_id ? (`import:${organization_id}` as const) : 'restore'

/** Reads the restore that has not finished, or the import of an organization; null if there is none. */
export async function readRestore({ $client }: Pick<Database, '$client'>, organization_id?: string) {
  const statement = $client.prepare('select report from heartbeats where name = ?').bind(restoreName(organization_id))
  const report = await statement.first<string>('report')
  return report ? (JSON.parse(report) as RestoreReport) : null
}

/** Throws unless this backup is being restored, or this export of an organization imported. */
export async function requireRestore(
  db: Database,
  backup_id: string,
  organization_id?: string,
): Promise<RestoreReport> {
  const restore = await readRestore(db, organization_id)
  if (restore?.backup_id === backup_id) return restore
  if (organization_id)
    throw refused(
      restore
        ? `Another export (${restore.backup_id}) of the organization is being imported. Finish that one, or discard it`
        : 'This export is not being imported. Start npm run import again',
    )
  throw refused(
    restore
      ? `Another backup (${restore.backup_id}) is being restored. Finish that one, or use an empty service`
      : 'This backup is not being restored. Start npm run restore again',
  )
}

/** Writes that a backup is being restored, or an organization imported. */
export const writeRestore = (db: Database, report: RestoreReport, organization_id?: string) =>
  db
    .insert(heartbeats)
    .values({ name: restoreName(organization_id), at: Date.now(), report })
    .onConflictDoUpdate({ target: heartbeats.name, set: { report } })

/** Throws unless the service has the schema of a backup or an export. */
export function requireSchema(schema_version: string, current: BackupAnswers['describe']): void {
  if (current.schema_version === schema_version) return
  throw refused(
    `The rows have the schema ${schema_version}, and this service ${current.schema_version}. Deploy the version that wrote them, insert them, then upgrade`,
  )
}

/** Starts or continues a restore. Throws unless the service is empty and has the schema of the backup. */
export async function startRestore(
  { db }: Context,
  backup_id: string,
  schema_version: string,
  current: BackupAnswers['describe'],
): Promise<void> {
  if (current.restore) {
    await requireRestore(db, backup_id)
    return
  }
  const { occupied } = current
  if (occupied.length > 0)
    throw refused(`This service is not empty: ${occupied.join(', ')}. Restore into an empty one (docs/backup.md)`)
  requireSchema(schema_version, current)
  await writeRestore(db, { backup_id, is_complete: false })
}

/** Inserts a page of rows. */
export async function insertRestored(
  { db, env }: Context,
  { backup_id, table, rows }: Request<'insert'>,
): Promise<void> {
  if (table !== LISTENING && !TABLES.includes(table)) throw invalid('table', `must be one of ${TABLES.join(', ')}`)
  if ((await requireRestore(db, backup_id)).is_complete)
    throw refused('All rows of this backup are restored. Start npm run restore again')
  await (table === LISTENING ? insertListening(env, rows) : insertRows(db.$client, table, rows))
}

/** Number of organizations that one request repairs. */
const AT_ONCE = 10

/** Throws if a table has fewer rows than expected. Objects acknowledge their rows, and are not counted. */
export function requireCounts(counts: Record<string, number>, found: Record<string, number>): void {
  const missing = Object.keys(counts).filter((name) => name !== LISTENING && (found[name] ?? 0) < counts[name]!)
  if (missing.length > 0)
    throw refused(
      `Rows are missing in ${missing.map((name) => `${name} (${found[name] ?? 0} of ${counts[name]})`).join(', ')}: the backup or export is damaged. Use another one`,
    )
}

/** Checks that all rows are there, then repairs organizations and returns where to continue. At the end, the service starts to work. */
export async function finishRestore(
  context: Context,
  { backup_id, after, counts }: Request<'finish'>,
): Promise<BackupAnswers['finish']> {
  const { db } = context
  if (!(await requireRestore(db, backup_id)).is_complete) {
    const found = await countRows(db.$client)
    requireCounts(counts, found)
    await writeRestore(db, { backup_id, is_complete: true })
  }
  const { results } = await db.$client
    .prepare('select id from organizations where id > ? order by id limit ?')
    .bind(after, AT_ONCE)
    .all<{ id: string }>()
  let queued = 0
  for (const { id } of results) queued += await repairOrganization(context, id)
  if (results.length === AT_ONCE) return { after: results.at(-1)!.id, queued }
  await db.$client.prepare(`delete from heartbeats where name = 'restore'`).run()
  return { after: null, queued }
}

/** Resumes the endpoints that a restore has paused, and sends what was pending. */
export async function resumeEndpoints(context: Context): Promise<BackupAnswers['resume']> {
  const { meta } = await context.db.$client
    .prepare(`update webhook_endpoints set state = 'active', reason = null where reason = 'restored'`)
    .run()
  await wakeWebhooks(context)
  return { resumed: meta.changes }
}
