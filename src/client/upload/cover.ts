import { MAX_COVER_BYTES } from '../../contract/facts.ts'
import { backoff, retry } from '../retry.ts'
import { COVER_ACCEPT, isAccepted } from './accept.ts'
import type { Problem, UploadItem } from './item.ts'
import { afterCall, DELAYS, isOffline, MAX_ATTEMPTS, OFFLINE_DELAY } from './policy.ts'
import type { UploadContext } from './session.ts'
import { uploadFile } from './transport.ts'

/** Takes a picture as the cover of a file's track. It is sent as soon as there is a track to send it to. */
export async function setCover(item: UploadItem, file: File, context: UploadContext): Promise<void> {
  item.cover?.controller.abort()
  item.cover = { file, state: 'queued', problem: null, controller: new AbortController() }
  const code = faultOf(file)
  if (code) return fail(item, context, { code, message: '' })
  context.changed(item)
  await sendCover(item, context)
}

/** Why a picture can be no cover. */
function faultOf(file: File): string | null {
  if (!isAccepted(file, COVER_ACCEPT)) return 'unsupported_image'
  return file.size > MAX_COVER_BYTES ? 'image_too_large' : null
}

/** Ends the sending of the cover and lets it wait to be sent again; a picture that was refused here stays refused. */
export function recallCover({ cover }: UploadItem): void {
  if (!cover || faultOf(cover.file)) return
  cover.controller.abort()
  Object.assign(cover, { state: 'queued', problem: null, controller: new AbortController() })
}

/** Sends the cover, if one waits, to the track, if there is one. */
export async function sendCover(item: UploadItem, context: UploadContext): Promise<void> {
  const { cover, target } = item
  if (!target || cover?.state !== 'queued') return
  const { signal } = cover.controller
  Object.assign(cover, { state: 'uploading', problem: null })
  context.emit('cover-start', item, { cover: cover.file })
  context.changed(item)
  const sent = await retry(
    () => uploadFile(target.track_cover_upload, cover.file, { signal }),
    (answer, attempt) => {
      if (answer.ok || afterCall(answer) !== 'retry' || attempt + 1 >= MAX_ATTEMPTS) return null
      return isOffline() ? OFFLINE_DELAY : backoff(attempt, DELAYS)
    },
    signal,
    { online: true },
  )
  // Another picture, or another track, has taken its place.
  if (item.cover !== cover || item.target !== target || signal.aborted) return
  if (!sent.ok) return fail(item, context, { code: sent.code, message: sent.message })
  cover.state = 'ready'
  context.emit('cover-complete', item, { cover: cover.file })
  context.changed(item)
}

function fail(item: UploadItem, context: UploadContext, problem: Problem): void {
  const { cover } = item
  if (!cover) return
  Object.assign(cover, { state: 'failed', problem })
  context.emit('cover-failed', item, { ...problem, cover: cover.file })
  context.changed(item)
}
