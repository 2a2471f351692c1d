import { MAX_COVER_BYTES } from '../../contract/facts.ts'
import { delayAfter, isOffline, MAX_ATTEMPTS, OFFLINE_DELAY, wait } from './backoff.ts'
import { meaningOfCall } from './failures.ts'
import type { Host } from './host.ts'
import { type Cover, type Item, type Problem, viewOf } from './item.ts'
import { problemOf } from './problem.ts'
import { COVER_ACCEPT, isAccepted } from './rules.ts'
import { sendFile } from './stall.ts'

/** Takes a picture as the cover of a file's track. It is sent as soon as there is a track to send it to. */
export async function setCover(item: Item, file: File, host: Host): Promise<void> {
  item.cover?.controller.abort()
  item.cover = { file, state: 'queued', problem: null, controller: new AbortController() }
  const { texts } = host.settings()
  if (!isAccepted(file, COVER_ACCEPT)) return fail(item, host, { code: 'unsupported_image', message: texts.coverKind })
  if (file.size > MAX_COVER_BYTES) return fail(item, host, { code: 'image_too_large', message: texts.coverTooLarge })
  host.changed(item)
  await sendCover(item, host)
}

/** Ends the sending of the cover and lets it wait to be sent again; a picture that was refused here stays refused. */
export function recallCover({ cover }: Item): void {
  if (!cover || !isSendable(cover)) return
  cover.controller.abort()
  Object.assign(cover, { state: 'queued', problem: null, controller: new AbortController() })
}

/** Sends the cover, if one waits, to the track, if there is one. */
export async function sendCover(item: Item, host: Host): Promise<void> {
  const { cover, target } = item
  if (!target || cover?.state !== 'queued') return
  const { signal } = cover.controller
  const isCurrent = () => item.cover === cover && item.target === target && !signal.aborted
  Object.assign(cover, { state: 'uploading', problem: null })
  host.emit('cover-start', { ...viewOf(item), cover: cover.file })
  host.changed(item)
  for (let attempt = 1; ; attempt++) {
    const sent = await sendFile(target.track_cover_upload, cover.file, signal)
    if (!isCurrent()) return
    if (sent.ok) {
      cover.state = 'ready'
      host.emit('cover-complete', { ...viewOf(item), cover: cover.file })
      return host.changed(item)
    }
    if (meaningOfCall(sent) !== 'passing' || attempt === MAX_ATTEMPTS) {
      return fail(item, host, problemOf(sent, host.settings().texts))
    }
    if (!(await wait(isOffline() ? OFFLINE_DELAY : delayAfter(attempt), signal, () => {})) || !isCurrent()) return
  }
}

const isSendable = ({ file }: Cover) => isAccepted(file, COVER_ACCEPT) && file.size <= MAX_COVER_BYTES

function fail(item: Item, host: Host, problem: Problem): void {
  if (!item.cover) return
  Object.assign(item.cover, { state: 'failed', problem })
  host.emit('cover-failed', { ...viewOf(item), ...problem, cover: item.cover.file })
  host.changed(item)
}
