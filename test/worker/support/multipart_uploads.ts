import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'

import { multipartUploads } from '../../../src/adapters/db/schema/work.ts'
import { db, ok } from './api.ts'

/** Multipart uploads whose parts are written directly to R2, as by presigned `PUT`s. */

export const multipartRow = async (id: string) =>
  (await db.select().from(multipartUploads).where(eq(multipartUploads.id, id)).get())!

/** Stores a part; returns the entry that the client sends to report it. */
export async function sendPart(id: string, part_number: number, bytes: string | Uint8Array) {
  const { path, upload_id } = await multipartRow(id)
  const { etag } = await env.MEDIA.resumeMultipartUpload(path, upload_id).uploadPart(part_number, bytes)
  return { part_number, etag }
}

/** Creates a multipart upload of one small part, which is stored and reported, so that the upload can be completed. Returns its id. */
export async function aMultipart(key: string, track_id: string): Promise<string> {
  const at = `/v1/track/${track_id}/multipart`
  const { multipart_upload } = await ok('POST', at, { key, body: { file_size: 10 } })
  const part = await sendPart(multipart_upload.id, 1, 'RIFF\0audio')
  await ok('POST', `${at}/${multipart_upload.id}/part`, { key, body: { done: [part] } })
  return multipart_upload.id
}
