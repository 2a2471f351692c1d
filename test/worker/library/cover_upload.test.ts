import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, expect, it } from 'vitest'

import { sha256 } from '../../../src/adapters/crypto/secret.ts'
import { jobs } from '../../../src/adapters/db/schema/work.ts'
import worker from '../../../src/index.ts'
import { db, ok } from '../support/api.ts'
import { aTenant, storedFiles } from '../support/fixtures.ts'
import { signedParts } from '../support/signature.ts'
import { coverResult, startTranscoder } from '../support/transcoder.ts'

/** The request that uploads a cover, which passes through the Worker in pieces. */

let url: string
beforeEach(async () => {
  const { key, collection_id } = await aTenant()
  url = (await ok('POST', `/v1/collection/${collection_id}/cover`, { key })).collection_cover_upload.upload_url
})

const MB = 1_000_000
const BOUNDARY = 'a-boundary'
const encoder = new TextEncoder()
const HEAD = encoder.encode(
  [
    `--${BOUNDARY}`,
    'Content-Disposition: form-data; name="title"',
    '',
    'So What',
    `--${BOUNDARY}`,
    'Content-Disposition: form-data; name="file"; filename="a.png"',
    'Content-Type: image/png',
    '\r\n',
  ].join('\r\n'),
)
const TAIL = encoder.encode(`\r\n--${BOUNDARY}--\r\n`)
const asForm = (image: Uint8Array) => [HEAD, image, TAIL]

/** A PNG of this size whose other bytes are pseudo-random. */
function image(size: number) {
  const bytes = new Uint8Array(size)
  for (let at = 0, x = 1; at < size; at++) bytes[at] = x = (x * 75 + 74) % 65_537
  bytes.set(Array.from('\x89PNG\r\n\x1a\n', (char) => char.charCodeAt(0)))
  return bytes
}

/** Sends pieces without a Content-Length. */
async function send(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  type: string,
  bindings: Partial<Env> = {},
) {
  const iterator = (async function* all() {
    yield* pieces
  })()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
  const request = new Request(url, { method: 'POST', body, headers: { 'content-type': type } })
  const response = await worker.fetch(request, { ...env, ...bindings }, createExecutionContext())
  const { code } = await response.json<{ code?: string }>()
  return code ? `${response.status} ${code}` : response.status
}
const FORM = `multipart/form-data; boundary=${BOUNDARY}`
const KINDS = [
  ['a form', FORM, asForm],
  ['the body', 'image/png', (bytes: Uint8Array) => [bytes]],
] as const

/** Starts a transcoder that hashes the images it gets. */
function startHashing() {
  const hashes: string[] = []
  startTranscoder({
    cover: async ({ source }) => {
      const bytes = await (await env.MEDIA.get(signedParts(source.url).key))!.arrayBuffer()
      expect(bytes.byteLength).toBe(source.size)
      hashes.push(await sha256(new TextDecoder('latin1').decode(bytes)))
      return coverResult()
    },
  })
  return hashes
}
const hashOf = (bytes: Uint8Array) => sha256(new TextDecoder('latin1').decode(bytes))

it.each(KINDS)('a large image in %s is stored while it arrives', async (_, type, framed) => {
  const hashes = startHashing()
  const part = Promise.withResolvers<boolean>()
  const MEDIA = new Proxy(env.MEDIA, {
    get(real, name: keyof R2Bucket) {
      if (name !== 'createMultipartUpload') return (real[name] as () => unknown).bind(real)
      return async (path: string) => {
        const upload = await real.createMultipartUpload(path)
        return new Proxy(upload, {
          get(_, name: keyof R2MultipartUpload) {
            if (name === 'uploadPart') part.resolve(true)
            const value: unknown = upload[name]
            return typeof value === 'function' ? (value.bind(upload) as unknown) : value
          },
        })
      }
    },
  })
  const bytes = image(10 * MB)
  const [pieces, rest] = [framed(bytes.subarray(0, 6 * MB)), framed(bytes.subarray(6 * MB))]
  const isForm = pieces.length === 3
  let arrivedEarly = false
  async function* slowly() {
    yield* isForm ? pieces.slice(0, 2) : pieces
    arrivedEarly = await Promise.race([part.promise, scheduler.wait(3000).then(() => false)])
    yield* isForm ? rest.slice(1) : rest
  }
  expect(await send(slowly(), type, { MEDIA })).toBe(200)
  expect([arrivedEarly, hashes]).toEqual([true, [await hashOf(bytes)]])
  expect(await storedFiles('uploads/')).toEqual([])
})

