import { and, inArray, sql } from 'drizzle-orm'

import { signZipGrant, verifyZipGrant, type ZipGrant } from '../../adapters/crypto/token.ts'
import { inJsonList } from '../../adapters/db/database.ts'
import { isInCollection, tracks } from '../../adapters/db/schema/library.ts'
import type { Context, Handlers } from '../../context.ts'
import { DEFAULT_VARIANTS, ZIP_TTL } from '../../contract/facts.ts'
import type { zipOperations } from '../../contract/zip.ts'
import { notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/time.ts'
import { trackTitle } from '../library/appearance.ts'
import { fileName, findEntries } from './zip.ts'

/** A ZIP of selected tracks. Its signed URL contains the ids, so nothing is stored (docs/decisions/0053). */

/** Returns the files of the selected tracks. Throws 404 if the organization does not have one of them. */
async function findFiles(context: Context, { organization_id, track_ids, variant }: ZipGrant) {
  const { id, file_name, player_title, tags } = tracks
  const rows = await context.db
    .select({ id, file_name, player_title, tags })
    .from(tracks)
    .where(and(inArray(id, inJsonList(track_ids)), sql`+organization_id = ${organization_id}`, isInCollection))
  const rowOf = new Map(rows.map((row) => [row.id, row]))
  const listed = track_ids.map((track_id) => {
    const row = rowOf.get(track_id)
    if (!row) throw notFound('track')
    return { ...row, player_title: trackTitle(row, true) }
  })
  return findEntries(context, listed, [...(variant === undefined ? [] : [variant]), 'original', ...DEFAULT_VARIANTS])
}

/** Returns the files of the ZIP whose URL has this token. */
export async function findSelectionZip(context: Context, token: string) {
  const grant = await verifyZipGrant(context.env, token)
  const { organization_id, title = 'Tracks' } = grant
  const { entries, size } = await findFiles(context, grant)
  return { file_name: `${fileName(title)}.zip`, entries, size, organization_id }
}

export const zipHandlers: Handlers<typeof zipOperations> = {
  async createZip({ body }, context) {
    const { env, now, base_url, principal } = context
    const grant = { organization_id: principal.organization_id, ...body }
    const { entries, size } = await findFiles(context, grant)
    const expires_at = (Math.floor(now / 1000) + ZIP_TTL) * 1000
    const url = `${base_url}/zip/selection/${await signZipGrant(env, grant, expires_at)}`
    return { url, expires_at: timestamp(expires_at), files: entries.length, size }
  },
}
