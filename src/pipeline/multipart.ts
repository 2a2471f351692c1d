import { sql } from 'drizzle-orm'

import { abortParts } from '../adapters/media.ts'
import { multipartUploads, type MultipartRow } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { giveUp } from './upload.ts'

/** Gives up an open upload in parts and deletes its bytes; of a complete one only the row is deleted. False when its state has changed. */
export async function endParts(system: System, row: MultipartRow): Promise<boolean> {
  const { env, db } = system
  const own = sql`id = ${row.id} and state = ${row.state}`
  const isThere = sql`exists (select 1 from multipart_uploads where ${own})`
  const remove = db.delete(multipartUploads).where(own).returning({ id: multipartUploads.id })
  if (row.state === 'complete') return (await remove).length > 0
  // First, so that a retry repeats it. No parts can be joined after this.
  await abortParts(env, row)
  const [, , gone] = await db.batch([...giveUp(system, row, isThere), remove])
  if (gone.length === 0) return false
  // A request may have joined the parts and died before it updated the row.
  await env.MEDIA.delete(row.path)
  return true
}

/** Ends uploads in parts that have expired. */
export async function sweepMultipart(system: System, limit: number): Promise<void> {
  const { db, now } = system
  const ended = await db
    .select()
    .from(multipartUploads)
    .where(sql`expires_at <= ${now}`)
    .orderBy(multipartUploads.expires_at)
    .limit(limit)
  for (const row of ended) await endParts(system, row)
}
