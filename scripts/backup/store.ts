import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { AwsV4Signer } from 'aws4fetch'

import { Fault, patiently } from './service.ts'

/** Bytes that can be read as a stream. */
export type Bytes = AsyncIterable<Uint8Array>

/** The checksums of an object, in hexadecimal. */
export interface Checksums {
  size: number
  sha256: string
  md5: string
}

/** Where a backup is stored: a directory or a bucket. Paths contain slashes. */
export interface Store {
  name: string
  /** Stores an object as a whole or not at all. `open` is called again if the storage has to be tried again. */
  write: (path: string, size: number, open: () => Promise<Bytes>) => Promise<Checksums>
  /** Opens an object; null if it does not exist. */
  read: (path: string) => Promise<Bytes | null>
  remove: (path: string) => Promise<void>
  /** The directory for the rows of a backup that is in progress. */
  workDirectory: string
}

/** Passes bytes on and computes their checksums. */
export function checked(source: Bytes): { bytes: Bytes; checksums: () => Checksums } {
  const [sha256, md5] = [createHash('sha256'), createHash('md5')]
  let size = 0
  async function* pass() {
    for await (const chunk of source) {
      size += chunk.length
      sha256.update(chunk)
      md5.update(chunk)
      yield chunk
    }
  }
  return { bytes: pass(), checksums: () => ({ size, sha256: sha256.digest('hex'), md5: md5.digest('hex') }) }
}

/** Opens `s3://bucket/prefix` or a directory. */
export function openStore(place: string): Store {
  return place.startsWith('s3://') ? openBucket(place) : openDirectory(resolve(place))
}

function openDirectory(directory: string): Store {
  const pathOf = (path: string) => {
    if (path.split('/').includes('..')) throw new Fault(`${path} is not a path of a backup`)
    return join(directory, path)
  }
  return {
    name: directory,
    workDirectory: join(directory, '.work'),
    async write(path, size, open) {
      const target = pathOf(path)
      const draft = `${target}.draft`
      await mkdir(dirname(target), { recursive: true })
      const { bytes, checksums } = checked(await open())
      try {
        await pipeline(Readable.from(bytes), createWriteStream(draft, { mode: 0o600, flush: true }))
      } catch (error) {
        await rm(draft, { force: true })
        const { code, message } = error as NodeJS.ErrnoException
        if (code === 'ENOSPC')
          throw new Fault(`${directory} is full. Make room and run the same command again; it continues.`)
        throw code === undefined ? error : new Fault(`${target}: ${message}`)
      }
      const result = checksums()
      if (result.size !== size) throw new Truncated(path, size, result.size)
      await rename(draft, target)
      return result
    },
    async read(path) {
      const target = pathOf(path)
      if (!(await stat(target).catch(() => null))) return null
      return createReadStream(target)
    },
    remove: (path) => rm(pathOf(path), { force: true }),
  }
}

/** An object had another size than announced: the connection ended early, or the object was replaced. */
export class Truncated extends Error {
  constructor(path: string, expected: number, found: number) {
    super(`${path} has ${found} bytes instead of ${expected}`)
  }
}

/** R2 and S3 accept no larger object in one request (R2, Limits). */
const MAX_PUT = 5 * 1024 ** 3

const USAGE = `For s3://, set in the environment:
  BACKUP_S3_ENDPOINT        https://ACCOUNT.r2.cloudflarestorage.com, or the endpoint of another provider
  BACKUP_ACCESS_KEY_ID      a pair of keys that may read and write the bucket
  BACKUP_SECRET_ACCESS_KEY`

