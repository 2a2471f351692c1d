import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { tracks } from '../../src/adapters/schema.ts'
import { SHARE_SESSION_TTL } from '../../src/contract/facts.ts'
import worker from '../../src/index.ts'
import { aReadyTrack, aShop, stopTime } from './fixtures.ts'
import { query } from './ready_track.ts'
import { call, db, ok, refused } from './support.ts'

/** What a share's address shows, and what its page plays with. What it looks and sounds like is judged in test/e2e/share.test.ts. */

let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id } = await aShop())
  track_id = await aReadyTrack(key, collection_id, { player_title: 'So "What" <b>', player_subtitle: 'Miles Davis' })
})

const create = async (body: object = {}) =>
  (await ok('POST', '/v1/share', { key, body: { scope: 'collection', id: collection_id, ...body } })).share
type Shown = { status: number; headers: Headers; text: string }
async function open(path: string, password?: string, bindings: Env = env, client = '192.0.2.1'): Promise<Shown> {
  const request = new Request(`https://tonearm.test${path}`, {
    headers: { 'cf-connecting-ip': client },
    ...(password !== undefined && { method: 'POST', body: new URLSearchParams({ password }) }),
  })
  const response = await worker.fetch(request, bindings, createExecutionContext())
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const keyIn = ({ text }: Shown) => /api-key="([^"]+)"/.exec(text)?.[1] ?? ''
const play = (secret: string, more: object = {}) =>
  call('POST', '/v1/play_session/collection', { key: secret, body: { collection_id, ...more } })
const SECRETS = /So &quot;What|Kind of Blue|Miles Davis|og:|oembed|<tonearm-player|api-key/

