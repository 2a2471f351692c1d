import { parseXml, XmlElement } from '@rgrove/parse-xml'
import { AwsV4Signer } from 'aws4fetch'

import { DEFAULT_ACCEPT, isAccepted } from '../../src/client/upload/accept.ts'
import { COVER_TYPES, MAX_COVER_BYTES, MAX_STRING } from '../../src/contract/facts.ts'
import { Fault } from '../backup/service.ts'
import type { Downloader } from './download.ts'
import { clip } from './notes.ts'
import { readArguments } from './options.ts'
import { checkSource, indexOfUrl, type PlannedCollection, Planner } from './plan.ts'
import { carryOut } from './take.ts'

/** `npm run import -- s3 BUCKET/PREFIX`: imports the audio of a bucket, with a collection for each folder (docs/import.md#a-bucket). */

/** Seconds for which URLs are signed: a track waits for at most a day for the transcoder. */
const SIGNED_SECONDS = 26 * 3600
const LIST = { maxBytes: 20_000_000, seconds: 60 }
/** Names of pictures that belong to a folder (src/client/upload/accept.ts). */
const COVER_NAME = /^(cover|folder|front|album|artwork)\.(jpe?g|png|webp|gif|avif)$/i

interface Bucket {
  bucket: string
  prefix: string
  /** Returns a presigned URL for an object, or with parameters for the list. */
  sign: (key: string, parameters?: Record<string, string>) => Promise<string>
  /** The address of an object without a signature. */
  addressOf: (key: string) => string
}

interface StoredObject {
  key: string
  size: number
}

/** Opens a bucket with the keys of the usual variables. */
function openBucket(place: string, { endpoint, region }: { endpoint?: string; region?: string }): Bucket {
  const [, bucket, prefix = ''] = /^(?:s3:\/\/)?([a-z\d][\w.-]*)(?:\/(.*))?$/i.exec(place) ?? []
  const { env } = process
  const [accessKeyId, secretAccessKey] = [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY]
  if (!bucket) throw new Fault('The bucket must be BUCKET or BUCKET/PREFIX')
  if (!accessKeyId || !secretAccessKey)
    throw new Fault(
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment: keys that may list and read the bucket',
    )
  const inRegion = region || env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1'
  const base = endpoint || env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || `https://s3.${inRegion}.amazonaws.com`
  if (!URL.canParse(base) || !/^https?:/.test(base)) throw new Fault('--endpoint must be a URL')
  const root = `${base.replace(/\/+$/, '')}/${bucket}`
  const addressOf = (key: string) => `${root}/${key.split('/').map(encodeURIComponent).join('/')}`
  return {
    bucket,
    prefix,
    addressOf,
    async sign(key, parameters = {}) {
      const url = new URL(key === '' ? root : addressOf(key))
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      url.searchParams.set('X-Amz-Expires', String(SIGNED_SECONDS))
      const keys = {
        accessKeyId,
        secretAccessKey,
        ...(env.AWS_SESSION_TOKEN && { sessionToken: env.AWS_SESSION_TOKEN }),
      }
      const signer = new AwsV4Signer({ url: url.href, ...keys, service: 's3', region: inRegion, signQuery: true })
      return (await signer.sign()).url.href
    },
  }
}

const childrenOf = (element: XmlElement, name: string) =>
  element.children.filter((child) => child instanceof XmlElement).filter((child) => child.name === name)
const textOf = (element: XmlElement, name: string) => childrenOf(element, name)[0]?.text ?? ''

/** Keys are encoded in the list, because XML forbids some characters (S3, ListObjectsV2, encoding-type). */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '))
  } catch {
    return key
  }
}

