import { and, eq, sql } from 'drizzle-orm'

import { rowId } from '../../adapters/crypto/seed.ts'
import { insertFrom, insertOnce } from '../../adapters/db/database.ts'
import { variants } from '../../adapters/db/schema/library.ts'
import type { Context, Handlers } from '../../context.ts'
import { CATALOG, toRendition } from '../../contract/catalog.ts'
import { MAX_VARIANT_INDEX, MAX_VARIANTS } from '../../contract/facts.ts'
import type { variantOperations } from '../../contract/variant.ts'
import { ApiError, invalid, notFound } from '../../core/errors.ts'
import { insertJob, sendJob } from '../../domain/jobs.ts'
import { findCustomVariants } from '../../domain/transcode/variants.ts'
import { variantSettings } from './variant_settings.ts'

type VariantRow = typeof variants.$inferSelect

const isOwnedByCaller = ({ principal }: Context, id: string) =>
  and(eq(variants.id, id), eq(variants.organization_id, principal.organization_id))

/** Returns a custom variant of the caller's organization. Throws 404 if it does not exist, and 409 for a variant of the catalogue. */
async function findCustomVariant(context: Context, id: string): Promise<VariantRow> {
  const fixed = CATALOG.find((variant) => variant.id === id)
  if (fixed) {
    const message = `${fixed.index} is one of the default variants, which cannot be changed or deleted; define one of your own`
    throw new ApiError('default_variant', message)
  }
  const row = await context.db.select().from(variants).where(isOwnedByCaller(context, id)).get()
  if (!row) throw notFound('variant')
  return row
}

/** Throws 400 `unknown_variant` for a name that is neither in the catalogue nor that of a variant of the organization. */
export async function checkVariants({ db, principal }: Context, names: readonly string[]): Promise<void> {
  const knownNames = CATALOG.map(({ index }) => index)
  if (names.every((name) => knownNames.includes(name))) return
  knownNames.push(...(await findCustomVariants(db, principal.organization_id)).map(({ index }) => index))
  for (const [at, name] of names.entries()) {
    if (knownNames.includes(name)) continue
    throw invalid(`variants.${at}`, `is not a known variant; known are ${knownNames.join(', ')}`, 'unknown_variant')
  }
}

/** Names that files or play views already use. */
const TAKEN = new Set([...CATALOG.map(({ index }) => index), 'early'])

/** Derives the index of a variant from its name: `Voice, mono 48k` becomes `voice-mono-48k`. */
function toIndex(name: string): string {
  const words =
    name
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  const index = words.join('-').slice(0, MAX_VARIANT_INDEX).replace(/-$/, '')
  if (!index) throw invalid('index', 'is required, because the name has neither letters from a to z nor digits')
  return index
}

const exists = (index: string) =>
  new ApiError('variant_exists', `There is a variant with the index ${index} already; choose another one`)

export const variantHandlers: Handlers<typeof variantOperations> = {
  async listVariants({ query: { limit, offset } }, { db, principal }) {
    // There are at most 20 rows, so counting or paging them in the database would not be faster.
    const all = [...(await findCustomVariants(db, principal.organization_id)).map(toRendition), ...CATALOG]
    return { count: all.length, variants: all.slice(offset, offset + limit) }
  },

  async createVariant({ body: { name, index = toIndex(name), type, ...body } }, context) {
    const { db, principal, now } = context
    const settings = variantSettings({ type }, body)
    if (TAKEN.has(index)) throw exists(index)
    const { organization_id } = principal
    const id = rowId(context)
    const insert = insertFrom(
      db,
      variants,
      { id, organization_id, index, name, ...settings, seq: sql`last + 1`, created_at: now },
      sql`(select count(*) as count, coalesce(max(seq), 0) as last from variants where organization_id = ${organization_id})
        where count < ${MAX_VARIANTS}`,
    )
      .onConflictDoNothing({ target: [variants.organization_id, variants.index] })
      .returning()
    const row = await insertOnce(db, insert, [], () =>
      db.select().from(variants).where(isOwnedByCaller(context, id)).get(),
    )
    if (!row) {
      if ((await findCustomVariants(db, organization_id)).length < MAX_VARIANTS) throw exists(index)
      const message = `An organization may have ${MAX_VARIANTS} variants of its own; delete one first`
      throw new ApiError('variants_full', message)
    }
    return { variant_id: row.id, variant: toRendition(row) }
  },

  async getVariant({ params }, context) {
    const variant =
      CATALOG.find(({ id }) => id === params.variant_id) ??
      toRendition(await findCustomVariant(context, params.variant_id))
    return { variant_id: variant.id, variant }
  },

  async updateVariant({ params, body: { name, ...body } }, context) {
    const found = await findCustomVariant(context, params.variant_id)
    const values = { ...(name !== undefined && { name }), ...variantSettings(found, body) }
    const row = await context.db
      .update(variants)
      .set(values)
      .where(isOwnedByCaller(context, found.id))
      .returning()
      .get()
    if (!row) throw notFound('variant')
    return { variant_id: row.id, variant: toRendition(row) }
  },

  async deleteVariant({ params }, context) {
    const { db, principal } = context
    const found = await findCustomVariant(context, params.variant_id)
    const { id, index } = found
    const payload = { kind: 'purge' as const, prefixes: [], variant: { id, index } }
    const purge = insertJob(context, principal.organization_id, payload)
    const [, [deleted]] = await db.batch([
      purge.insert,
      db.delete(variants).where(isOwnedByCaller(context, id)).returning({ id: variants.id }),
    ])
    await sendJob(context, purge)
    if (!deleted) throw notFound('variant')
    return { variant_id: id, deleted_variant: toRendition(found) }
  },
}
