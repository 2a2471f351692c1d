import { uploadFile } from '../../client/index.ts'
import { isTransient } from '../../client/retry.ts'
import { isTextFile } from '../../client/upload/accept.ts'
import { UploadItem } from '../../client/upload/item.ts'
import { openLedger, restoreUpload } from '../../client/upload/ledger.ts'
import { UploadQueue } from '../../client/upload/queue.ts'
import { createLeaveGuard } from '../../elements/shared/leave_guard.ts'
import { type Language, problemText } from '../../elements/shared/upload_status.ts'
import { type Client, connect, type Listed, refuseKey, type Track, type UploadHandle } from '../base/api.ts'
import { explain } from '../base/format.ts'
import { go } from '../base/route.ts'
import { localeOf, t, uploaderTexts } from '../base/text.ts'
import { announce } from '../ui/page/announce.ts'
import type { Connection } from './connection.ts'
import { groupsOf, startNaming } from './naming.ts'
import { createStore } from './store.ts'
import { forgetTrack, renewCollection } from './views.ts'

/** The uploads of this tab, with one queue per collection. They continue while the user looks at other pages. */

const STORED = 'tonearm.unfinished'

interface Replacement {
  collection_id: string
  fraction: number
  controller: AbortController
}

const queues = new Map<string, UploadQueue>()
/** The files that are sent for existing tracks, by track. */
const replacements = new Map<string, Replacement>()
const guard = createLeaveGuard()

/** Counts the changes of all uploads. */
export const uploadChanges = createStore(0)
interface Arrival {
  collection_id: string
  track_id: string
  /** Whether the file has arrived, so that its processing starts. */
  isUploaded: boolean
  /** The track in its new state, if that is known. */
  track?: Track
}
/** The track whose file has just arrived, or for which a file was chosen. */
export const arrivals = createStore<Arrival | null>(null)

/** Returns the texts about files, and about errors that stop all uploads. */
export function uploadLanguage(): Language {
  const texts = uploaderTexts()
  const errors = {
    ...texts.errors,
    unauthorized: t('Uploads have stopped: this key is no longer valid.'),
    not_found: t('Uploads have stopped: their collection no longer exists.'),
  }
  return { locale: localeOf(), texts: { ...texts, errors } }
}

/** Returns the files that are being uploaded into a collection. */
export const uploadsTo = (collection_id: string): readonly UploadItem[] => queues.get(collection_id)?.items ?? []

/** Returns the files of all collections that are being uploaded. */
export const allUploads = () =>
  [...queues].flatMap(([collection_id, queue]) => queue.items.map((item) => ({ item, collection_id, queue })))

/** Returns the queue of a collection, for the actions pause, retry and cancel. */
export const queueOf = (collection_id: string): UploadQueue | undefined => queues.get(collection_id)

/** Returns the error that stopped the uploads into a collection; null if they continue. */
export function stoppedBy(collection_id: string): { message: string } | null {
  const queue = queues.get(collection_id)
  if (!queue?.problem || !queue.items.some((item) => item.isUnsent)) return null
  return { message: problemText(queue.problem, uploadLanguage()) }
}

/** Returns the fraction of a track's file that this tab has sent, 0–1; null if this tab is not sending it. */
export function sentOf({ id, collection_id }: Pick<Listed, 'id' | 'collection_id'>): number | null {
  const item = itemFor({ id, collection_id })
  return replacements.get(id)?.fraction ?? (item?.isUnsent ? item.fraction : null)
}

/** Returns the file that is being uploaded for a track. */
export const itemFor = ({ id, collection_id }: Pick<Listed, 'id' | 'collection_id'>): UploadItem | undefined =>
  uploadsTo(collection_id).find(({ target }) => target?.track_id === id)

/** The tracks whose upload this tab started but did not finish. They are stored, because a reload ends the uploads. */
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

/** Creates a collection for files, or one for each folder, and uploads them. Navigates to the collection. */
export async function uploadAsCollection({ client, api_key }: Connection, files: File[]): Promise<void> {
  const groups = groupsOf(files)
  if (groups.length === 0) return announce(t('There are no audio files in this folder.'))
  let last = ''
  for (const { title, files, cover } of groups) {
    const made = await client.post('/v1/collection', { body: { title } })
    if (!made.ok) return announce(explain(made))
    const { collection, collection_id } = made
    startNaming(collection_id, collection.title, collection.player_subtitle)
    upload(api_key, collection_id, files)
    if (cover) void sendCover(collection_id, made.collection_cover_upload, cover)
    last = collection_id
  }
  if (groups.length === 1) go('collection', last)
  else go('library')
}

async function sendCover(collection_id: string, handle: UploadHandle, cover: File): Promise<void> {
  const sent = await uploadFile(handle, cover)
  if (sent.ok) renewCollection(collection_id)
  else announce(t('The cover was not uploaded: {problem}', { problem: sent.message }))
}

