import { type Parts, type Target, UploadItem, type UploadOptions } from './item.ts'

/**
 * Stores uploads, so that they can continue after a reload or a crash: those in parts, and with the option `remembers` all of the list. Uses IndexedDB,
 * which also works on pages without https. If IndexedDB is unavailable, e.g. in a private window or on a full disk, uploads work but are not stored.
 */

/** The fields of a file that is done: it was uploaded, or will never be sent. */
type Outcome = Pick<UploadItem, 'state' | 'status' | 'duration' | 'problem' | 'retriable'>

/** A stored upload. */
interface Entry {
  /** The destination, and the fingerprint of the file; if the file is done, its track instead. */
  key: string
  name: string
  size: number
  fingerprint: string | null
  /** The target without its client, which cannot be stored; null before the file has a track. */
  target: Target | null
  parts: Parts | null
  /** Null while the file is not done. */
  outcome: Outcome | null
  /** When the file was added, in milliseconds since 1970. */
  at: number
}

/** Milliseconds for which an upload without parts is stored, as long as one in parts can be continued. */
const DAY = 86_400_000

export interface Ledger {
  /** Whether it stores all uploads, and not only those in parts. */
  remembersAll: boolean
  /** Returns the stored uploads for this destination that have no lock in this tab; with `idle`, only those that no tab is sending. */
  read: (unlocked?: 'idle') => Promise<Entry[]>
  /**
   * Locks a file for this tab until `remove` is called, with Web Locks, which require https. Resolves to false if another tab is
   * sending the file. If a signal is given, waits until the other tab releases the file, and resolves to false if the signal aborts.
   */
  claim: (item: UploadItem, signal?: AbortSignal) => Promise<boolean>
  save: (item: UploadItem) => Promise<void>
  remove: (item: UploadItem) => Promise<void>
  /** Stores that a file is done, and releases its lock. */
  finish: (item: UploadItem) => Promise<void>
  /** Removes a file that is done. */
  forget: (item: UploadItem) => Promise<void>
}

/** The largest prime below 2⁴⁴. Any smaller number times 257 is still an exact integer. */
const PRIME = 17_592_186_044_399

/** Returns a polynomial hash of 44 bits, which together with the size and time is sufficient to distinguish files. */
const hash = (bytes: Uint8Array) => bytes.reduce((sum, byte) => (sum * 257 + byte) % PRIME, 0)

const SAMPLE = 65_536

/**
 * Returns a fingerprint of a file from its size, time and name, and its first and last bytes. Does not use `crypto.subtle`, which requires
 * https.
 */
async function fingerprintOf(file: File): Promise<string> {
  const ends = new Blob([file.name, '\0', file.slice(0, SAMPLE), file.slice(-SAMPLE)])
  const bytes = await ends.arrayBuffer().catch(() => new ArrayBuffer(0))
  return [file.size, file.lastModified, hash(new Uint8Array(bytes))].map((number) => number.toString(36)).join('-')
}

/** Stores nothing. Used in Node and other environments without IndexedDB. */
const nothing = async () => {}
const NONE: Ledger = {
  remembersAll: false,
  read: async () => [],
  claim: async () => true,
  save: nothing,
  remove: nothing,
  finish: nothing,
  forget: nothing,
}

const STORE = 'uploads'
/** Milliseconds until a request to the database fails. */
const DATABASE_TIMEOUT = 3000

/** Resolves to the result of a request to IndexedDB. */
const resultOf = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    const fail = () => reject(request.error ?? new Error('IndexedDB failed'))
    request.onsuccess = () => resolve(request.result)
    request.onerror = fail
    setTimeout(fail, DATABASE_TIMEOUT)
  })

async function openDatabase(): Promise<IDBDatabase> {
  // Throws if storage is forbidden, e.g. in a sandboxed frame.
  const opening = indexedDB.open('tonearm', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: 'key' })
  return resultOf(opening)
}

/** The locks that this tab holds, by key, for all queues of the page. */
const held = new Map<string, { item: UploadItem; release: () => void }>()

const lockOf = (key: string) => `tonearm ${key}`

/** Returns a key for the destination of files. */
const destinationOf = ({ baseUrl, collectionId, uploadSessionId }: UploadOptions) =>
  `${baseUrl} ${uploadSessionId || collectionId}`

