import { sql } from 'drizzle-orm'

import { abortParts, deleteFiles } from '../../adapters/bucket/media.ts'
import { runBatch } from '../../adapters/db/database.ts'
import { multipartUploads, type MultipartRow } from '../../adapters/db/schema/work.ts'
import type { System } from '../../context.ts'
import { abandonPath } from '../upload_handles.ts'

/**
 * Ends a multipart upload: an open one is aborted and its bytes are deleted, whereas of a complete one only the row is deleted. Returns false when
 * its state has changed.
 */
export async function endMultipart(system: System, row: MultipartRow): Promise<boolean> {
  const { env, db } = system
  const isUnchanged = sql`id = ${row.id} and state = ${row.state}`
  const stillExists = sql`exists (select 1 from multipart_uploads where ${isUnchanged})`
  const remove = db.delete(multipartUploads).where(isUnchanged).returning({ id: multipartUploads.id })
  if (row.state === 'complete') return (await remove).length > 0
  // Aborts the upload in R2 before the batch, so that a retry repeats the abort. From then on, its parts cannot be joined.
  await abortParts(env, row)
  const resultOf = await runBatch(db, [...abandonPath(system, row, stillExists), remove])
  if (resultOf(remove).length === 0) return false
  // A request may have joined the parts and then crashed before it updated the row.
  await deleteFiles(env, row.path)
  return true
}

/** Ends multipart uploads that have expired. Resolves to true if more of them may be left. */
export async function sweepMultipart(system: System, limit: number): Promise<boolean> {
  const { db, now } = system
  const expired = await db
    .select()
    .from(multipartUploads)
    .where(sql`expires_at <= ${now}`)
    .orderBy(multipartUploads.expires_at)
    .limit(limit)
  for (const row of expired) await endMultipart(system, row)
  return expired.length === limit
}