/** Uploads files into a collection. */
export function upload(api_key: string, collection_id: string, files: File[]): void {
  let queue = queues.get(collection_id)
  if (!queue) {
    queue = openQueue(api_key, collection_id)
    queues.set(collection_id, queue)
  }
  // The error that stopped the queue may be solved.
  queue.reconsider()
  queue.add(files)
}

/** Whether an earlier page sent a part of this large file to this track. Then the queue sends only the rest. */
async function goesOn({ api_key }: Connection, track: Pick<Listed, 'id' | 'collection_id'>, file: File) {
  const options = optionsOf(api_key, track.collection_id)
  const ledger = openLedger(() => options)
  const item = new UploadItem(file, file)
  await restoreUpload(item, file, ledger)
  return item.target?.track_id === track.id
}

/**
 * Sends a file for an existing track, which plays its previous file until the new one is ready. Resolves to the track in its new state, or to
 * null if the file continues in the queue.
 */
export async function sendFor(connection: Connection, track: Pick<Listed, 'id' | 'collection_id'>, file: File) {
  const { id, collection_id } = track
  if (!itemFor(track) && (await goesOn(connection, track, file))) {
    upload(connection.api_key, collection_id, [file])
    return null
  }
  // The service explains why an empty file fails.
  if (file.size > 0 && (await isTextFile(file)))
    return { ok: false, code: 'text_file', message: uploaderTexts().errors.text_file! } as const
  // Until now, the list showed the row of the other file for this track.
  if (itemFor(track)) arrivals.set({ collection_id, track_id: id, isUploaded: false })
  endSending(track)
  const sending: Replacement = { collection_id, fraction: 0, controller: new AbortController() }
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
  replacements.set(id, sending)
  begin(id)
  changed()
  const answer = await send()
  if (answer.ok) arrivals.set({ collection_id, track_id: id, isUploaded: true, track: answer.track })
  if (replacements.get(id) === sending) replacements.delete(id)
  forgetTrack(id)
  changed()
  return answer
}

/** Ends the upload for a track that is deleted or gets another file. */
export function endSending(track: Pick<Listed, 'id' | 'collection_id'>): void {
  const item = itemFor(track)
  if (item) queues.get(track.collection_id)?.remove(item)
  replacements.get(track.id)?.controller.abort()
  finish(track.id)
}

/** Ends the uploads into a collection that is deleted, or all uploads when the user signs out. */
export function endUploads(collection_id?: string): void {
  // The next user of this tab must not see these tracks as interrupted.
  if (collection_id === undefined) unfinished.clear()
  for (const [id, queue] of queues) {
    if (collection_id !== undefined && id !== collection_id) continue
    queue.remove(...queue.items)
    queues.delete(id)
  }
  for (const [id, sending] of replacements) {
    if (collection_id === undefined || sending.collection_id === collection_id) endSending({ ...sending, id })
  }
}

/** Continues the uploads with another key of the organization. */
export function renewUploads(apiKey: string): void {
  for (const queue of queues.values()) queue.configure({ apiKey })
}

function changed(): void {
  guard(replacements.size > 0 || [...queues.values()].some(({ items }) => items.some((item) => item.isUnsent)))
  uploadChanges.set(uploadChanges.get() + 1)
}

/**
 * Reports that a file has arrived, because reading the list of tracks does not check for new files. Until the response, the list shows the track as
 * waiting for its file.
 */
async function startProcessing(client: Client, collection_id: string, track_id: string): Promise<void> {
  const arrival = { collection_id, track_id, isUploaded: true }
  arrivals.set(arrival)
  const answer = await client.post('/v1/track/{track_id}/upload_complete', { params: { track_id } })
  if (answer.ok) arrivals.set({ ...arrival, track: answer.track })
  // After any other failure, the jobs look for the track again and again.
  else if (!isTransient(answer)) arrivals.set({ ...arrival, isUploaded: false })
}

const optionsOf = (apiKey: string, collectionId: string) => ({ baseUrl: location.origin, apiKey, collectionId })

function openQueue(api_key: string, collection_id: string): UploadQueue {
  const options = { ...optionsOf(api_key, collection_id), keepsTracks: true }
  const queue = new UploadQueue(options, {
    onEvent(type, item) {
      const track_id = item.target?.track_id
      // A retry for the same track does not emit `upload-start` again.
      if ((type === 'upload-start' || type === 'upload-progress') && track_id) begin(track_id)
      if (type === 'upload-cancel' && track_id) finish(track_id)
      if (type !== 'upload-complete') return
      if (track_id) {
        finish(track_id)
        void startProcessing(connect(api_key), collection_id, track_id)
      }
      // From now on, the table of the tracks shows the state. The file is removed at once, so that the queue does not poll its track.
      queue.remove(item)
    },
    onQueueEvent(_, detail) {
      if (!('code' in detail)) return
      if (detail.code === 'unauthorized') refuseKey(api_key)
      else announce(problemText(detail, uploadLanguage()))
    },
    onChange: changed,
  })
  return queue
}
