import { eq, sql } from 'drizzle-orm'

import { abortParts } from '../adapters/media.ts'
import { tracks } from '../adapters/schema.ts'
import { multipartUploads, type MultipartRow } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { UPLOAD_TTL } from '../contract/facts.ts'

/** Ends an upload in parts and deletes what has arrived of it. The track waits no longer for it, but for another. */
export async function abandonParts({ env, db, now }: System, row: MultipartRow): Promise<void> {
  if (row.state === 'open') await abortParts(env, row)
  await db.batch([
    db.delete(multipartUploads).where(eq(multipartUploads.id, row.id)),
    db
      .update(tracks)
      .set({
        // Its first URL, as long as that lives. A track that plays waits for nothing.
        upload_path: row.path.replace(/\.\w+$/, ''),
        upload_expires_at: sql`max(${now}, created_at + ${UPLOAD_TTL * 1000})`,
        next_check_at: now,
        awaiting_upload: sql`source_path is null`,
      })
      .where(sql`id = ${row.track_id} and upload_path = ${row.path} and awaiting_upload`),
  ])
}

/** Gives up those whose day is over. */
export async function sweepMultipart(system: System, limit: number): Promise<void> {
  const { db, now } = system
  const ended = await db
    .select()
    .from(multipartUploads)
    .where(sql`expires_at <= ${now}`)
    .orderBy(multipartUploads.expires_at)
    .limit(limit)
  for (const row of ended) await abandonParts(system, row)
}
