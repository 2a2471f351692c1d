import { eq } from 'drizzle-orm'

import { newId } from '../adapters/id.ts'
import { apiKeys, organizations } from '../adapters/schema.ts'
import { hashSecret, newSecret } from '../adapters/secret.ts'
import type { Context, Handlers } from '../context.ts'
import type { Organization, organizationOperations } from '../contract/organization.ts'
import { notFound } from '../errors.ts'
import { DEFAULT_PLAYER_COLOR, themeColors } from './appearance.ts'

type Row = typeof organizations.$inferSelect

const toOrganization = (row: Row): Organization => ({
  ...row,
  image_colors: themeColors(row.theme),
  player_color: row.player_color ?? DEFAULT_PLAYER_COLOR,
  player_subtitle: row.player_subtitle ?? '',
})

/** The caller's own organization; any other one does not exist for it. */
export async function findOrganization({ db, principal }: Context, id = principal.organization_id): Promise<Row> {
  if (id !== principal.organization_id) throw notFound('organization')
  const row = await db.select().from(organizations).where(eq(organizations.id, id)).get()
  if (!row) throw notFound('organization')
  return row
}

export const organizationHandlers: Handlers<typeof organizationOperations> = {
  async createOrganization({ body }, { db, now }) {
    const secret = newSecret('server')
    const key = {
      id: newId(),
      organization_id: newId(),
      type: 'server' as const,
      title: 'First server key',
      hash: await hashSecret(secret),
      created_at: now,
    }
    const [[row]] = await db.batch([
      db
        .insert(organizations)
        .values({ id: key.organization_id, name: body.name, theme: [], created_at: now })
        .returning(),
      db.insert(apiKeys).values(key),
    ])
    return { organization_id: key.organization_id, organization: toOrganization(row!), api_key_id: key.id, secret }
  },

  async getOrganization({ params }, context) {
    const row = await findOrganization(context, params.organization_id)
    return { organization_id: row.id, organization: toOrganization(row) }
  },

  async updateOrganization({ params, body }, context) {
    let row = await findOrganization(context, params.organization_id)
    if (Object.keys(body).length > 0) {
      row = await context.db.update(organizations).set(body).where(eq(organizations.id, row.id)).returning().get()
    }
    return { organization_id: row.id, organization: toOrganization(row) }
  },
}
