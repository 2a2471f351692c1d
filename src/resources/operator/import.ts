import { eq, sql } from 'drizzle-orm'

import { organizationPrefixes } from '../../adapters/bucket/media.ts'
import { newSecret, secretHint, sha256 } from '../../adapters/crypto/secret.ts'
import { countRows } from '../../adapters/db/backup.ts'
import { type Database, runBatch } from '../../adapters/db/database.ts'
import { hasRoom } from '../../adapters/db/database_size.ts'
import {
  importRows,
  isBeingDeleted,
  isHidden,
  PAUSED,
  reserveSlugs,
  showOrganization,
} from '../../adapters/db/import_rows.ts'
import { OF_ORGANIZATION } from '../../adapters/db/organization_tables.ts'
import { apiKeys } from '../../adapters/db/schema/api_keys.ts'
import { heartbeats } from '../../adapters/db/schema/counters.ts'
import { retiredSlugs } from '../../adapters/db/schema/shares.ts'
import type { Context } from '../../context.ts'
import type { BackupAnswers, BackupRequest } from '../../contract/backup.ts'
import { invalid, storageFull } from '../../core/errors.ts'
import { deleteOrganization } from '../../domain/cleanup/delete_organization.ts'
import { startPurge } from '../../domain/start_purge.ts'
import { insertListening, LISTENING } from './backup_listening.ts'
import { repairOrganization } from './repair_organization.ts'
import {
  readRestore,
  refused,
  requireCounts,
  requireRestore,
  requireSchema,
  restoreName,
  writeRestore,
} from './restore.ts'

/**
 * The import of one organization into a service that others use (docs/decisions/0128). Its row among the heartbeats exists until it has finished. The
 * organization is inserted last: until then, no key, share or session of it works, and no trigger counts or sends anything for it.
 */

type Request<A extends BackupRequest['action']> = Extract<BackupRequest, { action: A }> & { organization_id: string }
type Input<A extends BackupRequest['action']> = Omit<Request<A>, 'action'>

/** Matches the heartbeat of an unfinished import. */
const isUnfinished = (organization_id: string) => eq(heartbeats.name, restoreName(organization_id))
const exists = async ({ $client }: Database, organization_id: string) =>
  (await $client.prepare('select 1 from organizations where id = ?').bind(organization_id).first()) !== null

/** Throws if a path is not one of the organization. */
export function ownPaths(organization_id: string, paths: string[]): void {
  const prefixes = organizationPrefixes(organization_id)
  const isOwn = (path: string) => prefixes.some((prefix) => path.startsWith(prefix)) && !/\/\.{0,2}\//.test(path)
  const other = paths.find((path) => !isOwn(path))
  if (other !== undefined) throw invalid('paths', `${other} is not a path of the organization`)
}

/** Starts or continues an import. Throws if the organization exists, unless it is the unfinished import of the same export. */
export async function startImport(
  { db }: Context,
  { organization_id, backup_id, schema_version }: Omit<Input<'start'>, 'action'>,
  current: BackupAnswers['describe'],
): Promise<void> {
  if (await readRestore(db)) throw refused('A backup is being restored into this service. Finish that first')
  requireSchema(schema_version, current)
  if (!current.restore) {
    if (current.occupied.includes('organizations')) throw refused('The organization exists in this service')
    if (current.occupied.length > 0 || (await isBeingDeleted(db.$client, organization_id)))
      throw refused(
        'The organization was deleted in this service a short time ago, and its rows and files are still being deleted. Try again in eight hours',
      )
    await writeRestore(db, { backup_id, is_complete: false }, organization_id)
  }
  await requireRestore(db, backup_id, organization_id)
}

