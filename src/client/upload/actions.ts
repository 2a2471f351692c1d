import { isTextFile } from './accept.ts'
import { type Delivery, detachTrack, discardUpload, requeueCover } from './deliver.ts'
import { MULTIPART_THRESHOLD, type Problem, type UploadItem } from './item.ts'
import { restoreUpload } from './ledger.ts'
import type { UploadContext } from './session.ts'

/** The actions on one file: check, pause, resume, cancel, retry, and choose another version. */

/**
 * Checks the content of a file, restores its stored upload, and stores it in the ledger. Resolves to the problem for which it is rejected, or to null.
 * `isListed` returns false after the user has removed the file.
 */
export async function checkFile(
  item: UploadItem,
  file: File,
  { ledger }: UploadContext,
  isListed: () => boolean,
): Promise<Problem | null> {
  if (ledger.remembersAll || file.size > MULTIPART_THRESHOLD) await restoreUpload(item, file, ledger)
  if ((await isTextFile(file)) && item.isUnsent) return { code: 'text_file', message: '' }
  if (ledger.remembersAll && item.isUnsent && (await ledger.claim(item))) {
    if (item.isUnsent && isListed()) void ledger.save(item)
    else void ledger.remove(item)
  }
  return null
}

/** Queues another file for an item. A track that has another file, or parts of one, is replaced by a new one. */
export function renewItem(item: UploadItem, file: File, context: UploadContext): void {
  const { name, size } = file
  const isEmpty = item.parts === null && item.status === null && item.state !== 'interrupted'
  if (!isEmpty || name !== item.name || size !== item.size) {
    void context.ledger.forget(item)
    detachTrack(item, context)
    void context.ledger.remove(item)
  }
  const renewed = { problem: null, sent: 0, checked: false, status: null, progress: null, isPast: false }
  Object.assign(item, { file, name, size, state: 'queued', ...renewed })
}

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

/** Applies the end of a delivery to its item, and emits the event. */
export function endDelivery(item: UploadItem, delivery: Delivery, context: UploadContext): void {
  if (delivery.end === 'done') {
    Object.assign(item, { state: 'processing', sent: item.size, status: 'initializing', progress: null })
    void context.ledger.finish(item)
    context.emit('upload-complete', item, {})
  } else if (delivery.end === 'failed') {
    const { problem } = delivery
    Object.assign(item, { state: 'failed', problem, retriable: problem.code !== 'file_changed' })
    context.emit('file-failed', item, problem)
    // The file that replaces it gets another track.
    if (!item.retriable && !context.keepsTracks) void discardUpload(item, context)
  } else if (delivery.end === 'stopped') {
    Object.assign(item, { state: 'queued', sent: item.stored })
  } else if (delivery.end === 'elsewhere') {
    Object.assign(item, { state: 'interrupted', problem: { code: 'other_tab', message: '' } })
    context.emit('upload-pause', item, {})
  }
}

/** Waits until another tab releases a file, and prepares the item to continue in this tab. */
export async function takeOver(item: UploadItem, { ledger }: UploadContext): Promise<void> {
  if (!(await ledger.claim(item, item.controller.signal)) || item.state !== 'interrupted') return
  // If the item has no track with which it can continue, the user must choose the file again.
  Object.assign(item, { problem: null }, item.target ? { state: 'paused' } : { file: null })
  if (!item.file) void ledger.remove(item)
}
