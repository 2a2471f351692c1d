import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { mediaUrls } from '../../../src/adapters/bucket/media_url.ts'
import { collections } from '../../../src/adapters/db/schema/library.ts'
import { isTokenValid } from '../../support/cloudflare/token.ts'
import { aPlaySession, DAY, db, HOUR, ok } from '../support/api.ts'
import { aTenantWithTrack, stopTime } from '../support/fixtures.ts'
import { isSignedFor, signedParts } from '../support/signature.ts'

/** URLs for a domain of one's own (docs/decisions/0088), compared with a verifier that knows only Cloudflare's documentation. */

const ORIGIN = 'https://media.example.com'
const KEY = 'f00d'.repeat(16)
const zone: Env = { ...env, MEDIA_DELIVERY: 'zone', MEDIA_BASE_URL: ORIGIN, MEDIA_KEY: KEY }
const RULE = { key: KEY, ttl: 3600, separator: '&verify='.length, flags: 's' }

const random = (below: number) => Math.floor(Math.random() * below)
const CHARACTERS = Array.from('abcXYZ019-_.~ !\'()*+,;:@&=$%#?"<>[]{}|\\^`äß€日🎷')
const text = () => Array.from({ length: 1 + random(24) }, () => CHARACTERS[random(CHARACTERS.length)]).join('')
const path = () => ['media', ...Array.from({ length: 1 + random(5) }, () => `-${text()}`)].join('/')

/** Whether the zone would let a request for this URL pass, as the rule sees it: the path and the query as they were sent. */
const isAllowed = (url: string, now: number, key = KEY) =>
  isTokenValid({ ...RULE, key }, url.slice(ORIGIN.length), Math.floor(now / 1000))

/** When the token of a URL expires, in milliseconds since 1970. */
const endOf = (url: string) => (Number(/verify=(\d+)-/.exec(url)![1]) + RULE.ttl) * 1000

describe('a token', () => {
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

  /** Signs a random path, and returns what the verifier says wrongly about the URL, or about the URL with another character. */
  async function disagreement(i: number): Promise<string> {
    const key = i % 1000 === 0 ? text() : KEY
    const now = Date.UTC(2026, 0, 1) + random(400 * DAY)
    const url = await (await mediaUrls({ ...zone, MEDIA_KEY: key }, now, now + 1000 + random(DAY)))(path())
    if (!(await isAllowed(url, now, key))) return `rejected: ${url} with ${key}`
    // The name of the parameter is not authenticated, and the last character of a MAC has two bits without meaning.
    const separator = url.indexOf('&verify=')
    const at = ORIGIN.length + random(url.length - ORIGIN.length - 1)
    if (i % 10 > 0 || (at >= separator && at < separator + RULE.separator)) return ''
    const other = ALPHABET[(ALPHABET.indexOf(url[at]!) + 1 + random(63)) % 64]!
    const changed = url.slice(0, at) + other + url.slice(at + 1)
    return changed !== url && (await isAllowed(changed, now, key)) ? `accepted: ${changed} for ${url}` : ''
  }

  it('is accepted, and rejected after any change, by a verifier written apart from the signer: 10,000 tokens', async () => {
    for (let i = 0; i < 10_000; i += 500) {
      const found = await Promise.all(Array.from({ length: 500 }, (_, at) => disagreement(i + at)))
      expect(found.filter(Boolean)).toEqual([])
    }
  })

  it('is valid until the second in which a URL of R2 would expire, and for an hour at most', async () => {
    for (let i = 0; i < 500; i++) {
      const now = Date.UTC(2026, 10, 22) + random(DAY)
      const ends_at = now + 1000 + random(i % 2 ? 2 * HOUR : 10_000)
      const url = await (await mediaUrls(zone, now, ends_at))('media/a')
      const r2 = signedParts(await (await mediaUrls(env, now, ends_at))('media/a'))
      const end = endOf(url)
      expect(end).toBe(r2.ends)
      expect(end).toBeLessThanOrEqual(Math.min(ends_at, now + HOUR))
      expect(await isAllowed(url, end - 1)).toBe(true)
      expect(await isAllowed(url, end)).toBe(false)
      expect(await isAllowed(url, end + 1000)).toBe(false)
      // Players schedule the next request by this parameter.
      expect(Number(new URL(url).searchParams.get('X-Amz-Expires'))).toBe(r2.expires)
    }
  })

  it('opens exactly one file, under exactly one spelling of its path', async () => {
    const now = Date.UTC(2026, 10, 22)
    const url = await (await mediaUrls(zone, now, now + HOUR))('media/org/col/idx/j1/aac-160.m4a')
    const spellings = [
      url.replace('aac-160', 'lossless'),
      url.replace('/media/', '/uploads/'),
      url.replace('/j1/', '%2Fj1%2F'),
      url.replace('/j1/', '%2fj1/'),
      url.replace('/j1/', '//j1/'),
      url.replace('/media/', '//media/'),
      url.replace('/j1/', '/x/../j1/'),
      url.replace('/j1/', '/./j1/'),
      url.replace('/j1/', '\\j1/'),
      url.replace('aac', 'AAC'),
      url.replace('aac', '%61ac'),
      url.replace('/media/', '/Media/'),
      url.replace('X-Amz-Expires=', 'X-Amz-Expires=1'),
      url.replace('?X-Amz-Expires=3600&', '?'),
      url.replace('?', '?a=b&'),
      url.replace('?', '?response-content-type=text/html&'),
      url.replace('m4a?', 'm4a??'),
      `${url}&a=b`,
      `${url}#`,
      `${url}=`,
      url.slice(0, -1),
      url.split('&verify')[0]!,
      url.split('?')[0]!,
      `${ORIGIN}/`,
      `${ORIGIN}${url.slice(url.indexOf('?'))}`,
      `${url.split('?')[0]}${url.slice(url.indexOf('?')).replace(/(\d{10})-/, (_, time) => `${Number(time) + 60}-`)}`,
    ]
    expect(await isAllowed(url, now)).toBe(true)
    for (const other of spellings) {
      expect(other).not.toBe(url)
      expect(await isAllowed(other, now), other).toBe(false)
    }
    expect(await isAllowed(url, now, `${KEY}0`)).toBe(false)
  })

  it.each([-5, 5])(
    'of a Worker whose clock is off by %i minutes ends with the session by that clock',
    async (minutes) => {
      const now = Date.UTC(2026, 10, 22)
      const ownTime = now + minutes * 60_000
      const sign = async (ends_at: number) => (await mediaUrls(zone, ownTime, ends_at))('media/a')
      const long = await sign(ownTime + DAY)
      expect(await isAllowed(long, now)).toBe(true)
      expect(endOf(long)).toBeLessThanOrEqual(now + HOUR + Math.max(0, minutes * 60_000))
      // A session of four minutes has already ended if the clock is five minutes slow; the player asks for a new URL then.
      const short = await sign(ownTime + 240_000)
      expect(endOf(short)).toBe(ownTime + 240_000)
      expect(await isAllowed(short, now)).toBe(minutes > 0)
    },
  )
})

