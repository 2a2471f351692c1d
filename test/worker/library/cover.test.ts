import { env, exports } from 'cloudflare:workers'
import { eq, sql } from 'drizzle-orm'
import { sign } from 'hono/jwt'
import { beforeEach, describe, expect, it } from 'vitest'

import { signCoverGrant } from '../../../src/adapters/crypto/token.ts'
import { collections, tracks } from '../../../src/adapters/db/schema/library.ts'
import { jobs } from '../../../src/adapters/db/schema/work.ts'
import type { CoverAnswer } from '../../../src/contract/job.ts'
import { aPlaylist, aTrack, call, db, ok, readTrack } from '../support/api.ts'
import { aTenant, deliver, eventually, jobRow, type Tenant, storedFiles } from '../support/fixtures.ts'
import { type Refusal } from '../support/response.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'
import { coverResult, PALETTE, startTranscoder } from '../support/transcoder.ts'

let tenant: Tenant
let url: string
beforeEach(async () => {
  tenant = await aTenant()
  const body = await ok('POST', `/v1/collection/${tenant.collection_id}/cover`, { key: tenant.key })
  url = body.collection_cover_upload.upload_url
})

const image = (head: string, size = 32) => {
  const bytes = new Uint8Array(size)
  bytes.set(Array.from(head, (c) => c.charCodeAt(0)))
  return bytes
}
const PNG = image('\x89PNG\r\n\x1a\n')
const refusal = (code: 'unsupported_image' | 'image_too_large' | 'internal', retryable = false): CoverAnswer => ({
  ok: false,
  error: { code, message: 'The image cannot be read', retryable },
})

/** Sends an image to an upload URL, as raw bytes or as a form. */
async function send(body: Uint8Array | FormData, to = url) {
  const headers: HeadersInit = body instanceof FormData ? {} : { 'content-type': 'image/png' }
  const response = await exports.default.fetch(to, { method: 'POST', body, headers })
  const answer: Partial<Refusal> & { status?: string } = await response.json()
  return { status: response.status, body: answer, headers: response.headers }
}
const collection = async () =>
  (await ok('GET', `/v1/collection/${tenant.collection_id}`, { key: tenant.key })).collection
const form = (name: string, value: string | Blob) => {
  const data = new FormData()
  if (typeof value === 'string') data.append(name, value)
  else data.append(name, value, 'cover.png')
  return data
}
const grant = () => ({
  owner: 'collection' as const,
  owner_id: tenant.collection_id,
  collection_id: tenant.collection_id,
  organization_id: tenant.organization_id,
})

