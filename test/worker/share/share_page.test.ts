import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { tracks } from '../../../src/adapters/db/schema/library.ts'
import { SHARE_SESSION_TTL } from '../../../src/contract/facts.ts'
import { aCollection, aPlaylist, aVariant, call, callPlaySession, db, ok, query, expectError } from '../support/api.ts'
import { aReadyTrack, aTenant, stopTime } from '../support/fixtures.ts'
import { countRows } from '../support/row_counter.ts'
import { seed } from '../support/seed.ts'
import { aShare, apiKeyIn, fakeRateLimit, openPage, PROTECTED_TEXT } from '../support/share_visitor.ts'
import { isSignedFor } from '../support/signature.ts'

/** The page of a share, and the sessions that the page plays. test/e2e/share.test.ts checks its appearance and its sound. */

let key: string
let organization_id: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, organization_id, collection_id } = await aTenant())
  track_id = await aReadyTrack(key, collection_id, { player_title: 'So "What" <b>', player_subtitle: 'Miles Davis' })
})

const play = (secret: string, body?: object) => callPlaySession(secret, 'collection', collection_id, body)

describe('the page of a share', () => {
  it('contains a title, a card, a list, and a player that creates its own sessions, as does its frame', async () => {
    const { slug, url } = await aShare(key, collection_id, { slug: 'blue', is_downloadable: true })
    await db.update(tracks).set({ cover_path: 'covers/here', duration: 12.6 }).where(eq(tracks.id, track_id))
    const sharePage = await openPage(`/s/${slug.toUpperCase()}`)
    expect([sharePage.status, sharePage.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(sharePage.text).toMatch(/<h1>Kind of Blue<\/h1>/)
    expect(sharePage.text).toContain('<li>So &quot;What&quot; &lt;b&gt; (0:12)</li>')
    expect(sharePage.text).toContain('<p>1 track · 0:12</p>')
    expect(sharePage.text).toContain(`<meta property="og:url" content="${url}"`)
    expect(sharePage.text).toContain('<meta property="og:type" content="music.album"')
    expect(sharePage.text).toMatch(new RegExp(`<tonearm-player [^>]* share="${url}" download=""`))
    expect(sharePage.text).not.toMatch(/<b>|\sstyle="|\son\w+="|<script(?![^>]* src="\/)/)
    expect(sharePage.headers.get('content-security-policy')).toMatch(/form-action 'self'; frame-ancestors \*$/)
    const frame = await openPage(`/embed/s/${slug}?theme=dark&layout=compact&evil=1`)
    expect(frame.text).toMatch(/<tonearm-player [^>]* layout="compact" theme="dark" *>/)
    expect(frame.text).not.toMatch(/evil|<p class="by"|<footer/)
    for (const page of [sharePage, frame]) {
      expect(page.headers.get('cache-control')).toBe('no-store')
      const { status, body } = await play(apiKeyIn(page), { is_downloadable: true })
      expect([status, body.tracks.length, body.play_session.is_downloadable]).toEqual([200, 1, true])
    }
  })

  it('may be indexed only if its slug was chosen and it has no password', async () => {
    const robots = async (body: object) => {
      const { slug } = await aShare(key, collection_id, body)
      return (await openPage(`/s/${slug}`)).headers.get('x-robots-tag')
    }
    expect(
      await Promise.all([robots({}), robots({ slug: 'found' }), robots({ slug: 'shut', password: 'swordfish' })]),
    ).toEqual(['noindex', null, 'noindex'])
  })

  it('has an oEmbed description that contains a permanent frame and the title of the share', async () => {
    const { url, embed_url } = await aShare(key, collection_id, { title: 'Blue, again' })
    const about = (address: string) => call('GET', `/oembed?${new URLSearchParams({ url: address }).toString()}`)
    for (const address of [url, embed_url, `${url}#t=90`]) {
      const { status, body } = await about(address)
      expect([status, body.title, body.height]).toEqual([200, 'Blue, again', 176])
      expect(body.html).toContain(`<iframe src="${embed_url}${new URL(address).hash}" title="Blue, again"`)
    }
    expect((await about(url.replace('/s/', '/s/x'))).status).toBe(404)
    expect((await about(url.replace('tonearm.test', 'tonearm.test.example'))).status).toBe(404)
  })

  it('has permanent URLs for the pictures in its card and in oEmbed', async () => {
    await db.update(tracks).set({ cover_path: 'covers/here', cover_size: 900 }).where(eq(tracks.id, track_id))
    const { id, slug, url } = await aShare(key, collection_id)
    const locked = await aShare(key, collection_id, { password: 'swordfish' })
    const lasting = `${url}/cover.jpg`
    const about = async (more = {}) =>
      (await ok('GET', `/oembed?${new URLSearchParams({ url, ...more }).toString()}`)).thumbnail_url
    expect((await openPage(`/s/${slug}`)).text).toContain(`<meta property="og:image" content="${lasting}"`)
    expect([await about(), await about({ maxwidth: '300' })]).toEqual([
      `${lasting}?size=regular`,
      `${lasting}?size=small`,
    ])
    const redirect = async (address: string) => {
      const { status, headers } = await openPage(address.slice('https://tonearm.test'.length))
      return [status, headers.get('location'), headers.get('cache-control')] as const
    }
    const pictures = {
      '': 'large',
      '?size=regular': 'regular',
      '?size=small': 'small',
      '?size=icon': 'icon',
      '?size=x': 'large',
    }
    for (const [query, name] of Object.entries(pictures)) {
      const [status, location, caching] = await redirect(`${lasting}${query}`)
      expect([status, new URL(location!).pathname, caching]).toEqual([
        302,
        expect.stringMatching(`/covers/here/${name}\\.jpg$`),
        'no-store',
      ])
      expect(await isSignedFor('GET', location!)).toBe(true)
    }
    expect((await redirect(`${locked.url}/cover.jpg`))[0]).toBe(404)
    await db.update(tracks).set({ cover_path: null, cover_size: null }).where(eq(tracks.id, track_id))
    const generated = (await redirect(lasting))[1]!
    expect(generated).toMatch(/^https:\/\/tonearm\.test\/cover\/KO-\d+-7{32}\/large\.png$/)
    expect(await about()).toBe(generated.replace('large', 'regular'))
    await ok('DELETE', `/v1/share/${id}`, { key })
    expect((await redirect(lasting))[0]).toBe(410)
    expect((await redirect('https://tonearm.test/s/nothing/cover.jpg'))[0]).toBe(404)
  })

  it('returns 404 for an invalid slug, and the request does not count toward the rate limit', async () => {
    const bindings = { ...env, PLAY_RATE_LIMIT: fakeRateLimit(0) }
    for (const slug of ['ab', 'a_b', 'x'.repeat(65)])
      for (const path of [`/s/${slug}`, `/embed/s/${slug}`, `/s/${slug}/cover.jpg`, `/s/${slug}/qr.svg`])
        expect([path, (await openPage(path, undefined, bindings)).status]).toEqual([path, 404])
  })

  it('lists a hundred tracks without scripts, shows the number of all tracks, and reads no tracks for a frame', async () => {
    await seed('tracks', 1, 150, { organization_id, collection_id })
    const { slug } = await aShare(key, collection_id)
    const page = await openPage(`/s/${slug}`)
    expect(page.text.match(/<li>/g)).toHaveLength(100)
    expect(page.text).toMatch(/<p>151 tracks<[^]*and 51 more/)
    await query("update tracks set status = 'failed', files = null where id <> ?", track_id)
    expect((await openPage(`/s/${slug}`)).text).toContain('<p>1 track · 0:12</p>')
    await query("update tracks set status = 'ready'")
    const mix_id = await aPlaylist(key, Array(101).fill(track_id))
    const mix = await aShare(key, collection_id, { scope: 'playlist', id: mix_id })
    expect((await openPage(`/s/${mix.slug}`)).text).toMatch(/Playlist · 101 tracks<[^]*and 1 more/)
    const { read } = await countRows(() => openPage(`/embed/s/${slug}`))
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThanOrEqual(10)
  })

  it('returns 404 for an unknown slug, and 410 for a revoked, renamed, orphaned or expired share', async () => {
    const renamed = await aShare(key, collection_id)
    await ok('PUT', `/v1/share/${renamed.id}`, { key, body: { slug: 'new-name' } })
    const revoked = await aShare(key, collection_id)
    const orphan = await aShare(key, collection_id, { scope: 'track', id: track_id })
    const ended = await aShare(key, collection_id, { expires_at: new Date(Date.now() + 60_000).toISOString() })
    const secret = apiKeyIn(await openPage(`/s/${ended.slug}`))
    expect((await play(secret)).status).toBe(200)
    await ok('DELETE', `/v1/share/${revoked.id}`, { key })
    await ok('DELETE', `/v1/track/${track_id}`, { key })
    for (const slug of ['nothing', '%3Cb%3E', 'a'.repeat(300)]) {
      const { status, text } = await openPage(`/s/${slug}`)
      expect([slug, status, text.includes('There is nothing to play here')]).toEqual([slug, 404, true])
    }
    for (const slug of [revoked.slug, revoked.slug.toUpperCase(), orphan.slug, renamed.slug]) {
      const { status, text } = await openPage(`/s/${slug}`)
      expect([slug, status, text.includes('This link has ended'), PROTECTED_TEXT.test(text)]).toEqual([
        slug,
        410,
        true,
        false,
      ])
    }
    stopTime()
    vi.setSystemTime(Date.now() + 61_000)
    for (const path of [`/s/${ended.slug}`, `/embed/s/${ended.slug}`]) {
      const { status, text } = await openPage(path)
      expect([status, text.includes('This link has ended'), PROTECTED_TEXT.test(text)]).toEqual([410, true, false])
    }
    await expectError(404, 'not_found', 'GET', `/oembed?url=${encodeURIComponent(ended.url)}`)
    expect((await play(secret)).status).toBe(401)
  })
})

describe('the sessions of a share', () => {
  it('are short, end no later than the share, and play only what the share allows', async () => {
    // The share ends 700 ms after a whole second, but sessions end at whole seconds.
    const expires_at = `${new Date(Date.now() + 100_000).toISOString().slice(0, 19)}.700Z`
    const { slug } = await aShare(key, collection_id, { variants: ['mp3-128'] })
    const secret = apiKeyIn(await openPage(`/s/${slug}`))
    expect(secret).toBe(`ta_sh_${slug}`)
    const { body } = await play(secret, { expires_in: 86_400, is_downloadable: true })
    expect(Date.parse(body.expires_at) - Date.now()).toBeLessThanOrEqual(SHARE_SESSION_TTL * 1000)
    expect(body.play_session).toMatchObject({ variants: ['mp3-128'], is_downloadable: false })
    await expectError(403, 'insufficient_scope', 'POST', '/v1/play_session/collection', {
      key: secret,
      body: { collection_id, variants: ['aac-160'] },
    })
    const other = await aCollection(key, { title: 'Other' })
    await expectError(404, 'not_found', 'POST', '/v1/play_session/collection', {
      key: secret,
      body: { collection_id: other.id },
    })
    await expectError(403, 'insufficient_scope', 'GET', '/v1/collection', { key: secret })
    const ending = await aShare(key, collection_id, { expires_at })
    expect((await play(`ta_sh_${ending.slug}`)).body.expires_at).toBe(expires_at.replace('.700Z', '.000Z'))
  })

  it('play the default variants if none are chosen, but no custom variants of the organization', async () => {
    await aVariant(key, { index: 'master', name: 'Master', codec: 'flac' })
    const { slug } = await aShare(key, collection_id)
    const usual = (await play(key)).body.play_session.variants
    expect((await play(`ta_sh_${slug}`)).body.play_session.variants).toEqual(usual)
    expect((await play(`ta_sh_${slug}`, { variants: usual })).status).toBe(200)
    for (const variant of ['master', 'original', 'preview']) {
      await expectError(403, 'insufficient_scope', 'POST', '/v1/play_session/collection', {
        key: `ta_sh_${slug}`,
        body: { collection_id, variants: [variant] },
      })
    }
  })

  it('are refused after the share was revoked', async () => {
    const { id, slug } = await aShare(key, collection_id)
    expect((await play(`ta_sh_${slug}`)).status).toBe(200)
    await ok('DELETE', `/v1/share/${id}`, { key })
    await expectError(401, 'unauthorized', 'POST', '/v1/play_session/collection', {
      key: `ta_sh_${slug}`,
      body: { collection_id },
    })
  })

  it('are refused after another isolate revoked the share, changed its slug or changed its password', async () => {
    const shares = [
      await aShare(key, collection_id),
      await aShare(key, collection_id),
      await aShare(key, collection_id, { password: 'swordfish' }),
    ]
    const secrets = [
      `ta_sh_${shares[0]!.slug}`,
      `ta_sh_${shares[1]!.slug}`,
      apiKeyIn(await openPage(`/s/${shares[2]!.slug}`, 'swordfish')),
    ]
    const statuses = () => Promise.all(secrets.map(async (secret) => (await play(secret)).status))
    expect(await statuses()).toEqual([200, 200, 200])
    // The shares are changed directly in the database, because this isolate has cached their keys for half a minute.
    await query('delete from shares where id = ?', shares[0]!.id)
    await query("update shares set slug = 'moved' where id = ?", shares[1]!.id)
    await query("update shares set password_hash = '1.00.00' where id = ?", shares[2]!.id)
    expect(await statuses()).toEqual([401, 401, 401])
  })

  it('use one cached key per share, regardless of the characters after the slug', async () => {
    const unlocked = await aShare(key, collection_id)
    const locked = await aShare(key, collection_id, { password: 'swordfish' })
    stopTime()
    const first = apiKeyIn(await openPage(`/s/${locked.slug}`, 'swordfish'))
    vi.setSystemTime(Date.now() + 1000)
    const second = apiKeyIn(await openPage(`/s/${locked.slug}`, 'swordfish'))
    expect(second).not.toBe(first)
    const statementsFor = async (secret: string) => (await countRows(() => play(secret))).statements
    for (const [cached_secret, other_secret] of [
      [first, second],
      [`ta_sh_${unlocked.slug}`, `ta_sh_${unlocked.slug}.1.${'0'.repeat(64)}`],
    ] as const) {
      expect((await play(cached_secret)).status).toBe(200)
      // Using another secret of the share causes no additional queries, so the cache stores no separate entry for the secret and evicts no other key.
      expect(await statementsFor(other_secret)).toBe(await statementsFor(cached_secret))
    }
  })

  it('are refused after their organization was deleted', async () => {
    const { slug, url } = await aShare(key, collection_id)
    const secret = `ta_sh_${slug}`
    expect((await play(secret)).status).toBe(200)
    await ok('DELETE', `/v1/organization/${organization_id}`, { key: env.ROOT_KEY })
    expect([(await play(secret)).status, (await openPage(`/s/${slug}`)).status]).toEqual([401, 410])
    await expectError(404, 'not_found', 'GET', `/oembed?url=${encodeURIComponent(url)}`)
  })

  it('are allowed on the page and the frame of the share, and on the listed origins', async () => {
    const { slug } = await aShare(key, collection_id, { allowed_origins: ['https://a.example'] })
    const framed = await openPage(`/embed/s/${slug}`)
    expect(framed.headers.get('content-security-policy')).toMatch(/frame-ancestors 'self' https:\/\/a\.example$/)
    expect(framed.text).toContain('<main class="frame" data-origins="https://a.example">')
    const from = async (origin: string) =>
      (await callPlaySession(`ta_sh_${slug}`, 'collection', collection_id, {}, { origin })).status
    expect(await from('https://a.example')).toBe(200)
    expect(await from('https://tonearm.test')).toBe(200)
    expect(await from('https://b.example')).toBe(403)
  })
})
