import { uploadFile } from '../../client/index.ts'
import { isTextFile } from '../../client/upload/accept.ts'
import { UploadItem } from '../../client/upload/item.ts'
import { openLedger, restoreUpload } from '../../client/upload/ledger.ts'
import { UploadQueue } from '../../client/upload/queue.ts'
import { destinationOf } from '../../client/upload/session.ts'
import { createLeaveGuard } from '../../elements/shared/leave_guard.ts'
import { type Language, problemText } from '../../elements/shared/upload_status.ts'
import { uploader as en } from '../../elements/texts/en.ts'
import type { Listed, Track } from '../api.ts'
import { explain } from '../format.ts'
import { go } from '../route.ts'
import { announce } from '../ui/announce.ts'
import type { Connection } from './connection.ts'
import { createStore } from './store.ts'
import { forgetTrack } from './views.ts'

/** Uploads go on while other pages are looked at: one queue for each collection. */

const STORED = 'tonearm.unfinished'

interface Sending {
  collection_id: string
  fraction: number
  controller: AbortController
}

const queues = new Map<string, UploadQueue>()
/** By track, the files that are sent for tracks that there were before. */
const sendings = new Map<string, Sending>()
const guard = createLeaveGuard()

/** Counts the changes of all uploads. */
export const uploadChanges = createStore(0)
interface Arrival {
  collection_id: string
  track_id: string
  /** As it is now, where that is known. */
  track?: Track
}
/** The track whose bytes have just arrived, or that a file was chosen for. */
export const arrivals = createStore<Arrival | null>(null)

/** What is said of files, and of what stops them. */
export const language: Language = {
  locale: 'en',
  texts: {
    ...en,
    errors: {
      ...en.errors,
      unauthorized: 'Uploads have stopped: this key is not valid any more.',
      not_found: 'Uploads have stopped: their collection does not exist any more.',
    },
  },
}

/** The files on their way into a collection. */
export const uploadsTo = (collection_id: string): readonly UploadItem[] => queues.get(collection_id)?.items ?? []

/** The queue of a collection, to pause, retry and cancel. */
export const queueOf = (collection_id: string): UploadQueue | undefined => queues.get(collection_id)

/** What stopped the files that are on their way into a collection; null while they travel. */
export function stoppedBy(collection_id: string): { message: string } | null {
  const queue = queues.get(collection_id)
  if (!queue?.problem || !queue.items.some((item) => item.isUnsent)) return null
  return { message: problemText(queue.problem, language) }
}

/** How much of a track's file has been sent from here, 0–1; null when it is not being sent from here. */
export function sentOf({ id, collection_id }: Pick<Listed, 'id' | 'collection_id'>): number | null {
  const item = itemFor({ id, collection_id })
  return sendings.get(id)?.fraction ?? (item?.isUnsent ? item.fraction : null)
}

/** The file on its way into a collection that a track was made for. */
export const itemFor = ({ id, collection_id }: Pick<Listed, 'id' | 'collection_id'>): UploadItem | undefined =>
  uploadsTo(collection_id).find(({ target }) => target?.track_id === id)

/** Tracks whose files this tab began to send, and did not send to their end. After a reload they are all that is known of them. */
const unfinished = new Set<string>(JSON.parse(sessionStorage.getItem(STORED) ?? '[]'))
const keepUnfinished = () => sessionStorage.setItem(STORED, JSON.stringify([...unfinished]))
function begin(track_id: string) {
  if (unfinished.has(track_id)) return
  unfinished.add(track_id)
  keepUnfinished()
}
function finish(track_id: string) {
  if (unfinished.delete(track_id)) keepUnfinished()
}
export const wasInterrupted = (track_id: string): boolean => unfinished.has(track_id)

/** Sends files into a collection that is made for them, and shows it. */
export async function uploadAsCollection({ client, api_key }: Connection, files: File[]): Promise<void> {
  const made = await client.post('/v1/collection', { body: { title: 'New collection' } })
  if (!made.ok) return announce(explain(made))
  upload(api_key, made.collection_id, files)
  go('collection', made.collection_id)
}

/** Sends files into a collection, with the key that is signed in. */
export function upload(api_key: string, collection_id: string, files: File[]): void {
  let queue = queues.get(collection_id)
  if (!queue) {
    queue = openQueue(api_key, collection_id)
    queues.set(collection_id, queue)
  }
  // What stopped the queue may be gone.
  queue.reconsider()
  queue.add(files)
}

