import type { Context } from '../context.ts'
import type { UploadHandle } from '../contract/media.ts'
import { isAllowed } from '../core/may.ts'
import { findCollection } from './library/collection.ts'
import { findPlaylist } from './library/playlist.ts'
import { findTrack, renewUpload, trackCoverUpload } from './library/track.ts'
import { coverUpload, type UploadHints } from './library/upload_handle.ts'
import { findPlaySession } from './play/play.ts'

/** The stored response to the first request with an `Idempotency-Key`. */
export type StoredResponse = Record<string, unknown>

/** The parts of a repeated request that are needed to renew the response. */
export interface RepeatedRequest {
  body?: (UploadHints & { views?: number }) | undefined
}

/** Returns the part of a response that is stored. The view of a play session is left out, because it is built again for a repeated request. */
export const storablePart = (answer: StoredResponse): StoredResponse =>
  answer.play_session_id === undefined
    ? answer
    : { play_session_id: answer.play_session_id, expires_at: answer.expires_at }

/** Whether the file at `path` stays, because the caller may not replace it. A new URL would let it. */
const isKept = ({ principal }: Context, path: string | null) => path !== null && !isAllowed(principal, 'delete')

/** Functions that renew the upload handles in a response. */
const RENEW: Record<string, (context: Context, answer: StoredResponse, facts: UploadHints) => Promise<UploadHandle>> = {
  async track_upload(context, answer, facts) {
    const track = await findTrack(context, answer.track_id as string)
    // A track whose file has already arrived needs no new URL, and must not wait for another upload.
    if (!track.awaiting_upload || isKept(context, track.source_path)) return answer.track_upload as UploadHandle
    return (await renewUpload(context, track.id, facts)).track_upload
  },
  async track_cover_upload(context, answer) {
    const row = await findTrack(context, answer.track_id as string)
    if (isKept(context, row.cover_path)) return answer.track_cover_upload as UploadHandle
    return trackCoverUpload(context, row)
  },
  async collection_cover_upload(context, answer) {
    const row = await findCollection(context, answer.collection_id as string)
    if (isKept(context, row.cover_path)) return answer.collection_cover_upload as UploadHandle
    return coverUpload(context, 'collection', { ...row, collection_id: row.id })
  },
  async playlist_cover_upload(context, answer) {
    const row = await findPlaylist(context, answer.playlist_id as string)
    if (isKept(context, row.cover_path)) return answer.playlist_cover_upload as UploadHandle
    return coverUpload(context, 'playlist', { ...row, collection_id: row.id })
  },
}

/** Prepares a stored response for a repeated request: expired URLs are signed again. Throws when the resource no longer exists. */
export async function renewAnswer(
  answer: StoredResponse,
  input: RepeatedRequest,
  context: Context,
): Promise<StoredResponse> {
  if (typeof answer.play_session_id === 'string') {
    return { ...answer, ...(await findPlaySession(context, answer.play_session_id, input.body)) }
  }
  const { file_size, content_type } = input.body ?? {}
  const renewed = { ...answer }
  for (const [field, renew] of Object.entries(RENEW)) {
    const handle = answer[field] as UploadHandle | undefined
    if (handle && Date.parse(handle.expires_at) <= context.now) {
      renewed[field] = await renew(context, answer, { file_size, content_type })
    }
  }
  return renewed
}