describe('a cover', () => {
  it('is uploaded with a POST to a URL of the service that is valid for an hour', async () => {
    const { track_cover_upload, track } = await ok('POST', '/v1/track', {
      key: tenant.key,
      body: { collection_id: tenant.collection_id, file_name: 'a.mp3' },
    })
    expect(track_cover_upload).toMatchObject({ method: 'POST', ttl: 3600 })
    const again = await ok('POST', `/v1/track/${track.id}/cover`, { key: tenant.key })
    expect(again).toMatchObject({ track_id: track.id, track, track_cover_upload: { method: 'POST', ttl: 3600 } })
    expect(again.track_cover_upload.upload_url).toMatch(/^https:\/\/tonearm\.test\/v1\/cover_upload\/[\w.-]+$/)
  })

  it('is converted into the square images and the color palette of its collection, and the upload is deleted', async () => {
    const { covers } = startTranscoder({ cover: coverResult })
    const { status, body, headers } = await send(PNG)
    expect([status, body]).toEqual([
      200,
      { ok: true, api_request_id: expect.any(String), collection_id: tenant.collection_id, status: 'ready' },
    ])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect((await collection()).image_colors).toEqual(PALETTE)
    const { cover_path } = (await db.select().from(collections).get())!
    expect(signedParts(covers[0]!.outputs.icon).key).toBe(`${cover_path}/icon.jpg`)
    expect(covers[0]!.source.size).toBe(32)
    expect(await storedFiles('uploads/')).toEqual([])
  })

  it('can be sent as the field "file" of a form', async () => {
    startTranscoder({ cover: coverResult })
    expect((await send(form('file', new Blob([PNG])))).status).toBe(200)
    expect((await collection()).image_colors).toEqual(PALETTE)
  })

  it('can belong to a track', async () => {
    startTranscoder({ cover: coverResult })
    const { id } = await aTrack(tenant.key, tenant.collection_id)
    const { track_cover_upload } = await ok('POST', `/v1/track/${id}/cover`, { key: tenant.key })
    expect((await send(PNG, track_cover_upload.upload_url)).body).toMatchObject({ track_id: id, status: 'ready' })
    expect((await readTrack(tenant.key, id)).image_colors).toEqual(PALETTE)
    expect((await collection()).image_colors).toEqual([])
  })

  it.each(['\xff\xd8\xff\xe0', 'GIF89a', 'GIF87a', 'RIFF\0\0\0\0WEBP', '\0\0\0\x20ftypavif'])(
    'can start with %j',
    async (head) => {
      startTranscoder({ cover: coverResult })
      expect((await send(image(head))).status).toBe(200)
    },
  )

  it('replaces the previous cover, whose files are purged when no page shows them any more', async () => {
    startTranscoder({ cover: coverResult })
    await send(PNG)
    const before = (await db.select().from(collections).get())!.cover_path!
    await env.MEDIA.put(`${before}/icon.jpg`, 'image')
    expect((await send(PNG)).status).toBe(200)
    expect((await db.select().from(collections).get())!.cover_path).not.toBe(before)
    expect(await storedFiles(before)).toHaveLength(1)
    const purges = (await db.select().from(jobs)).filter(({ payload }) => payload.kind === 'purge')
    const later = purges.find(({ payload }) => payload.kind === 'purge' && payload.prefixes.includes(`${before}/`))
    expect(later!.lease_until).toBeGreaterThan(Date.now() + 3_600_000)
    await db.update(jobs).set({ lease_until: 0 }).where(eq(jobs.id, later!.id))
    expect(await deliver('task', { job_id: later!.id })).toMatchObject({ acknowledged: true })
    expect(await storedFiles(before)).toEqual([])
  })

  it('is processed later when the transcoder is unreachable', async () => {
    const { status, body } = await send(PNG)
    expect([status, body.status]).toEqual([202, 'processing'])
    expect((await collection()).image_colors).toEqual([])
    const [job] = await db.select().from(jobs)
    startTranscoder({ cover: coverResult })
    expect(await deliver('task', { job_id: job!.id })).toMatchObject({ acknowledged: true })
    expect((await collection()).image_colors).toEqual(PALETTE)
    expect((await jobRow(job!.id)).state).toBe('done')
  })

  it('does not replace a newer cover that was processed first', async () => {
    await send(PNG)
    const [late] = await db.select().from(jobs)
    startTranscoder({ cover: coverResult })
    await send(PNG)
    const { cover_path } = (await db.select().from(collections).get())!
    await deliver('task', { job_id: late!.id })
    expect((await db.select().from(collections).get())!.cover_path).toBe(cover_path)
    const due = sql`state = 'open' and lease_until < ${Date.now() + 3_600_000}`
    await eventually(async () => (await db.select().from(jobs).where(due)).length === 0)
  })

  it('is kept when two workers process it at the same time', async () => {
    await send(PNG)
    const [job] = await db.select().from(jobs)
    const { covers } = startTranscoder({
      cover: async (_, call) => {
        // The first worker is so slow that its lease expires.
        if (call === 1) {
          await db.update(jobs).set({ lease_until: 0 })
          await deliver('task', { job_id: job!.id })
        }
        return coverResult()
      },
    })
    await deliver('task', { job_id: job!.id })
    expect(covers).toHaveLength(2)
    const { cover_path } = (await db.select().from(collections).get())!
    const purges = (await db.select().from(jobs)).filter(({ payload }) => payload.kind === 'purge')
    // Only the uploaded image is purged, in case it is still stored.
    expect(purges.map(({ payload }) => payload)).toMatchObject([{ prefixes: [], paths: [expect.any(String)] }])
    expect(cover_path).toMatch(/^media/)
  })
})

