import { type Parts, type Target, UploadItem } from './item.ts'

/**
 * What is kept of files that travel in parts, so that they go on where they were after a reload or a crash. In IndexedDB, which pages
 * without https have, too. When it cannot be used (a private window, no space left) uploads go on as if there were none.
 */

/** A file that was on its way. */
interface Entry {
  /** Where it goes, and what it is. */
  key: string
  place: string
  name: string
  size: number
  fingerprint: string
  target: Target
  parts: Parts
}
/** A client cannot be written down. */
type Written = Omit<Entry, 'target'> & { target: Omit<Target, 'client'> }

export interface Ledger {
  /** What was on its way to this place, and is in no other tab. */
  read: () => Promise<Entry[]>
  remember: (item: UploadItem) => Promise<void>
  forget: (item: UploadItem) => Promise<void>
}

/** A number of 53 bits from bytes (cyrb53): together with name, size and time enough to tell files apart. */
function hash(bytes: Uint8Array): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 2_654_435_761)
    b = Math.imul(b ^ byte, 1_597_334_677)
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909)
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909)
  return 4_294_967_296 * (2_097_151 & b) + (a >>> 0)
}

const SAMPLE = 65_536

/** Tells a file from others: by its size, its time, its name, and its first and last bytes. `crypto.subtle` needs https, this does not. */
async function fingerprintOf(file: File): Promise<string> {
  const ends = new Blob([file.name, '\0', file.slice(0, SAMPLE), file.slice(-SAMPLE)])
  const bytes = await ends.arrayBuffer().catch(() => new ArrayBuffer(0))
  return [file.size, file.lastModified, hash(new Uint8Array(bytes))].map((number) => number.toString(36)).join('-')
}

/** Nothing is kept: in Node, and where there is no IndexedDB. */
const NONE: Ledger = { read: async () => [], remember: async () => {}, forget: async () => {} }

const STORE = 'uploads'

const asked = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error('IndexedDB failed'))
  })

/** What a queue keeps of what goes to its place, and goes on with by its client. */
export function openLedger(place: () => string, client: () => Target['client']): Ledger {
  if (typeof indexedDB === 'undefined') return NONE
  const opening = indexedDB.open('tonearm', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: 'key' })
  const database = asked(opening).catch(() => null)
  /** Keys that this tab sends, each with what lets go of its lock. */
  const held = new Map<string, () => void>()

  async function store(mode: IDBTransactionMode): Promise<IDBObjectStore | null> {
    return (await database)?.transaction(STORE, mode).objectStore(STORE) ?? null
  }

  async function forget({ key }: UploadItem): Promise<void> {
    if (key === null) return
    held.get(key)?.()
    held.delete(key)
    await store('readwrite')
      .then((entries) => entries && asked(entries.delete(key)))
      .catch(() => {})
  }

  return {
    forget,
    async read() {
      try {
        const entries = await store('readonly')
        const all: Written[] = entries ? await asked(entries.getAll()) : []
        const locks = await navigator.locks?.query()
        const busy = new Set(locks?.held?.map(({ name }) => name))
        return all
          .filter((entry) => entry.place === place() && entry.parts.endsAt > Date.now() && !busy.has(lockOf(entry.key)))
          .map((entry) => ({ ...entry, target: { ...entry.target, client: client() } }))
      } catch {
        return []
      }
    },
    async remember(item) {
      const { target, parts, fingerprint, file } = item
      if (!target || !parts || !fingerprint || !file) return
      item.key ??= `${place()} ${fingerprint}`
      if (!held.has(item.key)) hold(item.key)
      const { client: _, ...kept } = target
      const { name, size } = file
      const entry: Written = { key: item.key, place: place(), name, size, fingerprint, target: kept, parts }
      await store('readwrite')
        .then((entries) => entries && asked(entries.put(entry)))
        .catch(() => {})
    },
  }

  /** Other tabs leave alone what this one sends. It ends with the tab. */
  function hold(key: string): void {
    const letGo = Promise.withResolvers<void>()
    held.set(key, letGo.resolve)
    void navigator.locks?.request(lockOf(key), { ifAvailable: true }, () => letGo.promise).catch(() => {})
  }
}

const lockOf = (key: string) => `tonearm ${key}`

/** The files that were on their way to this place when a page was left, and are not in the list. */
export async function findInterrupted(items: readonly UploadItem[], ledger: Ledger): Promise<UploadItem[]> {
  const entries = await ledger.read()
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

function goOn(item: UploadItem, { key, fingerprint, target, parts }: Entry): void {
  Object.assign(item, { key, fingerprint, target, parts })
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
