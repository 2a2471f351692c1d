import { type Parts, type Target, UploadItem } from './item.ts'

/**
 * What is kept of files that travel in parts, so that they go on where they were after a reload or a crash. In IndexedDB, which pages
 * without https have, too. When it cannot be used (a private window, no space left) uploads go on as if there were none.
 */

/** A file that was on its way. */
interface Entry {
  /** Where it goes, and what it is. */
  key: string
  name: string
  size: number
  fingerprint: string
  /** Without its client, which cannot be written down. */
  target: Target
  parts: Parts
}

export interface Ledger {
  /** What was on its way to this place; with `idle` only what no other tab sends. */
  read: (idle?: 'idle') => Promise<Entry[]>
  /**
   * Makes a large file this tab's to send (Web Locks, which need https) until it is forgotten. False while another tab sends it; with a
   * signal it waits until that tab has ended, and is false when the signal aborts.
   */
  claim: (item: UploadItem, signal?: AbortSignal) => Promise<boolean>
  remember: (item: UploadItem) => Promise<void>
  forget: (item: UploadItem) => Promise<void>
}

/** The largest prime below 2⁴⁴: products with a byte's range stay exact. */
const PRIME = 17_592_186_044_399

/** A number of 44 bits from bytes (a polynomial hash): together with name, size and time enough to tell files apart. */
const hash = (bytes: Uint8Array) => bytes.reduce((sum, byte) => (sum * 257 + byte) % PRIME, 0)

const SAMPLE = 65_536

/** Tells a file from others: by its size, its time, its name, and its first and last bytes. `crypto.subtle` needs https, this does not. */
async function fingerprintOf(file: File): Promise<string> {
  const ends = new Blob([file.name, '\0', file.slice(0, SAMPLE), file.slice(-SAMPLE)])
  const bytes = await ends.arrayBuffer().catch(() => new ArrayBuffer(0))
  return [file.size, file.lastModified, hash(new Uint8Array(bytes))].map((number) => number.toString(36)).join('-')
}

/** Nothing is kept: in Node, and where there is no IndexedDB. */
const NONE: Ledger = { read: async () => [], claim: async () => true, remember: async () => {}, forget: async () => {} }

const STORE = 'uploads'
/** A database that does not answer for so long is given up, in milliseconds. */
const PATIENCE = 3000

const asked = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    const fail = () => reject(request.error ?? new Error('IndexedDB failed'))
    request.onsuccess = () => resolve(request.result)
    request.onerror = fail
    setTimeout(fail, PATIENCE)
  })

async function openDatabase(): Promise<IDBDatabase> {
  // Throws where storage is forbidden, such as in a sandboxed frame.
  const opening = indexedDB.open('tonearm', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: 'key' })
  return asked(opening)
}

/** The keys that this tab sends, for all queues of the page. */
const held = new Map<string, { item: UploadItem; letGo: () => void }>()

const lockOf = (key: string) => `tonearm ${key}`

/** The stored uploads for one destination. */
export function openLedger(place: () => string): Ledger {
  if (typeof indexedDB === 'undefined') return NONE
  const database = openDatabase()
  database.catch(() => {})

  /** Asks the database; null when there is none, or when it fails. */
  const ask = <T>(mode: IDBTransactionMode, act: (entries: IDBObjectStore) => IDBRequest<T>): Promise<T | null> =>
    database.then((open) => asked(act(open.transaction(STORE, mode).objectStore(STORE)))).catch(() => null)

  async function load(): Promise<Entry[]> {
    const all: Entry[] = (await ask('readonly', (entries) => entries.getAll())) ?? []
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
      const other = held.get(key)
      if (other && other.item !== item) {
        // The same file twice in this tab: it makes another track, and is not kept.
        if (!item.target?.client) item.target = item.parts = null
        return true
      }
      if (!other) {
        // Another one of this tab may ask meanwhile.
        if (!signal) held.set(key, { item, letGo() {} })
        const letGo = await lock(key, signal)
        if (letGo) held.set(key, { item, letGo })
        else if (!signal) held.delete(key)
        if (!letGo) return false
      }
      item.key = key
      // The other tab may have come further.
      const entry = (await load()).find((one) => one.key === key)
      if (entry && (!item.target || item.target.track_id === entry.target.track_id)) goOn(item, entry)
      return true
    },

    async forget(item) {
      const { key } = item
      if (key === null) return
      item.key = null
      await ask('readwrite', (entries) => entries.delete(key))
      // Only now may others go on; it may have been claimed again.
      if (item.key !== null) return
      held.get(key)?.letGo()
      held.delete(key)
    },

    async remember({ target, parts, fingerprint, key, name, size }) {
      if (!target || !parts || !fingerprint || !key) return
      const { client: _, ...kept } = target
      const entry: Entry = { key, name, size, fingerprint, target: kept, parts }
      await ask('readwrite', (entries) => entries.put(entry))
    },
  }
}

/** Takes the lock of a key, and returns the function that releases it: null while another tab has it. A browser without locks always returns one. */
const lock = (key: string, signal?: AbortSignal) =>
  new Promise<(() => void) | null>((resolve) => {
    const always = () => resolve(() => {})
    if (!navigator.locks) return always()
    navigator.locks
      .request(lockOf(key), signal ? { signal } : { ifAvailable: true }, (given) =>
        given ? new Promise<void>(resolve) : resolve(null),
      )
      .catch(() => (signal ? resolve(null) : always()))
  })

/** The files that were on their way to this place when a page was left, and are not in the list. */
export async function findInterrupted(items: readonly UploadItem[], ledger: Ledger): Promise<UploadItem[]> {
  const entries = await ledger.read('idle')
  const isNew = (entry: Entry) => !items.some(({ fingerprint }) => fingerprint === entry.fingerprint)
  return entries.filter(isNew).map((entry) => {
    const item = new UploadItem(null, entry)
    item.state = 'interrupted'
    goOn(item, entry)
    return item
  })
}

/** A large file that was on its way once, as its fingerprint says, goes on where it was. */
export async function recall(item: UploadItem, file: File, ledger: Ledger): Promise<void> {
  item.fingerprint = await fingerprintOf(file)
  const entries = await ledger.read()
  const entry = entries.find(({ fingerprint }) => fingerprint === item.fingerprint)
  if (entry && !item.target) goOn(item, entry)
}

function goOn(item: UploadItem, { fingerprint, target, parts }: Entry): void {
  Object.assign(item, { fingerprint, target, parts })
  item.sent = item.stored
}

/** Gives an interrupted item its file again. Whether it is the one. */
export async function takeAgain(item: UploadItem, file: File): Promise<boolean> {
  const isSame = (await fingerprintOf(file)) === item.fingerprint
  if (item.state !== 'interrupted') return false
  if (isSame) Object.assign(item, { file, state: 'queued', problem: null, checked: true })
  else item.problem = { code: 'other_file', message: '' }
  return isSame
}
