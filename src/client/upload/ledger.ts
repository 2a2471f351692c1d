import { type Parts, type Target, UploadItem } from './item.ts'

/**
 * Stores multipart uploads, so that they can continue after a reload or a crash. Uses IndexedDB, which also works on pages without https.
 * If IndexedDB is unavailable, e.g. in a private window or on a full disk, uploads work but are not stored.
 */

/** A stored upload. */
interface Entry {
  /** The destination and the fingerprint of the file. */
  key: string
  name: string
  size: number
  fingerprint: string
  /** The target without its client, which cannot be stored. */
  target: Target
  parts: Parts
}

export interface Ledger {
  /** Returns the stored uploads for this destination that have no lock in this tab; with `idle`, only those that no tab is sending. */
  read: (unlocked?: 'idle') => Promise<Entry[]>
  /**
   * Locks a large file for this tab until `remove` is called, with Web Locks, which require https. Resolves to false if another tab is
   * sending the file. If a signal is given, waits until the other tab releases the file, and resolves to false if the signal aborts.
   */
  claim: (item: UploadItem, signal?: AbortSignal) => Promise<boolean>
  save: (item: UploadItem) => Promise<void>
  remove: (item: UploadItem) => Promise<void>
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
const NONE: Ledger = { read: async () => [], claim: async () => true, save: async () => {}, remove: async () => {} }

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

/** Opens the ledger, which stores the uploads to one destination. */
export function openLedger(place: () => string): Ledger {
  if (typeof indexedDB === 'undefined') return NONE
  const database = openDatabase()
  database.catch(() => {})

  /** Runs a request in the database. Resolves to null if there is no database or the request fails. */
  const query = <T>(mode: IDBTransactionMode, act: (entries: IDBObjectStore) => IDBRequest<T>): Promise<T | null> =>
    database.then((open) => resultOf(act(open.transaction(STORE, mode).objectStore(STORE)))).catch(() => null)

  async function load(): Promise<Entry[]> {
    const all: Entry[] = (await query('readonly', (entries) => entries.getAll())) ?? []
    return all.filter(({ key, parts }) => key.startsWith(`${place()} `) && parts.endsAt > Date.now())
  }

  return {
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
      const stored = (await load()).find((entry) => entry.key === key)
      if (stored && (!item.target || item.target.track_id === stored.target.track_id)) restore(item, stored)
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

    async save({ target, parts, fingerprint, key, name, size }) {
      if (!target || !parts || !fingerprint || !key) return
      const { client: _, ...storable } = target
      const entry: Entry = { key, name, size, fingerprint, target: storable, parts }
      await query('readwrite', (entries) => entries.put(entry))
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

/** Returns the stored uploads of this destination that are not in the list yet, as interrupted items. */
export async function findInterrupted(items: readonly UploadItem[], ledger: Ledger): Promise<UploadItem[]> {
  const entries = await ledger.read('idle')
  const isNew = (entry: Entry) => !items.some(({ fingerprint }) => fingerprint === entry.fingerprint)
  return entries.filter(isNew).map((entry) => {
    const item = new UploadItem(null, entry)
    item.state = 'interrupted'
    restore(item, entry)
    return item
  })
}

/** Computes the fingerprint of a large file and restores its stored upload, if there is one. */
export async function restoreUpload(item: UploadItem, file: File, ledger: Ledger): Promise<void> {
  item.fingerprint = await fingerprintOf(file)
  const entries = await ledger.read()
  const entry = entries.find(({ fingerprint }) => fingerprint === item.fingerprint)
  if (entry && !item.target) restore(item, entry)
}

function restore(item: UploadItem, { fingerprint, target, parts }: Entry): void {
  Object.assign(item, { fingerprint, target, parts })
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