/** Whether a large file was on its way to a track when a page was left: only the rest of it is sent then. */
async function goesOn({ api_key }: Connection, track: Pick<Listed, 'id' | 'collection_id'>, file: File) {
  const place = destinationOf(optionsOf(api_key, track.collection_id))
  const ledger = openLedger(() => place)
  const item = new UploadItem(file, file)
  await restoreUpload(item, file, ledger)
  return item.target?.track_id === track.id
}

/**
 * Sends a file for a track that there is already; what it plays stays until the new one is ready. Answers the track as it is then; null
 * when the file goes on in the queue.
 */
export async function sendFor(connection: Connection, track: Pick<Listed, 'id' | 'collection_id'>, file: File) {
  const { id, collection_id } = track
  if (!itemFor(track) && (await goesOn(connection, track, file))) {
    upload(connection.api_key, collection_id, [file])
    return null
  }
  // Of an empty file the service says why it fails.
  if (file.size > 0 && (await isTextFile(file)))
    return { ok: false, code: 'text_file', message: problemText({ code: 'text_file', message: '' }, language) } as const
  // Until now, its row was that of the other file.
  if (itemFor(track)) arrivals.set({ collection_id, track_id: id })
  endSending(track)
  const sending: Sending = { collection_id, fraction: 0, controller: new AbortController() }
  const { signal } = sending.controller
  const params = { track_id: id }
  async function send() {
    const renewed = await connection.client.post('/v1/track/{track_id}/upload', {
      params,
      body: { file_name: file.name },
      signal,
    })
    if (!renewed.ok) return renewed
    const onProgress = (fraction: number) => {
      sending.fraction = fraction
      changed()
    }
    const sent = await uploadFile(renewed.track_upload, file, { signal, onProgress })
    if (!sent.ok) return sent
    finish(id)
    return connection.client.post('/v1/track/{track_id}/upload_complete', { params, signal })
  }
  sendings.set(id, sending)
  begin(id)
  changed()
  const answer = await send()
  if (answer.ok) arrivals.set({ collection_id, track_id: id, track: answer.track })
  if (sendings.get(id) === sending) sendings.delete(id)
  forgetTrack(id)
  changed()
  return answer
}

/** Ends what is sent for a track from here: it is deleted, or gets another file. */
export function endSending(track: Pick<Listed, 'id' | 'collection_id'>): void {
  const item = itemFor(track)
  if (item) queues.get(track.collection_id)?.remove(item)
  sendings.get(track.id)?.controller.abort()
  finish(track.id)
}

/** Ends the uploads into a collection that is deleted, or all of them when somebody signs out. */
export function endUploads(collection_id?: string): void {
  // Nothing of it is kept for the next one who signs in.
  if (collection_id === undefined) unfinished.clear()
  for (const [id, queue] of queues) {
    if (collection_id !== undefined && id !== collection_id) continue
    queue.remove(...queue.items)
    queues.delete(id)
  }
  for (const [id, sending] of sendings) {
    if (collection_id === undefined || sending.collection_id === collection_id) endSending({ ...sending, id })
  }
}

function changed(): void {
  guard(sendings.size > 0 || [...queues.values()].some(({ items }) => items.some((item) => item.isUnsent)))
  uploadChanges.set(uploadChanges.get() + 1)
}

const optionsOf = (apiKey: string, collectionId: string) => ({ baseUrl: location.origin, apiKey, collectionId })

function openQueue(api_key: string, collection_id: string): UploadQueue {
  const options = { ...optionsOf(api_key, collection_id), keepsTracks: true }
  const queue = new UploadQueue(options, {
    onEvent(type, item) {
      const track_id = item.target?.track_id
      // A file that is tried again for the same track does not start again.
      if ((type === 'upload-start' || type === 'upload-progress') && track_id) begin(track_id)
      if (type === 'upload-cancel' && track_id) finish(track_id)
      if (type !== 'upload-complete') return
      // From here on the collection's page follows the track; taken out at once, the file is not followed by the queue as well.
      queue.remove(item)
      if (!track_id) return
      finish(track_id)
      arrivals.set({ collection_id, track_id })
    },
    onQueueEvent(_, detail) {
      if ('code' in detail) announce(problemText(detail, language))
    },
    onChange: changed,
  })
  return queue
}