/** Opens the ledger, which stores the uploads to the destination in the options: those in parts, or while `remembers` is true, all. */
export function openLedger(options: () => UploadOptions): Ledger {
  if (typeof indexedDB === 'undefined') return NONE
  const place = () => destinationOf(options())
  const remembersAll = () => options().remembers === true
  const database = openDatabase()
  database.catch(() => {})

  /** Runs a request in the database. Resolves to null if there is no database or the request fails. */
  const query = <T>(mode: IDBTransactionMode, act: (entries: IDBObjectStore) => IDBRequest<T>): Promise<T | null> =>
    database.then((open) => resultOf(act(open.transaction(STORE, mode).objectStore(STORE)))).catch(() => null)

  async function load(): Promise<Entry[]> {
    const all: Entry[] = (await query('readonly', (entries) => entries.getAll())) ?? []
    const isOver = ({ parts, at }: Entry) => (parts?.endsAt ?? at + DAY) <= Date.now()
    for (const { key } of all.filter(isOver)) void query('readwrite', (entries) => entries.delete(key))
    return all.filter((entry) => entry.key.startsWith(`${place()} `) && !isOver(entry))
  }

  /** Returns the entry of an item without its client, which cannot be stored. */
  function entryOf({ name, size, fingerprint, target, parts, addedAt }: UploadItem, key: string): Entry {
    const { client: _, ...storable } = target ?? {}
    return { key, name, size, fingerprint, target: target && (storable as Target), parts, outcome: null, at: addedAt }
  }

  return {
    get remembersAll() {
      return remembersAll()
    },

    async read(idle) {
      const locks = idle && (await navigator.locks?.query().catch(() => null))
      const busy = new Set(locks?.held?.map(({ name }) => name))
      return (await load()).filter(({ key }) => !held.has(key) && !busy.has(lockOf(key)))
    },

    async claim(item, signal) {
      const key = `${place()} ${item.fingerprint}`
      if (!item.fingerprint || item.key) return true
      const holder = held.get(key)
      if (holder && holder.item !== item) {
        // The file is in this tab twice. The second item gets its own track, which is not stored.
        if (!item.target?.client) item.target = item.parts = null
        return true
      }
      if (!holder) {
        // Reserves the key, because another item of this tab may claim it while the lock is requested.
        if (!signal) held.set(key, { item, release() {} })
        const release = await lock(key, signal)
        if (release) held.set(key, { item, release })
        else if (!signal) held.delete(key)
        if (!release) return false
      }
      item.key = key
      // The other tab may have sent more parts.
      const entries = await load()
      const stored =
        entries.find((entry) => entry.key === key) ??
        // The other tab has sent the whole file.
        (signal && entries.find(({ outcome, fingerprint }) => outcome && fingerprint === item.fingerprint))
      if (stored && (!item.target || item.target.track_id === stored.target?.track_id)) restore(item, stored)
      return true
    },

    async remove(item) {
      const { key } = item
      if (key === null) return
      item.key = null
      await query('readwrite', (entries) => entries.delete(key))
      // The lock is released only after the entry was deleted, unless the item was claimed again in the meantime.
      if (item.key !== null) return
      held.get(key)?.release()
      held.delete(key)
    },

    async save(item) {
      const { key, parts } = item
      if (key && (parts || remembersAll())) await query('readwrite', (entries) => entries.put(entryOf(item, key)))
    },

    async finish(item) {
      const { state, status, duration, problem, retriable, name, size, target } = item
      if (remembersAll()) {
        // The destination may change before the file is forgotten.
        item.doneKey ??= `${place()} ${target?.track_id ?? `${name} ${size}`}`
        const outcome = { state, status, duration, problem, retriable }
        const entry: Entry = { ...entryOf(item, item.doneKey), parts: null, outcome }
        // The upload URLs are not needed any more. The rest is needed to read the track, and to delete one without a file.
        if (target)
          entry.target = { upload_session_id: target.upload_session_id, track_id: target.track_id, received: 0 }
        await query('readwrite', (entries) => entries.put(entry))
      }
      await this.remove(item)
    },

    async forget(item) {
      const { doneKey } = item
      item.doneKey = null
      if (doneKey !== null) await query('readwrite', (entries) => entries.delete(doneKey))
    },
  }
}

/**
 * Acquires the lock of a key. Resolves to the function that releases it, or to null while another tab holds it. Always succeeds if the
 * browser does not support Web Locks.
 */
const lock = (key: string, signal?: AbortSignal) =>
  new Promise<(() => void) | null>((resolve) => {
    const always = () => resolve(() => {})
    if (!navigator.locks) return always()
    navigator.locks
      .request(lockOf(key), signal ? { signal } : { ifAvailable: true }, (granted) =>
        granted ? new Promise<void>(resolve) : resolve(null),
      )
      .catch(() => (signal ? resolve(null) : always()))
  })

/** Returns the stored uploads of this destination that are not in the list yet: those that are done, and the others as interrupted items. */
export async function findStored(items: readonly UploadItem[], ledger: Ledger): Promise<UploadItem[]> {
  const entries = await ledger.read('idle')
  const isNew = ({ fingerprint, target, outcome }: Entry) =>
    !items.some((item) =>
      outcome && target ? item.target?.track_id === target.track_id : item.fingerprint === fingerprint,
    )
  const isShown = (entry: Entry) => isNew(entry) && (ledger.remembersAll || !entry.outcome)
  return entries
    .filter(isShown)
    .toSorted((one, other) => one.at - other.at)
    .map((entry) => {
      const item = new UploadItem(null, entry)
      restore(item, entry)
      const { key, outcome, at, size } = entry
      // A track that was being processed may have become ready in the meantime.
      const isPast = outcome !== null && outcome.state !== 'processing'
      Object.assign(
        item,
        { state: 'interrupted', addedAt: at },
        outcome && { ...outcome, sent: size, isPast, doneKey: key },
      )
      return item
    })
}

/** Computes the fingerprint of a file and restores its stored upload, if there is one. */
export async function restoreUpload(item: UploadItem, file: File, ledger: Ledger): Promise<void> {
  item.fingerprint = await fingerprintOf(file)
  const entries = await ledger.read()
  const entry = entries.find(({ fingerprint, outcome }) => fingerprint === item.fingerprint && !outcome)
  if (entry && !item.target) restore(item, entry)
}

function restore(item: UploadItem, { fingerprint, target, parts, outcome }: Entry): void {
  Object.assign(item, { fingerprint, target, parts, status: outcome?.status ?? null })
  item.sent = item.stored
}

/** Assigns the file to an interrupted item again. Resolves to false if it is a different file, or if the item is no longer interrupted. */
export async function reattachFile(item: UploadItem, file: File): Promise<boolean> {
  const isSame = (await fingerprintOf(file)) === item.fingerprint
  if (item.state !== 'interrupted') return false
  if (isSame) Object.assign(item, { file, state: 'queued', problem: null, checked: true })
  else item.problem = { code: 'other_file', message: '' }
  return isSame
}