it.each(KINDS)('an image in %s is found in pieces of any size', async (_, type, framed) => {
  const hashes = startHashing()
  const bytes = image(3000)
  bytes.set(encoder.encode(`\r\n--${ALMOST}\r\n--`), 1000)
  const request = new Uint8Array(await new Blob(framed(bytes)).arrayBuffer())
  for (const size of [1, 2, 3, 5, 7, 10, 1024]) {
    const pieces = Array.from({ length: Math.ceil(request.length / size) }, (_, at) =>
      request.slice(at * size, (at + 1) * size),
    )
    expect(await send(pieces, type)).toBe(200)
  }
  expect(new Set(hashes)).toEqual(new Set([await hashOf(bytes)]))
})
const ALMOST = BOUNDARY.slice(0, -1)

it.each(KINDS)('an endless image in %s is refused once it is too large', async (_, type, framed) => {
  let sent = 0
  function* endless() {
    yield* framed(image(MB)).slice(0, type === FORM ? 2 : 1)
    for (const bytes = new Uint8Array(MB); ; sent++) yield bytes
  }
  expect(await send(endless(), type)).toBe('413 image_too_large')
  expect(sent).toBeLessThan(15)
  expect([await storedFiles(), (await db.select().from(jobs)).length]).toEqual([[], 0])
})

it('an incomplete form is refused', async () => {
  const whole = asForm(image(6 * MB))
  const incomplete = [
    whole.slice(0, 2),
    [HEAD.slice(0, 200)],
    [HEAD],
    [],
    [
      encoder.encode(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename*=UTF-8''%zz\r\n\r\n`),
      TAIL,
    ],
  ]
  for (const pieces of incomplete) expect(await send(pieces, FORM)).toBe('400 invalid_request')
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=other'])
    expect(await send(whole, type)).toBe('400 invalid_request')
  expect([await storedFiles(), (await db.select().from(jobs)).length]).toEqual([[], 0])
})

it('an image whose owner was deleted leaves nothing behind', async () => {
  const aborted: string[] = []
  const MEDIA = new Proxy(env.MEDIA, {
    get(real, name: keyof R2Bucket) {
      if (name !== 'createMultipartUpload') return (real[name] as () => unknown).bind(real)
      return async (path: string) => {
        const upload = await real.createMultipartUpload(path)
        return {
          uploadPart: (number: number, part: Uint8Array) => upload.uploadPart(number, part),
          abort: () => (aborted.push(path), upload.abort()),
        }
      }
    },
  })
  await env.DB.exec('delete from collections')
  expect(await send([image(6 * MB)], 'image/png', { MEDIA })).toBe('404 not_found')
  expect(aborted).toHaveLength(1)
})

it('covers are made by every transcoder that is at work, because it need not be started', async () => {
  const names: string[] = []
  const TRANSCODER = {
    getByName: (name: string) => ({
      fetch: () => {
        names.push(name)
        return Promise.resolve(Response.json(coverResult()))
      },
    }),
  } as unknown as Env['TRANSCODER']
  const bindings = { TRANSCODER, TRANSCODER_URL: '', TRANSCODER_INSTANCES: '5' }
  const uploads = async (count: number) => {
    names.length = 0
    for (let n = 0; n < count; n++) expect(await send([image(100)], 'image/png', bindings)).toBe(200)
    return new Set(names)
  }
  expect(await uploads(3)).toEqual(new Set(['slot-0']))
  const job = { organization_id: 'o', payload: { kind: 'purge' as const, prefixes: [] }, lease_until: 0, created_at: 0 }
  const wake_at = Number.MAX_SAFE_INTEGER
  await db.insert(jobs).values([4, 5, 8].map((slot) => ({ ...job, id: crypto.randomUUID(), slot, wake_at })))
  expect(await uploads(20)).toEqual(new Set(['slot-1', 'slot-2']))
})