/** Inserts a page of rows. Throws if another organization has the id of one of them, or if the database has no room for more content. */
export async function insertImported({ db, env, cache }: Context, request: Input<'insert'>): Promise<void> {
  const { backup_id, organization_id, table, rows } = request
  const isTable = table in OF_ORGANIZATION && table !== 'organizations'
  if (table !== LISTENING && !isTable)
    throw invalid('table', `must be one of ${Object.keys(OF_ORGANIZATION).join(', ')}, except organizations`)
  await requireRestore(db, backup_id, organization_id)
  await cache.size.measured(db.$client)
  if (!hasRoom(env, cache.size, 'content')) throw storageFull()
  if (await exists(db, organization_id))
    throw refused('All rows of this export are imported. Start npm run import again')
  if (table === LISTENING)
    return insertListening(
      env,
      rows.map((row) => ({ ...row, organization_id })),
    )
  const lacking = await importRows(db.$client, organization_id, table, rows)
  if (lacking !== null)
    throw refused(`${table} does not accept the row ${lacking}: another organization has its id, or a value is missing`)
  if (table === 'shares') {
    const [slug] = await reserveSlugs(db.$client, organization_id, rows)
    if (slug !== undefined) throw refused(`Another share has or had the slug ${slug}`)
  }
}

/**
 * Checks that all rows are there, then inserts the organization, repairs it and opens a key. May be repeated until the import is closed, because its response, which has the
 * only working secret, may be lost.
 */
export async function finishImport(context: Context, request: Input<'finish'>): Promise<BackupAnswers['finish']> {
  const { db } = context
  const { backup_id, organization_id, organization, counts } = request
  await requireRestore(db, backup_id, organization_id)
  if (!(await exists(db, organization_id))) {
    requireCounts(counts, await countRows(db.$client, organization_id))
    if (!organization || !(await showOrganization(db.$client, organization_id, organization)))
      throw refused('The row of the organization is missing, or lacks a value')
  }
  const queued = await repairOrganization(context, organization_id)
  await db.run(
    sql`update tracks set next_check_at = 0 where organization_id = ${organization_id} and next_check_at = ${PAUSED}`,
  )
  const key = await openFirstKey(context, organization_id)
  context.cache.keys.evictOrganization(organization_id)
  context.invalidate(organization_id)
  return { after: null, queued, key }
}

/** Ends an import, which can then no longer be repeated. */
export async function closeImport({ db }: Context, { organization_id, backup_id }: Request<'close'>) {
  await requireRestore(db, backup_id, organization_id)
  await db.delete(heartbeats).where(isUnfinished(organization_id))
  return {}
}

/** Gives the oldest server key that may do everything and never expires a new secret, because no secret works for an imported organization. */
async function openFirstKey({ db }: Context, organization_id: string) {
  const secret = newSecret('server')
  const isFirst = sql`id = (select id from api_keys where organization_id = ${organization_id} and type = 'server'
    and may is null and expires_at is null order by seq limit 1)`
  const [key] = await db
    .update(apiKeys)
    .set({ hash: await sha256(secret), hint: secretHint(secret) })
    .where(isFirst)
    .returning({ id: apiKeys.id, title: apiKeys.title })
  return key ? { ...key, secret } : null
}

/** Deletes the rows and files of an unfinished import, as those of a deleted organization. */
export async function discardImport(
  { db, ...system }: Context,
  { organization_id }: Request<'discard'>,
): Promise<BackupAnswers['discard']> {
  if (!(await readRestore(db, organization_id))) throw refused('No import of this organization is unfinished')
  if (await exists(db, organization_id))
    throw refused('All rows of the organization are imported. Start npm run import again, or delete the organization')
  const { purge, inserts, statements } = deleteOrganization({ db, ...system }, organization_id)
  // Only the command had URLs to write to. Without the second job, the organization can soon be imported again.
  await runBatch(db, [
    inserts[0],
    db.delete(retiredSlugs).where(sql`share_id in (select id from shares where organization_id = ${organization_id})`),
    ...statements,
    // The deletion of shares has retired their hidden slugs.
    db.delete(retiredSlugs).where(sql.raw(isHidden('share_id'))),
    db.delete(heartbeats).where(isUnfinished(organization_id)),
  ])
  await startPurge({ db, ...system }, [purge])
  return {}
}
