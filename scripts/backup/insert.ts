import { MAX_OBJECTS, MAX_REQUEST_BYTES, MAX_ROWS, type Row } from '../../src/contract/backup.ts'
import {
  type BucketSource,
  type CopiedObject,
  type DatabaseSource,
  type Manifest,
  objectPath,
  type sourcesOf,
} from './manifest.ts'
import { bytesText, Fault, forEachAtOnce, progressPrinter, type Service } from './service.ts'
import { type Bytes, checked, jsonLines, sendBytes, type Store } from './store.ts'

/** Inserts the objects and rows of a backup into a service, or those of an export (docs/decisions/0081, 0128). */

/** Number of objects that are copied at the same time. */
const AT_ONCE = 8
/** Bytes of rows in one request. */
const PAGE_BYTES = MAX_REQUEST_BYTES / 2

/** Opens a file of a backup. Throws if it does not exist. */
export async function readStored(store: Store, path: string): Promise<Bytes> {
  const bytes = await store.read(path)
  if (!bytes) throw new Fault(`${store.name} has no ${path}: the backup is damaged. Use another one.`)
  return bytes
}

/** Reads the files with the rows and the list of objects once, so that a damaged backup changes nothing. */
export async function verifyFiles(store: Store, { bucket, database }: ReturnType<typeof sourcesOf>): Promise<void> {
  for (const file of [bucket.index, ...database.tables.map((table) => table.file)]) {
    const { bytes, checksums } = checked(await readStored(store, file.path))
    for await (const _ of bytes);
    if (checksums().sha256 !== file.sha256)
      throw new Fault(`${file.path} has another SHA-256 than the manifest: the backup is damaged. Use another one.`)
  }
}

/** Copies the objects that the bucket does not have yet, and compares their checksums. */
export async function restoreObjects(service: Service, store: Store, { backup_id }: Manifest, source: BucketSource) {
  const present = new Map<string, string>()
  for (let after: string | null = ''; after !== null;) {
    const page: Awaited<ReturnType<typeof service.call<'objects'>>> = await service.call('objects', { after })
    for (const { path, etag } of page.objects) present.set(path, etag)
    after = page.after
  }
  const progress = progressPrinter()
  const sum = { seen: 0, copied: 0, bytes: 0 }
  let batch: CopiedObject[] = []
  const copyBatch = async () => {
    if (batch.length === 0) return
    const { urls } = await service.call('urls', { backup_id, paths: batch.map(({ path }) => path) })
    const targets = batch.map((object, at) => ({ object, url: urls[at]! }))
    batch = []
    await forEachAtOnce(targets, AT_ONCE, async ({ object, url }) => {
      await copyObject(store, object, url)
      sum.copied++
      sum.bytes += object.size
      progress(() => `objects   ${sum.seen} of ${source.objects}, ${sum.copied} copied (${bytesText(sum.bytes)}) …`)
    })
  }
  for await (const object of jsonLines<CopiedObject>(await readStored(store, source.index.path))) {
    sum.seen++
    if (present.get(object.path) === object.md5) continue
    batch.push(object)
    if (batch.length === MAX_OBJECTS) await copyBatch()
  }
  await copyBatch()
  console.log(`objects   ${source.objects}, of which ${sum.copied} copied (${bytesText(sum.bytes)})`)
}

async function copyObject(store: Store, object: CopiedObject, url: string): Promise<void> {
  const { path, size, sha256, content_type, cache_control } = object
  const headers = {
    ...(content_type !== null && { 'content-type': content_type }),
    ...(cache_control !== null && { 'cache-control': cache_control }),
  }
  const { response, checksums } = await sendBytes(url, size, () => readStored(store, objectPath(path)), headers)
  if (!response.ok) throw new Fault(`${path}: ${response.status} ${(await response.text()).slice(0, 300)}`)
  await response.body?.cancel()
  if (checksums.sha256 !== sha256)
    throw new Fault(
      `${objectPath(path)} has another SHA-256 than the list of objects: the backup is damaged. Use another one.`,
    )
}

/** Reads the rows of a table as they are stored. */
export async function* readRows(
  store: Store,
  { tables }: Pick<DatabaseSource, 'tables'>,
  name: string,
): AsyncGenerator<Row> {
  const table = tables.find((each) => each.name === name)
  if (table) yield* jsonLines<Row>(await readStored(store, table.file.path))
}

/** Inserts the rows of all tables in the order of the manifest. Tables that are complete are left out. */
export async function restoreRows(
  service: Service,
  store: Store,
  { backup_id }: Manifest,
  { tables }: DatabaseSource,
  counts: Record<string, number>,
) {
  for (const { name, rows: expected } of tables) {
    const progress = progressPrinter()
    if ((counts[name] ?? 0) >= expected) {
      console.log(`rows      ${name}: ${expected}`)
      continue
    }
    let inserted = 0
    let page: Row[] = []
    let bytes = 0
    const send = async () => {
      await service.call('insert', { backup_id, table: name, rows: page })
      inserted += page.length
      page = []
      bytes = 0
      progress(() => `rows      ${name}: ${inserted} of ${expected} …`)
    }
    for await (const row of readRows(store, { tables }, name)) {
      const size = Buffer.byteLength(JSON.stringify(row))
      if (page.length === MAX_ROWS || (page.length > 0 && bytes + size > PAGE_BYTES)) await send()
      page.push(row)
      bytes += size
    }
    if (page.length > 0) await send()
    console.log(`rows      ${name}: ${inserted}`)
  }
}