describe('MEDIA_DELIVERY', () => {
  let key: string
  let collection_id: string
  let track_id: string
  beforeEach(async () => {
    ;({ key, collection_id, track_id } = await aTenantWithTrack())
    await db.update(collections).set({ cover_path: `media/org/${collection_id}/cover-1`, cover_size: 1000 })
  })
  const view = async (bindings: Env, play_session_id: string) =>
    ok('GET', `/v1/play/${play_session_id}/${track_id}`, { bindings })
  const urlsOf = ({ variants, cover_image }: Awaited<ReturnType<typeof view>>) => [
    ...variants.map(({ url }) => url),
    ...Object.values(cover_image).map(({ url }) => url),
  ]

  it('decides where a play view’s files and covers are, and nothing else of it', async () => {
    const { play_session_id } = await aPlaySession(key, 'collection', collection_id)
    stopTime()
    const [inZone, inR2] = [await view(zone, play_session_id), await view(env, play_session_id)]
    const urls = urlsOf(inZone)
    expect(urls.length).toBeGreaterThan(5)
    for (const url of urls) {
      expect(url.startsWith(`${ORIGIN}/media/`)).toBe(true)
      expect(await isAllowed(url, Date.now()), url).toBe(true)
    }
    for (const url of urlsOf(inR2)) expect(await isSignedFor('GET', url), url).toBe(true)
    const neutral = (answer: object) =>
      JSON.stringify({ ...answer, api_request_id: '' }).replaceAll(/"http[^"]*"/g, '""')
    expect(neutral(inZone)).toBe(neutral(inR2))
    expect(urlsOf(await view({ ...env, MEDIA_DELIVERY: 'Zone' }, play_session_id))[0]).toBe(urlsOf(inR2)[0])
  })

  it('leaves downloads and uploads at R2, which names a downloaded file', async () => {
    const { play_session_id } = await aPlaySession(key, 'collection', collection_id, { is_downloadable: true })
    const path = `/v1/play/${play_session_id}/${track_id}/aac-160/download` as const
    const { download } = await ok('GET', path, { bindings: zone })
    expect(await isSignedFor('GET', download.url)).toBe(true)
    expect(signedParts(download.url).disposition).toMatch(/^attachment/)
    const body = { collection_id, file_name: 'a.wav' }
    const { track_upload } = await ok('POST', '/v1/track', { key, body, bindings: zone })
    expect(await isSignedFor('PUT', track_upload.upload_url)).toBe(true)
  })

  it('serves covers of the API and of embeds from the domain', async () => {
    const { cover_image } = await ok('GET', `/v1/collection/${collection_id}/cover`, { key, bindings: zone })
    const { collections: list } = await ok('GET', '/v1/collection?include=artwork', { key, bindings: zone })
    const urls = [...Object.values(cover_image), ...Object.values(list[0]!.artwork!)].map((square) => square!.url)
    expect(urls).toHaveLength(7)
    for (const url of urls) expect(await isAllowed(url, Date.now()), url).toBe(true)
  })

  it('leaves files at R2 that the zone would not cache', async () => {
    const now = Date.now()
    const mediaUrl = await mediaUrls(zone, now, now + HOUR)
    expect(await isSignedFor('GET', await mediaUrl('media/a', 512_000_001))).toBe(true)
    expect(await isAllowed(await mediaUrl('media/a', 512_000_000), now)).toBe(true)
  })

  it('gives listeners the same URL again, so that browsers can cache the file', async () => {
    const cache = new Map<string, string>()
    const urls = new Set<string>()
    const sign = vi.spyOn(crypto.subtle, 'sign')
    const start = Date.UTC(2026, 10, 22, 23, 50)
    for (let second = 0; second < 3600; second += 10)
      urls.add(await (await mediaUrls(zone, start + second * 1000, start + DAY, cache))('media/a'))
    expect(urls.size).toBeLessThanOrEqual(5)
    expect(sign).toHaveBeenCalledTimes(urls.size)
  })
})
