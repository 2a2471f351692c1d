import { and, eq, getTableColumns, sql } from 'drizzle-orm'

import { newSecret, secretHint, sha256, toHex } from '../../adapters/crypto/secret.ts'
import { rowId, secondRowId, secretBase62 } from '../../adapters/crypto/seed.ts'
import { batchesWith, insertOnce, runBatch } from '../../adapters/db/database.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { apiKeys } from '../../adapters/db/schema/api_keys.ts'
import { organizations } from '../../adapters/db/schema/library.ts'
import type { Context, Handlers } from '../../context.ts'
import { DEFAULT_COLOR } from '../../contract/facts.ts'
import { Organization, type organizationOperations } from '../../contract/organization.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { requireEffects } from '../../core/may.ts'
import { deleteOrganization } from '../../domain/cleanup/delete_organization.ts'
import { startPurge } from '../../domain/start_purge.ts'
import { callAlarms } from '../../listening/overdue.ts'
import { readPage } from '../list/page.ts'
import { themeColors } from './appearance.ts'
import { versionOf } from './resource_fields.ts'
import { expectedVersion, hasVersion, isApplied, nextVersion, versionMismatch } from './version.ts'

type OrganizationRow = typeof organizations.$inferSelect

const toOrganization = (row: OrganizationRow): Organization => ({
  ...row,
  image_colors: themeColors(row.theme),
  player_color: row.player_color ?? DEFAULT_COLOR,
  player_subtitle: row.player_subtitle ?? '',
  version: versionOf(row),
})

/** Returns the caller's organization; throws 404 for any other id. The operator's root key reaches every organization with `isRoot`. */
export async function findOrganization(
  { db, principal }: Context,
  id = principal.organization_id,
  isRoot = false,
): Promise<OrganizationRow> {
  if (id !== principal.organization_id && !isRoot) throw notFound('organization')
  return organizationIn(await db.select().from(organizations).where(eq(organizations.id, id)))
}

/** Returns the query for the caller's organization. */
export const organizationQuery = ({ db, principal }: Context) =>
  db.select().from(organizations).where(eq(organizations.id, principal.organization_id))

/** Returns the organization in the result of a query; throws 404 if there is none. */
export function organizationIn([row]: OrganizationRow[] = []): OrganizationRow {
  if (!row) throw notFound('organization')
  return row
}

/** The change that gives an organization the key of its listeners, unless it has one (docs/decisions/0111). */
export const withListenerKey = () => ({
  listener_key: sql`coalesce(listener_key, ${toHex(crypto.getRandomValues(new Uint8Array(32)))})`,
})

export const organizationHandlers: Handlers<typeof organizationOperations> = {
  async listOrganizations({ query }, { db }) {
    const list = { name: 'organizations', table: organizations, key: organizations.seq, descending: true }
    const { rows, count } = await readPage(batchesWith(db), list, query, getTableColumns(organizations))
    return { count, organizations: rows.map(toOrganization) }
  },

  async createOrganization({ body }, context) {
    const { db, now } = context
    const secret = newSecret('server', await secretBase62(context))
    const key = {
      id: secondRowId(context),
      organization_id: rowId(context),
      type: 'server' as const,
      title: 'First server key',
      hash: await sha256(secret),
      hint: secretHint(secret),
      seq: 1,
      created_at: now,
    }
    const insert = db
      .insert(organizations)
      .values({
        id: key.organization_id,
        ...body,
        theme: [],
        seq: sql`(select coalesce(max(seq), 0) + 1 from organizations)`,
        created_at: now,
      })
      .returning()
    const otherStatements = [
      db.insert(apiKeys).values(key),
      recordEvents(context, 'api_key.created', sql`api_keys where id = ${key.id}`),
    ]
    const row = await insertOnce(db, insert, otherStatements, () =>
      db.select().from(organizations).where(eq(organizations.id, key.organization_id)).get(),
    )
    return { organization_id: key.organization_id, organization: toOrganization(row!), api_key_id: key.id, secret }
  },

  async getOrganization({ params }, context) {
    const row = await findOrganization(context, params.organization_id)
    return { organization_id: row.id, organization: toOrganization(row) }
  },

  async updateOrganization({ params, headers, body }, context) {
    const isRoot = context.principal.kind === 'root'
    let row = await findOrganization(context, params.organization_id, isRoot)
    if (body.max_bytes !== undefined && !isRoot)
      throw new ApiError('insufficient_scope', 'Only the root key may set max_bytes')
    if (body.progress_days !== undefined && body.progress_days < row.progress_days)
      requireEffects(context.principal, ['delete'], 'A lower progress_days, which ends progress,')
    if (Object.keys(body).length > 0) {
      const { db, now } = context
      const values = { ...body, updated_at: nextVersion(now) }
      const isExpected = and(eq(organizations.id, row.id), hasVersion(expectedVersion(headers['if-match'])))
      const [updated] = await db.update(organizations).set(values).where(isExpected).returning()
      row = updated ?? (await findOrganization(context, row.id, isRoot))
      if (!updated && !isApplied(row, body)) throw versionMismatch('organization', toOrganization(row), Organization)
      if (body.progress_days !== undefined) await db.run(callAlarms(row.id))
      context.invalidate(row.id)
    }
    return { organization_id: row.id, organization: toOrganization(row) }
  },

  async deleteOrganization({ params }, { db, cache, ...system }) {
    const id = params.organization_id
    const { purge, inserts, statements } = deleteOrganization({ db, ...system }, id)
    const existing = await db.select().from(organizations).where(eq(organizations.id, id)).get()
    if (!existing) throw notFound('organization')
    const deletedRow = db.delete(organizations).where(eq(organizations.id, id)).returning()
    const resultOf = await runBatch(db, [...inserts, deletedRow, ...statements])
    const [row] = resultOf(deletedRow)
    cache.keys.evictOrganization(id)
    cache.invalidate(id)
    await startPurge({ db, ...system }, [purge])
    if (!row) throw notFound('organization')
    return { organization_id: id, deleted_organization: toOrganization(row) }
  },
}