/** Returns all objects below the prefix. */
async function listObjects({ prefix, sign }: Bucket, { trusted }: Downloader): Promise<StoredObject[]> {
  const objects: StoredObject[] = []
  const { signal } = new AbortController()
  for (let token = ''; ;) {
    const url = await sign('', {
      'list-type': '2',
      'encoding-type': 'url',
      prefix,
      ...(token && { 'continuation-token': token }),
    })
    let root: XmlElement | null
    try {
      const { bytes } = await trusted(url, { ...LIST, signal })
      ;({ root } = parseXml(bytes.toString()))
    } catch (error) {
      const reason = error instanceof Fault ? error.message : 'its answer is no XML'
      throw new Fault(`The bucket could not be listed: ${reason}. Check --endpoint, --region, the name and the keys`)
    }
    if (root?.name !== 'ListBucketResult')
      throw new Fault('The bucket could not be listed: its answer is no list. Check --endpoint, --region and the name')
    const isEncoded = textOf(root, 'EncodingType') === 'url'
    for (const element of childrenOf(root, 'Contents')) {
      const key = textOf(element, 'Key')
      objects.push({ key: isEncoded ? decoded(key) : key, size: Number(textOf(element, 'Size')) })
    }
    const next = textOf(root, 'NextContinuationToken')
    if (textOf(root, 'IsTruncated') !== 'true' || !next || next === token) return objects
    token = next
  }
}

const nameOf = (key: string) => key.slice(key.lastIndexOf('/') + 1)
const folderOf = (key: string) => key.slice(0, key.lastIndexOf('/') + 1)

/** Runs the command with the arguments after `s3`. */
export async function run(args: string[]): Promise<void> {
  const { from, collection_id, options, downloader, client, base_url, isDryRun } = readArguments(args, {
    endpoint: { type: 'string' },
    region: { type: 'string' },
  })
  const bucket = openBucket(from, options)
  const objects = await listObjects(bucket, downloader)
  // Numbers are compared as numbers, so that track 10 follows track 9.
  const { compare } = new Intl.Collator('en', { numeric: true })
  objects.sort((one, other) => compare(folderOf(one.key), folderOf(other.key)) || compare(one.key, other.key))
  const audio = objects.filter(({ key }) => isAccepted({ name: nameOf(key), type: '' }, DEFAULT_ACCEPT))
  const pictures = new Map(
    objects.filter(({ key }) => COVER_NAME.test(nameOf(key))).map(({ key }) => [folderOf(key), key]),
  )
  const collections = new Map<string, PlannedCollection>()
  const collectionOf = (folder: string): PlannedCollection => {
    const picture = pictures.get(folder)
    const title = folder.split('/').at(-2) || bucket.bucket
    const collection: PlannedCollection = {
      index: indexOfUrl(bucket.addressOf(folder)),
      title: clip(title, MAX_STRING),
      ...(picture !== undefined && { cover: (signal) => readCover(bucket, downloader, picture, signal) }),
      ...(collection_id !== undefined && { id: collection_id }),
    }
    collections.set(folder, collections.get(folder) ?? collection)
    return collections.get(folder)!
  }
  const planner = new Planner()
  const urls = new Map<string, string>()
  for (const { key } of audio) urls.set(key, await bucket.sign(key))
  for (const [at, { key, size }] of audio.entries())
    planner.add(at + 1, key, () => {
      const source_url = urls.get(key)!
      checkSource(source_url, base_url)
      if (size === 0) throw new Fault('it has 0 bytes')
      const index = indexOfUrl(bucket.addressOf(key))
      const body = { file_name: clip(nameOf(key), MAX_STRING), source_url, ...(size > 0 && { file_size: size }) }
      return { index, collection: collectionOf(collection_id === undefined ? folderOf(key) : ''), body, notes: [] }
    })
  const others = objects.length - audio.length - pictures.size
  console.log(`${bucket.bucket}: ${audio.length} audio files; ${others} others are left out`)
  await carryOut(client, planner, { isDryRun })
}

async function readCover(bucket: Bucket, { trusted }: Downloader, key: string, signal: AbortSignal) {
  const file = await trusted(await bucket.sign(key), { maxBytes: MAX_COVER_BYTES, seconds: 60, signal })
  const extension = key.split('.').at(-1)!.toLowerCase()
  const type = Object.keys(COVER_TYPES).find((name) => name.endsWith(extension === 'jpg' ? 'jpeg' : extension))
  return { ...file, contentType: type ?? file.contentType }
}
