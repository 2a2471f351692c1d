import { MAX_OBJECTS, MAX_REQUEST_BYTES, MAX_ROWS, type Row } from '../src/contract/backup.ts'
import {
  type BucketSource,
  type CopiedObject,
  type DatabaseSource,
  type Manifest,
  objectPath,
  readManifest,
  sourcesOf,
} from './backup/manifest.ts'
import {
  bytesText,
  Fault,
  forEachAtOnce,
  openService,
  progressPrinter,
  readOptions,
  runCommand,
  type Service,
} from './backup/service.ts'
import { type Bytes, checked, jsonLines, openStore, sendBytes, type Store } from './backup/store.ts'

/** `npm run restore`: restores a backup into an empty service (docs/backup.md, docs/decisions/0081). */

const USAGE = `ROOT_KEY=… npm run restore -- --from DIRECTORY|s3://BUCKET/FOLDER [OPTIONS]      docs/backup.md
  --url https://audio.example.com   the service; without it, a running npm start
  --other-secret                    restores although SIGNING_SECRET is another one
  --resume-webhooks                 starts the webhooks of a restored service; needs no --from`

/** Number of objects that are copied at the same time. */
const AT_ONCE = 8
/** Bytes of rows in one request. */
const PAGE_BYTES = MAX_REQUEST_BYTES / 2

async function readStored(store: Store, path: string): Promise<Bytes> {
  const bytes = await store.read(path)
  if (!bytes) throw new Fault(`${store.name} has no ${path}: the backup is damaged. Use another one.`)
  return bytes
}

/** Reads the files with the rows and the list of objects once, so that a damaged backup changes nothing. */
async function verifyFiles(store: Store, { bucket, database }: ReturnType<typeof sourcesOf>): Promise<void> {
  for (const file of [bucket.index, ...database.tables.map((table) => table.file)]) {
    const { bytes, checksums } = checked(await readStored(store, file.path))
    for await (const _ of bytes);
    if (checksums().sha256 !== file.sha256)
      throw new Fault(`${file.path} has another SHA-256 than the manifest: the backup is damaged. Use another one.`)
  }
}

/** Copies the objects that the bucket does not have yet, and compares their checksums. */
async function restoreObjects(service: Service, store: Store, { backup_id }: Manifest, source: BucketSource) {
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

/** Inserts the rows of all tables in the order of the manifest. Tables that are complete are left out. */
async function restoreRows(
  service: Service,
  store: Store,
  { backup_id }: Manifest,
  { tables }: DatabaseSource,
  counts: Record<string, number>,
) {
  for (const { name, rows: expected, file } of tables) {
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
    for await (const row of jsonLines<Row>(await readStored(store, file.path))) {
      const size = Buffer.byteLength(JSON.stringify(row))
      if (page.length === MAX_ROWS || (page.length > 0 && bytes + size > PAGE_BYTES)) await send()
      page.push(row)
      bytes += size
    }
    if (page.length > 0) await send()
    console.log(`rows      ${name}: ${inserted}`)
  }
}

async function finish(service: Service, { backup_id }: Manifest, { tables }: DatabaseSource): Promise<number> {
  const counts = Object.fromEntries(tables.map(({ name, rows }) => [name, rows]))
  let queued = 0
  for (let after: string | null = ''; after !== null;) {
    const page: Awaited<ReturnType<typeof service.call<'finish'>>> = await service.call('finish', {
      backup_id,
      after,
      counts,
    })
    queued += page.queued
    after = page.after
  }
  return queued
}

/** Returns the command that starts the webhooks of a restored service. */
function resumeCommand({ isLocal, base_url }: Service): string {
  const command = 'npm run restore -- --resume-webhooks'
  if (!isLocal) return `ROOT_KEY=… ${command} --url ${base_url}`
  const { PORT } = process.env
  return PORT ? `PORT=${PORT} ${command}` : command
}

async function restore(service: Service, store: Store, acceptsOtherSecret: boolean): Promise<void> {
  const startedAt = Date.now()
  const manifest = await readManifest(store)
  if (!manifest)
    throw new Fault(
      `${store.name} has no manifest.json, so it has no finished backup. Run npm run backup -- --to ${store.name} again; it continues.`,
    )
  const sources = sourcesOf(manifest)
  const { backup_id, schema_version, secret_fingerprint } = manifest
  const target = await service.call('describe', {})
  if (target.secret_fingerprint !== secret_fingerprint && !acceptsOtherSecret)
    throw new Fault(`${service.base_url} has another SIGNING_SECRET than the service of the backup. Set the old one (npx wrangler secret put SIGNING_SECRET). If it
is lost, --other-secret restores without it; docs/operate.md#new-keys says what stops working.`)
  await verifyFiles(store, sources)
  await service.call('start', { backup_id, schema_version })
  console.log(target.restore ? 'continues the restore' : `restores the backup of ${manifest.cut.at}`)
  if (!target.restore?.is_complete) {
    await restoreObjects(service, store, manifest, sources.bucket)
    await restoreRows(service, store, manifest, sources.database, target.restore?.counts ?? {})
  }
  const queued = await finish(service, manifest, sources.database)
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  console.log(`
${service.base_url} has the state of ${manifest.cut.at} after ${seconds} s. Transcodes queued again: ${queued}
Webhooks are paused. Check the service, then start them: ${resumeCommand(service)}`)
}

const options = readOptions(
  {
    from: { type: 'string' },
    url: { type: 'string' },
    'other-secret': { type: 'boolean' },
    'resume-webhooks': { type: 'boolean' },
  },
  USAGE,
)
if (!options.from && !options['resume-webhooks']) {
  console.error(USAGE)
  process.exit(2)
}
await runCommand(async () => {
  const service = openService(options.url)
  if (options.from) return restore(service, openStore(options.from), options['other-secret'] === true)
  const { resumed } = await service.call('resume', {})
  console.log(`${resumed} webhook endpoints are active again; what was pending is sent now.`)
})