function openBucket(place: string): Store {
  const [, bucket, prefix = ''] = /^s3:\/\/([\w.-]+)((?:\/[\w.-]+)*)\/?$/.exec(place) ?? []
  const {
    BACKUP_S3_ENDPOINT: endpoint,
    BACKUP_ACCESS_KEY_ID: accessKeyId,
    BACKUP_SECRET_ACCESS_KEY: secretAccessKey,
  } = process.env
  if (!bucket) throw new Fault(`${place} is not s3://BUCKET or s3://BUCKET/FOLDER`)
  if (!endpoint || !accessKeyId || !secretAccessKey) throw new Fault(USAGE)
  const keys = { accessKeyId, secretAccessKey }
  const region = process.env.BACKUP_S3_REGION || 'auto'
  /** URLs are signed for an hour, so that a transfer may take long; the body is not part of the signature. */
  async function urlOf(method: string, path: string): Promise<string> {
    const key = path.split('/').map(encodeURIComponent).join('/')
    const url = `${endpoint!.replace(/\/+$/, '')}/${bucket}${prefix}/${key}?X-Amz-Expires=3600`
    const signer = new AwsV4Signer({ url, method, ...keys, service: 's3', region, signQuery: true })
    return (await signer.sign()).url.href
  }
  const refused = async (response: Response, path: string) => {
    const text = (await response.text()).slice(0, 300)
    return new Fault(`${place}/${path}: ${response.status} ${text}\nCheck BACKUP_S3_ENDPOINT, the bucket and the keys.`)
  }
  return {
    name: place,
    workDirectory: resolve('.wrangler/backup', `${bucket}${prefix}`.replaceAll('/', '+')),
    async write(path, size, open) {
      if (size > MAX_PUT)
        throw new Fault(`${path} has ${size} bytes; a bucket accepts 5 GiB in one request. Back up to a directory.`)
      const result = await sendBytes(await urlOf('PUT', path), size, open)
      if (!result.response.ok) throw await refused(result.response, path)
      await result.response.body?.cancel()
      if (result.checksums.size !== size) throw new Truncated(path, size, result.checksums.size)
      return result.checksums
    },
    async read(path) {
      const response = await patiently(await urlOf('GET', path), () => ({}))
      if (response.status === 404) return null
      if (!response.ok || !response.body) throw await refused(response, path)
      return response.body
    },
    async remove(path) {
      await (await patiently(await urlOf('DELETE', path), () => ({ method: 'DELETE' }))).body?.cancel()
    },
  }
}

/** Sends bytes with `PUT`, and returns the response with the checksums of the bytes that were sent. */
export async function sendBytes(
  url: string,
  size: number,
  open: () => Promise<Bytes>,
  headers: Record<string, string> = {},
): Promise<{ response: Response; checksums: Checksums }> {
  let pass = checked(await open())
  let isFresh = true
  const response = await patiently(url, () => {
    if (!isFresh) pass = checked(reopened(open))
    isFresh = false
    return {
      method: 'PUT',
      headers: { 'content-length': String(size), ...headers },
      body: Readable.toWeb(Readable.from(pass.bytes)) as ReadableStream<Uint8Array>,
      duplex: 'half' as const,
    }
  })
  return { response, checksums: pass.checksums() }
}

async function* reopened(open: () => Promise<Bytes>): Bytes {
  yield* await open()
}

/** Replaces a file as a whole, so that a reader finds the old or the new content. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.draft`, text, { mode: 0o600, flush: true })
  await rename(`${path}.draft`, path)
}

/** Reads a JSON file; null if it does not exist or was cut off. */
export async function readJsonFile<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch {
    return null
  }
}

/** Reads a whole object as text. */
export async function readText(bytes: Bytes): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** Splits a stream into the JSON values of its lines. With `skipsTorn`, lines that a kill has cut off are left out. */
export async function* jsonLines<T>(bytes: Bytes, skipsTorn = false): AsyncGenerator<T> {
  let rest = ''
  const decoder = new TextDecoder()
  function* parsed(lines: string[]) {
    for (const line of lines) {
      try {
        if (line !== '') yield JSON.parse(line) as T
      } catch (error) {
        if (!skipsTorn) throw error
      }
    }
  }
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* parsed(lines)
  }
  yield* parsed([rest])
}
