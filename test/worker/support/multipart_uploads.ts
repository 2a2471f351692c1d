import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'

import { multipartUploads } from '../../../src/adapters/db/schema/work.ts'
import { db, ok } from './api.ts'

/** Multipart uploads whose parts are written directly to R2, as by presigned `PUT`s. */

const PART = 'RIFF\0audio'

export const multipartRow = async (id: string) =>
  (await db.select().from(multipartUploads).where(eq(multipartUploads.id, id)).get())!

/** Stores a part; returns the entry that the client sends to report it. */
export async function sendPart(id: string, part_number: number, bytes: string | Uint8Array) {
  const { path, upload_id } = await multipartRow(id)
  const { etag } = await env.MEDIA.resumeMultipartUpload(path, upload_id).uploadPart(part_number, bytes)
  return { part_number, etag }
}

/** Starts an upload in R2 for each open row, with the small parts that the row lists, because an R2 upload exists only once. */
export async function restartMultiparts(): Promise<void> {
  for (const row of await db.select().from(multipartUploads).where(eq(multipartUploads.state, 'open'))) {
    const upload = await env.MEDIA.createMultipartUpload(row.path)
    const parts: Record<string, string> = {}
    for (const number of Object.keys(row.parts)) parts[number] = (await upload.uploadPart(Number(number), PART)).etag
    await db.update(multipartUploads).set({ upload_id: upload.uploadId, parts }).where(eq(multipartUploads.id, row.id))
  }
}

/** Creates a multipart upload of one small part, which is stored and reported, so that the upload can be completed. Returns its id. */
export async function aMultipart(key: string, track_id: string): Promise<string> {
  const at = `/v1/track/${track_id}/multipart`
  const { multipart_upload } = await ok('POST', at, { key, body: { file_size: 10 } })
  const part = await sendPart(multipart_upload.id, 1, PART)
  await ok('POST', `${at}/${multipart_upload.id}/part`, { key, body: { done: [part] } })
  return multipart_upload.id
}
