import { isBucketEmpty, listObjects, signUrl } from '../../adapters/bucket/media.ts'
import { toHex } from '../../adapters/crypto/secret.ts'
import { countRows, occupiedTables, readRows, TABLES, WALKS } from '../../adapters/db/backup.ts'
import { takenBy } from '../../adapters/db/import_rows.ts'
import { OF_ORGANIZATION } from '../../adapters/db/organization_tables.ts'
import type { Context } from '../../context.ts'
import { type BackupAnswers, type BackupRequest, MAX_OBJECTS, MAX_ROWS } from '../../contract/backup.ts'
import { invalid } from '../../core/errors.ts'
import { LISTENING, readListening } from './backup_listening.ts'
import { closeImport, discardImport, finishImport, insertImported, ownPaths, startImport } from './import.ts'
import { finishRestore, insertRestored, readRestore, requireRestore, resumeEndpoints, startRestore } from './restore.ts'

/**
 * The Worker's part of `npm run backup` and `npm run restore` (docs/decisions/0080, 0081), and of `npm run export` and `npm run import`, whose requests name
 * an organization (docs/decisions/0128).
 */

type Actions = {
  [A in BackupRequest['action']]: (
    context: Context,
    request: Extract<BackupRequest, { action: A }>,
  ) => Promise<BackupAnswers[A]>
}

/** Seconds for which the URLs of a page of objects are valid: long enough for the transfer of large files over a slow connection. */
const URL_LIFETIME = 24 * 3600

const actions: Actions = {
  async describe(context, { organization_id }) {
    const { env, db, now } = context
    const d1 = db.$client
    const restore = await readRestore(db, organization_id)
    const counts = restore && !restore.is_complete ? await countRows(d1, organization_id) : {}
    const occupied = async () => [
      ...(await occupiedTables(d1, organization_id)),
      ...((await isBucketEmpty(env, organization_id)) ? [] : ['files']),
    ]
    return {
      schema_version: await schemaVersion(d1),
      secret_fingerprint: await fingerprint(env),
      now,
      last_event: await lastEvent(d1, organization_id),
      tables: [LISTENING, ...(organization_id ? Object.keys(OF_ORGANIZATION) : TABLES)],
      walks: [LISTENING, ...walksOf(organization_id)],
      occupied: restore && !organization_id ? [] : await occupied(),
      restore: restore && { ...restore, counts },
    }
  },

  async rows({ db, env }, { walk: name, after, ids, organization_id }) {
    if (name === LISTENING) return readListening(env, after, organization_id)
    const names = walksOf(organization_id)
    const walk = names.includes(name) && WALKS[name]
    if (!walk) throw invalid('walk', `must be one of ${names.join(', ')}`)
    if (after && after.length !== walk.key.length) throw invalid('after', `must have ${walk.key.length} values`)
    return readRows(db.$client, walk, after, MAX_ROWS, { ids, organization_id })
  },

  async objects({ env }, { after, organization_id }) {
    const page = await listObjects(env, after, MAX_OBJECTS, organization_id)
    const objects = page.objects.map(async ({ key, size, etag, httpMetadata }) => ({
      path: key,
      size,
      etag,
      content_type: httpMetadata?.contentType ?? null,
      cache_control: httpMetadata?.cacheControl ?? null,
      url: await signUrl(env, 'GET', key, { expires_in: URL_LIFETIME }),
    }))
    return { objects: await Promise.all(objects), after: page.after }
  },

  taken: ({ db }, { organization_id, ids, slugs }) => takenBy(db.$client, organization_id, ids, slugs),

  async urls({ env, db }, { backup_id, paths, organization_id }) {
    await requireRestore(db, backup_id, organization_id)
    if (organization_id) ownPaths(organization_id, paths)
    const signed = paths.map((path) => signUrl(env, 'PUT', path, { expires_in: URL_LIFETIME }))
    return { urls: await Promise.all(signed) }
  },

  async start(context, { backup_id, schema_version, organization_id }) {
    const current = await actions.describe(context, { action: 'describe', organization_id })
    if (organization_id) await startImport(context, { organization_id, backup_id, schema_version }, current)
    else await startRestore(context, backup_id, schema_version, current)
    return {}
  },

  async insert(context, { organization_id, ...request }) {
    if (organization_id) await insertImported(context, { organization_id, ...request })
    else await insertRestored(context, request)
    return {}
  },

  finish: async (context, { organization_id, ...request }) =>
    organization_id ? finishImport(context, { organization_id, ...request }) : finishRestore(context, request),
  close: closeImport,
  discard: discardImport,
  resume: resumeEndpoints,
}

const walksOf = (organization_id: string | undefined) =>
  Object.keys(WALKS).filter(
    (name) =>
      organization_id === undefined || Object.keys(WALKS[name]!.tables).every((table) => table in OF_ORGANIZATION),
  )

/** Carries out a request of the backup or restore command. */
export const runBackupAction = (context: Context, request: BackupRequest): Promise<object> =>
  (actions[request.action] as (context: Context, request: BackupRequest) => Promise<object>)(context, request)

async function schemaVersion(d1: D1Database): Promise<string> {
  return (await d1.prepare('select name from d1_migrations order by id desc limit 1').first<string>('name')) ?? ''
}

/** Each organization has its own events, so this is one index lookup per organization. */
const lastEvent = (d1: D1Database, organization_id: string | undefined) =>
  d1
    .prepare(
      `select max((select max(seq) from events where organization_id = organizations.id)) as seq from organizations
        where id = coalesce(?, id)`,
    )
    .bind(organization_id ?? null)
    .first<number>('seq')

/** Returns 32 hexadecimal digits that are equal for services with the same SIGNING_SECRET and reveal nothing about it. */
async function fingerprint(env: Env): Promise<string> {
  const encoder = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(env.SIGNING_SECRET), algorithm, false, ['sign'])
  return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode('backup')))).slice(0, 32)
}