describe('a failed upload of a cover', () => {
  const refused = async (to: string) => {
    const { status, body } = await send(PNG, to)
    return [status, body.code]
  }
  const withToken = (token: string) => `https://tonearm.test/v1/cover_upload/${token}`

  it('returns 403 for a URL that was changed', async () => {
    const [head, payload, signature] = url.split('/').at(-1)!.split('.') as [string, string, string]
    const other = btoa(JSON.stringify({ aud: 'cover_upload', ...grant(), owner_id: 'x', exp: 9e9 })).replace(/=+$/, '')
    const none = btoa('{"alg":"none","typ":"JWT"}').replace(/=+$/, '')
    for (const token of ['x', `${head}.${other}.${signature}`, `${none}.${payload}.`, `${head}.${payload}`]) {
      expect(await refused(withToken(token))).toEqual([403, 'upload_link_invalid'])
    }
  })

  it('returns 403 for a URL that was signed with another secret or for another purpose', async () => {
    const exp = Math.floor(Date.now() / 1000) + 60
    const foreign = await sign({ aud: 'cover_upload', ...grant(), exp }, 'another secret', 'HS256')
    const otherUse = await sign({ aud: 'session', ...grant(), exp }, env.SIGNING_SECRET, 'HS256')
    const endless = await sign({ ...grant(), exp }, env.SIGNING_SECRET, 'HS256')
    for (const token of [foreign, otherUse, endless]) {
      expect(await refused(withToken(token))).toEqual([403, 'upload_link_invalid'])
    }
  })

  it('returns 403 for an expired URL', async () => {
    const token = await signCoverGrant(env, grant(), Date.now() - 1000)
    expect(await refused(withToken(token))).toEqual([403, 'upload_link_expired'])
  })

  it('returns 400 for a form whose field "file" is missing or contains text', async () => {
    for (const data of [form('image', new Blob([PNG])), form('file', 'text')]) {
      const { status, body } = await send(data)
      expect([status, body.code, body.errors?.[0]?.path]).toEqual([400, 'invalid_request', 'file'])
    }
  })

  it.each(['', '<svg xmlns="http://www.w3.org/2000/svg"/>', '%PDF-1.7', 'RIFF\0\0\0\0WAVE', 'xx\xff\xd8\xff'])(
    'returns 400 for %j, regardless of its content type',
    async (head) => {
      const { status, body } = await send(image(head, head.length))
      expect([status, body.code]).toEqual([400, 'unsupported_image'])
      expect(await storedFiles()).toEqual([])
    },
  )

  it('returns 413 for an image of more than 10 MB', async () => {
    for (const size of [10_000_001, 10_200_000]) {
      const { status, body } = await send(image('\x89PNG\r\n\x1a\n', size))
      expect([status, body.code]).toEqual([413, 'image_too_large'])
    }
  })

  it('returns 404 when the owner of the cover was deleted, and stores nothing', async () => {
    await ok('DELETE', `/v1/collection/${tenant.collection_id}`, { key: tenant.key })
    expect(await refused(url)).toEqual([404, 'not_found'])
    expect(await storedFiles()).toEqual([])
    expect((await db.select().from(jobs)).map(({ payload }) => payload.kind)).toEqual(['purge', 'purge'])
  })

  it('leaves no file behind when the owner of the cover is deleted during the processing', async () => {
    startTranscoder({
      cover: async (job) => {
        await ok('DELETE', `/v1/collection/${tenant.collection_id}`, { key: tenant.key })
        await env.MEDIA.put(signedParts(job.outputs.icon).key, 'image')
        return coverResult()
      },
    })
    await send(PNG)
    await eventually(async () => (await storedFiles()).length === 0)
  })

  it('returns 400 when the transcoder cannot read the image, and an embedded cover can still be used', async () => {
    startTranscoder({ cover: () => refusal('unsupported_image') })
    const { id } = await aTrack(tenant.key, tenant.collection_id)
    const { track_cover_upload } = await ok('POST', `/v1/track/${id}/cover`, { key: tenant.key })
    expect(await refused(track_cover_upload.upload_url)).toEqual([400, 'unsupported_image'])
    expect(await db.select().from(tracks).get()).toMatchObject({ cover_path: null, cover_job_id: null })
    expect(await storedFiles('uploads/')).toEqual([])
  })

  it('returns 413 for an image with too many pixels, as for an image with too many bytes', async () => {
    startTranscoder({ cover: () => refusal('image_too_large') })
    expect(await refused(url)).toEqual([413, 'image_too_large'])
  })

  it('is retried after a transient fault, but returns 503 after a permanent fault', async () => {
    startTranscoder({ cover: () => refusal('internal', true) })
    expect((await send(PNG)).status).toBe(202)
    startTranscoder({ cover: () => refusal('internal') })
    expect(await refused(url)).toEqual([503, 'unavailable'])
  })

  it('returns 404 when the request to the upload URL is a GET', async () => {
    expect((await call('GET', new URL(url).pathname)).status).toBe(404)
  })
})

describe('the cover of a collection and of a playlist', () => {
  it('consists of links to a generated one until a cover is uploaded, and then of signed links to the square images of the cover', async () => {
    const { key, collection_id } = tenant
    const playlist_id = await aPlaylist(key)
    for (const path of [`/v1/collection/${collection_id}/cover`, `/v1/playlist/${playlist_id}/cover`] as const) {
      const { cover_image } = await ok('GET', path, { key })
      expect(new URL(cover_image.small.url).pathname).toMatch(/^\/cover\/[A-Z]+-\d+-\/small\.png$/)
      expect(cover_image.large).toMatchObject({ width: 1400, url: cover_image.small.url.replace('small', 'large') })
    }
    await db.update(collections).set({ cover_path: 'covers/here' }).where(eq(collections.id, collection_id))
    const { cover_image } = await ok('GET', `/v1/collection/${collection_id}/cover`, { key })
    for (const [type, size] of [
      ['icon', 80],
      ['small', 200],
      ['regular', 400],
    ] as const) {
      const { url, ...square } = cover_image[type]
      expect(square).toEqual({ type, width: size, height: size })
      expect(await isSignedFor('GET', url)).toBe(true)
      expect(url).toContain(`covers/here/${type}.jpg`)
    }
  })
})