describe('the page of a share', () => {
  it('has title, card, list and a player that makes its own sessions, and so has its frame', async () => {
    const { slug, url } = await create({ slug: 'blue', is_downloadable: true })
    await db.update(tracks).set({ cover_path: 'covers/here' }).where(eq(tracks.id, track_id))
    const shown = await open(`/s/${slug.toUpperCase()}`)
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(shown.text).toMatch(/<h1>Kind of Blue<\/h1>/)
    expect(shown.text).toContain('<li>So &quot;What&quot; &lt;b&gt; (0:12)</li>')
    expect(shown.text).toContain('Album · 1 track · 0:12')
    expect(shown.text).toContain(`<meta property="og:url" content="${url}"`)
    expect(shown.text).toContain('<meta property="og:type" content="music.album"')
    expect(shown.text).toMatch(new RegExp(`<tonearm-player [^>]* share="${url}" download=""`))
    expect(shown.text).not.toMatch(/<b>|\sstyle="|\son\w+="|<script(?![^>]* src="\/)/)
    expect(shown.headers.get('content-security-policy')).toMatch(/form-action 'self'; frame-ancestors \*$/)
    const frame = await open(`/embed/s/${slug}?theme=dark&layout=compact&evil=1`)
    expect(frame.text).toMatch(/<tonearm-player [^>]* layout="compact" theme="dark" *>/)
    expect(frame.text).not.toMatch(/evil|<h1>Kind of Blue<\/h1>\s*<p class="by">/)
    for (const page of [shown, frame]) {
      expect(page.headers.get('cache-control')).toBe('no-store')
      const { status, body } = await play(keyIn(page), { is_downloadable: true })
      expect([status, body.tracks.length, body.play_session.is_downloadable]).toEqual([200, 1, true])
    }
  })

  it('may be found when its address was chosen, and only then', async () => {
    const robots = async (body: object) => {
      const { slug } = await create(body)
      return (await open(`/s/${slug}`)).headers.get('x-robots-tag')
    }
    expect(await Promise.all([robots({}), robots({ slug: 'found' }), robots({ slug: 'shut', password: 'x' })])).toEqual(
      ['noindex', null, 'noindex'],
    )
  })

  it('is known to oEmbed with a frame that lasts, in the share’s own title', async () => {
    const { url, embed_url } = await create({ title: 'Blue, again' })
    const about = (address: string) => call('GET', `/oembed?${new URLSearchParams({ url: address }).toString()}`)
    for (const address of [url, embed_url, `${url}#t=90`]) {
      const { status, body } = await about(address)
      expect([status, body.title, body.height]).toEqual([200, 'Blue, again', 176])
      expect(body.html).toContain(`<iframe src="${embed_url}" title="Blue, again"`)
    }
    expect((await about(url.replace('/s/', '/s/x'))).status).toBe(404)
    expect((await about(url.replace('tonearm.test', 'tonearm.test.example'))).status).toBe(404)
  })

  it('is 404 where there never was one; 410 after it was revoked, renamed, or what it shares deleted, and after its end', async () => {
    const renamed = await create()
    await ok('PUT', `/v1/share/${renamed.id}`, { key, body: { slug: 'new-name' } })
    const gone = await create()
    const orphan = await create({ scope: 'track', id: track_id })
    const ended = await create({ expires_at: new Date(Date.now() + 60_000).toISOString() })
    const secret = keyIn(await open(`/s/${ended.slug}`))
    expect((await play(secret)).status).toBe(200)
    await ok('DELETE', `/v1/share/${gone.id}`, { key })
    await ok('DELETE', `/v1/track/${track_id}`, { key })
    for (const slug of ['nothing', '%3Cb%3E', 'a'.repeat(300)]) {
      const { status, text } = await open(`/s/${slug}`)
      expect([slug, status, text.includes('There is nothing to play here')]).toEqual([slug, 404, true])
    }
    for (const slug of [gone.slug, gone.slug.toUpperCase(), orphan.slug, renamed.slug]) {
      const { status, text } = await open(`/s/${slug}`)
      expect([slug, status, text.includes('This link has ended'), SECRETS.test(text)]).toEqual([slug, 410, true, false])
    }
    stopTime()
    vi.setSystemTime(Date.now() + 61_000)
    for (const path of [`/s/${ended.slug}`, `/embed/s/${ended.slug}`]) {
      const { status, text } = await open(path)
      expect([status, text.includes('This link has ended'), SECRETS.test(text)]).toEqual([410, true, false])
    }
    await refused(404, 'not_found', 'GET', `/oembed?url=${encodeURIComponent(ended.url)}`)
    expect((await play(secret)).status).toBe(401)
  })
})

describe('the sessions of a share', () => {
  it('are short, end with it, play what it allows and nothing else', async () => {
    const expires_at = new Date(Date.now() + 100_000).toISOString()
    const { slug } = await create({ variants: ['mp3-128'] })
    const secret = keyIn(await open(`/s/${slug}`))
    expect(secret).toBe(`ta_sh_${slug}`)
    const { body } = await play(secret, { expires_in: 86_400, is_downloadable: true })
    expect(Date.parse(body.expires_at) - Date.now()).toBeLessThanOrEqual(SHARE_SESSION_TTL * 1000)
    expect(body.play_session).toMatchObject({ variants: ['mp3-128'], is_downloadable: false })
    await refused(403, 'insufficient_scope', 'POST', '/v1/play_session/collection', {
      key: secret,
      body: { collection_id, variants: ['aac-160'] },
    })
    const other = await ok('POST', '/v1/collection', { key, body: { title: 'Other' } })
    await refused(404, 'not_found', 'POST', '/v1/play_session/collection', {
      key: secret,
      body: { collection_id: other.collection_id },
    })
    await refused(403, 'insufficient_scope', 'GET', '/v1/collection', { key: secret })
    const ending = await create({ expires_at })
    expect((await play(`ta_sh_${ending.slug}`)).body.expires_at).toBe(expires_at)
  })

  it('are not made any more once it is revoked', async () => {
    const { id, slug } = await create()
    expect((await play(`ta_sh_${slug}`)).status).toBe(200)
    await ok('DELETE', `/v1/share/${id}`, { key })
    await refused(401, 'unauthorized', 'POST', '/v1/play_session/collection', {
      key: `ta_sh_${slug}`,
      body: { collection_id },
    })
  })

  it('are made on its own page and frame, and on the sites that it names', async () => {
    const { slug } = await create({ allowed_origins: ['https://a.example'] })
    const framed = (await open(`/embed/s/${slug}`)).headers.get('content-security-policy')
    expect(framed).toMatch(/frame-ancestors 'self' https:\/\/a\.example$/)
    const from = async (origin: string) =>
      (
        await call('POST', '/v1/play_session/collection', {
          key: `ta_sh_${slug}`,
          body: { collection_id },
          headers: { origin },
        })
      ).status
    expect(await from('https://a.example')).toBe(200)
    expect(await from('https://tonearm.test')).toBe(200)
    expect(await from('https://b.example')).toBe(403)
  })
})

/** The platform's limiter, without its minutes. */
function limiter(most: number): RateLimit {
  const counts = new Map<string, number>()
  return {
    async limit({ key }) {
      counts.set(key, (counts.get(key) ?? 0) + 1)
      return { success: counts.get(key)! <= most }
    },
  }
}

describe('a share with a password', () => {
  it('shows nothing of what it shares, anywhere, to who does not know it', async () => {
    const { slug, url } = await create({ password: 'swordfish', slug: 'kind', title: 'Kind of Blue' })
    for (const path of [`/s/${slug}`, `/embed/s/${slug}`]) {
      const asked = await open(path)
      const wrong = await open(path, 'Swordfish')
      expect([asked.status, wrong.status]).toEqual([200, 403])
      expect(wrong.text).toContain('This is not the password.')
      for (const { text, headers } of [asked, wrong]) {
        expect(text).toContain('<input')
        expect(text).not.toMatch(SECRETS)
        expect(text).not.toContain(collection_id)
        expect(headers.get('x-robots-tag')).toBe('noindex')
      }
      expect((await open(path, '')).status).toBe(403)
    }
    await refused(404, 'not_found', 'GET', `/oembed?url=${encodeURIComponent(url)}`)
    await refused(401, 'unauthorized', 'POST', '/v1/play_session/collection', {
      key: `ta_sh_${slug}`,
      body: { collection_id },
    })
  })

  it('opens to who knows it, for a day, until the password is changed', async () => {
    const { id, slug } = await create({ password: 'swordfish' })
    const opened = await open(`/s/${slug}`, 'swordfish')
    expect([opened.status, /<h1>Kind of Blue/.test(opened.text), opened.text.includes('og:')]).toEqual([
      200,
      true,
      false,
    ])
    const secret = keyIn(opened)
    expect((await play(secret)).status).toBe(200)
    // Whatever is changed of it, it opens nothing: the address, the end, the signature.
    const [, , ends = '', signature = ''] = /^(ta_sh_[^.]+)\.(\d+)\.(\w+)$/.exec(secret) ?? []
    const other = await create({ password: 'swordfish' })
    const forged = [
      secret.replace(slug, other.slug),
      secret.replace(ends, String(Number(ends) + 1)),
      secret.replace(
        signature,
        signature.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      ),
      `ta_sh_${slug}.${ends}.${'0'.repeat(64)}`,
    ]
    for (const wrong of forged) expect([wrong, (await play(wrong)).status]).toEqual([wrong, 401])
    await ok('PUT', `/v1/share/${id}`, { key, body: { password: 'new' } })
    expect((await play(secret)).status).toBe(401)
    const again = keyIn(await open(`/s/${slug}`, 'new'))
    expect((await play(again)).status).toBe(200)
    stopTime()
    vi.setSystemTime(Date.now() + 25 * 3600_000)
    expect((await play(again)).status).toBe(401)
  })

  it('refuses a client after 60 of 100 wrong passwords, and only that client and share', async () => {
    const { slug } = await create({ password: 'swordfish' })
    const other = await create({ password: 'swordfish' })
    const bindings = { ...env, MISS_RATE_LIMIT: limiter(60) }
    const stored = (await query<{ password_hash: string }>('select password_hash from shares'))[0]!.password_hash
    // One round, so that the test need not wait for a hundred times 100,000.
    await query('update shares set password_hash = ?', stored.replace(/^\d+/, '1'))
    const statuses: number[] = []
    for (let at = 0; at < 100; at++) statuses.push((await open(`/s/${slug}`, `wrong ${at}`, bindings)).status)
    expect(statuses).toEqual([...Array.from({ length: 60 }, () => 403), ...Array.from({ length: 40 }, () => 429)])
    const last = await open(`/embed/s/${slug}`, 'swordfish', bindings)
    expect([last.status, last.text.includes('Too many attempts'), last.headers.get('retry-after')]).toEqual([
      429,
      true,
      '60',
    ])
    expect((await open(`/s/${slug}`, 'wrong', bindings, '192.0.2.2')).status).toBe(403)
    expect((await open(`/s/${other.slug}`, 'wrong', bindings)).status).toBe(403)
  })

  it('refuses a form that is no password', async () => {
    const { slug } = await create({ password: 'swordfish' })
    expect((await open(`/s/${slug}`, 'x'.repeat(5000))).status).toBe(413)
    const file = new FormData()
    file.set('password', new File(['swordfish'], 'a.txt'))
    const request = new Request(`https://tonearm.test/s/${slug}`, { method: 'POST', body: file })
    expect((await worker.fetch(request, env, createExecutionContext())).status).toBe(403)
  })
})
