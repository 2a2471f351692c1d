import { sql } from 'drizzle-orm'

import { abortParts } from '../adapters/media.ts'
import { multipartUploads, type MultipartRow } from '../adapters/work_schema.ts'
import type { System } from '../context.ts'
import { giveUp } from './upload.ts'

/**
 * Ends an upload in parts: one that is open is given up with all that has arrived of it; one that is complete is only forgotten. False when it
 * was completed or ended meanwhile.
 */
export async function endParts(system: System, row: MultipartRow): Promise<boolean> {
  const { env, db } = system
  const own = sql`id = ${row.id} and state = ${row.state}`
  const isThere = sql`exists (select 1 from multipart_uploads where ${own})`
  const remove = db.delete(multipartUploads).where(own).returning({ id: multipartUploads.id })
  if (row.state === 'complete') return (await remove).length > 0
  // First, so that it is repeated with the rest. Nothing can be joined from here on.
  await abortParts(env, row)
  const [, , gone] = await db.batch([...giveUp(system, row, isThere), remove])
  if (gone.length === 0) return false
  // A request may have joined the parts and come no further.
  await env.MEDIA.delete(row.path)
  return true
}

/** Ends those whose day is over. */
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
