import { createReadStream } from 'node:fs'
import { appendFile, stat } from 'node:fs/promises'

import type { ListedObject } from '../../src/contract/backup.ts'
import { type CopiedObject, objectPath, readManifest, sourcesOf } from './manifest.ts'
import { bytesText, Fault, forEachAtOnce, patiently, progressPrinter, type Service } from './service.ts'
import { objectsFile } from './state.ts'
import { type Bytes, jsonLines, type Store, Truncated } from './store.ts'

/** Number of objects that are copied at the same time. */
const AT_ONCE = 8
/** How often an object is read again whose bytes ended early. */
const ATTEMPTS = 5

/** The objects that are in the store. `isListed`: whether the last pass found the object in the bucket. */
export type ObjectIndex = Map<string, CopiedObject & { isListed: boolean }>

/** Reads the index of the previous backup in the store and the lines that an unfinished run has added. */
export async function readIndex(store: Store): Promise<ObjectIndex> {
  const index: ObjectIndex = new Map()
  const manifest = await readManifest(store)
  const previous = manifest && (await store.read(sourcesOf(manifest).bucket.index.path))
  const add = async (lines: AsyncIterable<CopiedObject>) => {
    for await (const object of lines) index.set(object.path, { ...object, isListed: false })
  }
  if (previous) await add(jsonLines<CopiedObject>(previous))
  if (await stat(objectsFile(store)).catch(() => null)) {
    await add(jsonLines<CopiedObject>(createReadStream(objectsFile(store)), true))
    // Ends a line that a kill has cut off.
    await appendFile(objectsFile(store), '\n')
  }
  return index
}

/** Copies every object of the bucket that is not in the index with the same ETag. */
export async function copyObjects(service: Service, store: Store, index: ObjectIndex): Promise<void> {
  const progress = progressPrinter()
  const sum = { listed: 0, copied: 0, bytes: 0 }
  for (const object of index.values()) object.isListed = false
  for (let after: string | null = ''; after !== null;) {
    const page: { objects: ListedObject[]; after: string | null } = await service.call('objects', { after })
    await forEachAtOnce(page.objects, AT_ONCE, async (object) => {
      sum.listed++
      const known = index.get(object.path)
      if (known?.etag === object.etag && known.size === object.size) {
        known.isListed = true
        return
      }
      const copy = await copyObject(store, object)
      if (!copy) return
      await appendFile(objectsFile(store), `${JSON.stringify(copy)}\n`, { mode: 0o600 })
      index.set(copy.path, { ...copy, isListed: true })
      sum.copied++
      sum.bytes += copy.size
      progress(() => `objects   ${sum.listed} found, ${sum.copied} copied (${bytesText(sum.bytes)}) …`)
    })
    after = page.after
  }
  console.log(`objects   ${sum.listed} found, ${sum.copied} copied (${bytesText(sum.bytes)})`)
}

/** Copies an object. Returns null if it was deleted in the meantime, and an object that was replaced as it is now. */
async function copyObject(store: Store, { path, size, url, ...object }: ListedObject): Promise<CopiedObject | null> {
  for (let attempt = 1; ; attempt++) {
    const response = await patiently(url, () => ({}))
    if (response.status === 404) {
      await response.body?.cancel()
      return null
    }
    if (!response.ok) throw new Fault(`${path}: ${response.status} ${(await response.text()).slice(0, 300)}`)
    const length = Number(response.headers.get('content-length') ?? size)
    const etag = response.headers.get('etag')?.replace(/^W\/|"/g, '') ?? object.etag
    const { content_type, cache_control } = object
    let body: Bytes | null = response.body ?? emptyBytes()
    const open = async () => {
      const opened = body ?? (await patiently(url, () => ({}))).body ?? emptyBytes()
      body = null
      return opened
    }
    try {
      const checksums = await store.write(objectPath(path), length, open)
      return { path, etag, content_type, cache_control, ...checksums }
    } catch (error) {
      if (error instanceof Fault || attempt === ATTEMPTS) throw error
      if (!(error instanceof Truncated || error instanceof TypeError || isNetworkError(error))) throw error
    }
  }
}

async function* emptyBytes(): Bytes {}

const isNetworkError = (error: unknown) =>
  error instanceof Error &&
  /terminated|ECONNRESET|socket|aborted|closed/i.test(`${error.message} ${String(error.cause)}`)
