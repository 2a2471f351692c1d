import { connect } from '../../elements/uploader/connection.ts'
import { createGuard } from '../../elements/uploader/guard.ts'
import type { Host } from '../../elements/uploader/host.ts'
import { type FileView, isUnsent, type Item, type Problem } from '../../elements/uploader/item.ts'
import { createQueue, type Queue } from '../../elements/uploader/queue.ts'
import { DEFAULT_ACCEPT } from '../../elements/uploader/rules.ts'
import { en } from '../../elements/uploader/texts_en.ts'
import { announce } from '../announce.ts'
import { createStore } from './store.ts'

/** Uploads go on while other pages are looked at: the uploader's engine, one queue for each collection. */

/** Files whose bytes travel at the same time: more would only share the same line. */
const AT_ONCE = 3

const queues = new Map<string, Queue>()
const guard = createGuard()

/** Counts the changes of all queues. */
export const uploadChanges = createStore(0)
/** The track whose bytes have just arrived. */
export const arrivals = createStore<{ collection_id: string; track_id: string } | null>(null)

/** The texts of the states that files go through, and of what stops them. */
export const texts = {
  ...en,
  wrongKey: 'Uploads have stopped: this key is not valid any more.',
  placeNotFound: 'Uploads have stopped: their collection does not exist any more.',
}

/** The files on their way into a collection. */
export const uploadsTo = (collection_id: string): readonly Item[] => queues.get(collection_id)?.items ?? []

/** The queue of a collection, to pause, retry and cancel. */
export const queueOf = (collection_id: string): Queue | undefined => queues.get(collection_id)

/** What stopped the files that are on their way into a collection; null while they travel. */
export const stoppedBy = (collection_id: string): Problem | null =>
  uploadsTo(collection_id).some(isUnsent) ? (queues.get(collection_id)?.state().problem ?? null) : null

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

/** Ends the uploads into a collection that is deleted, or all of them when somebody signs out. */
export function endUploads(collection_id?: string): void {
  for (const [id, queue] of queues) {
    if (collection_id !== undefined && id !== collection_id) continue
    queue.remove(...queue.items)
    queues.delete(id)
  }
}

function openQueue(api_key: string, collection_id: string): Queue {
  const connection = connect({ base_url: location.origin, api_key, collection_id, upload_session_id: '' })
  const host: Host = {
    settings: () => ({
      accept: DEFAULT_ACCEPT,
      maxSize: null,
      atOnce: AT_ONCE,
      manual: false,
      texts,
      describe: () => ({}),
    }),
    connection: () => connection,
    missing: () => null,
    emit(name, detail) {
      if (name === 'error') announce((detail as Problem).message)
      if (name !== 'upload-complete') return
      const { id, track_id } = detail as FileView
      // From here on the collection's page follows the track; taken out at once, the file is not followed by the queue as well.
      queue.remove(...queue.items.filter((item) => item.id === id))
      if (track_id) arrivals.set({ collection_id, track_id })
    },
    changed() {
      guard([...queues.values()].some(({ items }) => items.some(isUnsent)))
      uploadChanges.set(uploadChanges.get() + 1)
    },
  }
  const queue = createQueue(host)
  return queue
}
