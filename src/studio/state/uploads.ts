import { connect } from '../../elements/uploader/connection.ts'
import { createGuard } from '../../elements/uploader/guard.ts'
import type { Host } from '../../elements/uploader/host.ts'
import { isUnsent, type Item } from '../../elements/uploader/item.ts'
import { createQueue, type Queue } from '../../elements/uploader/queue.ts'
import { DEFAULT_ACCEPT } from '../../elements/uploader/rules.ts'
import { en } from '../../elements/uploader/texts_en.ts'
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

/** The texts of the states that files go through. */
export const texts = en

/** The files on their way into a collection. */
export const uploadsTo = (collection_id: string): readonly Item[] => queues.get(collection_id)?.items ?? []

/** The queue of a collection, to pause, retry and cancel. */
export const queueOf = (collection_id: string): Queue | undefined => queues.get(collection_id)

/** Sends files into a collection, with the key that is signed in. */
export function upload(api_key: string, collection_id: string, files: File[]): void {
  let queue = queues.get(collection_id)
  if (!queue) {
    queue = openQueue(api_key, collection_id)
    queues.set(collection_id, queue)
  }
  queue.add(files)
}

/** Ends all uploads, when somebody signs out. */
export function endUploads(): void {
  for (const queue of queues.values()) queue.remove(...queue.items)
  queues.clear()
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
      if (name !== 'upload-complete') return
      const { id, track_id } = detail as { id: string; track_id: string | null }
      // From here on the collection's page follows the track; the queue has done its part.
      queueMicrotask(() => {
        queue.remove(...queue.items.filter((item) => item.id === id))
        if (track_id) arrivals.set({ collection_id, track_id })
      })
    },
    changed() {
      guard([...queues.values()].some(({ items }) => items.some(isUnsent)))
      uploadChanges.set(uploadChanges.get() + 1)
    },
  }
  const queue = createQueue(host)
  return queue
}
