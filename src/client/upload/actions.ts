import { detachTrack, requeueCover } from './deliver.ts'
import type { UploadItem } from './item.ts'
import type { UploadContext } from './session.ts'

/** The actions on one file: pause, resume, cancel and retry. */

/** Pauses a file. Parts that are in flight are still sent; a second pause aborts them. */
export function pauseItem(item: UploadItem, context: UploadContext): void {
  if (item.state === 'paused') return item.controller.abort()
  if (!['queued', 'uploading', 'waiting'].includes(item.state)) return
  if (!item.parts || item.state !== 'uploading') item.controller.abort()
  Object.assign(item, { state: 'paused', problem: null })
  context.emit('upload-pause', item, {})
  context.changed(item)
}

export function resumeItem(item: UploadItem, context: UploadContext): void {
  if (item.state !== 'paused') return
  // The parts that were in flight at the pause may still be on their way; then the same run continues.
  item.state = item.isActive && !item.controller.signal.aborted ? 'uploading' : 'queued'
  context.emit('upload-resume', item, {})
}

export function cancelItem(item: UploadItem, context: UploadContext): void {
  // The listener of an event may have canceled the file already.
  if (!item.isUnsent) return
  Object.assign(item, { state: 'cancelled', problem: null, sent: 0 })
  void context.ledger.remove(item)
  item.controller.abort()
  if (item.cover?.state === 'uploading') requeueCover(item)
  context.emit('upload-cancel', item, {})
}

export function requeueItem(item: UploadItem, context: UploadContext): void {
  // If the processing failed, the file needs a new track.
  if (item.status !== null) detachTrack(item, context)
  if (item.cover?.state === 'failed') requeueCover(item)
  Object.assign(item, { state: 'queued', problem: null, status: null, progress: null, sent: item.stored })
}
