import { exports } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'

import { collections, tracks } from '../../../src/adapters/db/schema/library.ts'
import { playSessions } from '../../../src/adapters/db/schema/play_sessions.ts'
import { aPlaySession, db, HOUR, ok, type Scope, UNKNOWN_ID } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { isSignedFor } from '../support/signature.ts'

/** `GET /embed/{play_session_id}`, the page that other sites show in a frame. test/e2e/embed.test.ts checks its appearance and its sound. */

let key: string
let collection_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
  track_id = await aReadyTrack(key, collection_id, { player_title: 'So "What" <b>&' })
})

async function open(path: string) {
  const response = await exports.default.fetch(`https://tonearm.test/embed/${path}`)
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const sessionOf = async (scope: Scope, id: string) => (await aPlaySession(key, scope, id)).play_session_id
const end = (id: string, expires_at: number) =>
  db.update(playSessions).set({ expires_at }).where(eq(playSessions.id, id))

describe('the embed page', () => {
  it('contains a player for the session, the title, and a link to the oEmbed description', async () => {
    const id = await sessionOf('collection', collection_id)
    const { status, headers, text } = await open(id)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toContain(`<tonearm-player base-url="https://tonearm.test" play-session-id="${id}"`)
    expect(text).toContain('<title>Kind of Blue</title>')
    const oembed = /<link rel="alternate" type="application\/json\+oembed" href="([^"]+)"/.exec(text)?.[1] ?? ''
    const described = await ok('GET', oembed.replaceAll('&amp;', '&').replace('https://tonearm.test', ''))
    expect(described.title).toBe('Kind of Blue')
  })

  it('can be framed by any page, runs only scripts of its own origin, and sends no referrer', async () => {
    const { headers, text } = await open(await sessionOf('track', track_id))
    expect(headers.get('x-frame-options')).toBeNull()
    const policy = new Map(
      (headers.get('content-security-policy') ?? '').split('; ').map((part) => {
        const [name = '', ...values] = part.split(' ')
        return [name, values.join(' ')]
      }),
    )
    expect(policy.get('frame-ancestors')).toBe('*')
    expect([policy.get('default-src'), policy.get('script-src')]).toEqual(["'none'", "'self'"])
    const nonce = /<style nonce="([^"]+)"/.exec(text)?.[1]
    expect(policy.get('style-src')).toBe(`'nonce-${nonce}'`)
    expect((await open(await sessionOf('track', track_id))).text).not.toContain(nonce)
    expect(text).not.toMatch(/<script(?![^>]* src="\/)|\sstyle="|\son\w+="/)
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('escapes text that users have entered', async () => {
    const { text } = await open(await sessionOf('track', track_id))
    expect(text).toContain('<title>So &quot;What&quot; &lt;b&gt;&amp;</title>')
    expect(text).not.toContain('<b>')
    await db.update(tracks).set({ player_subtitle: '"><script src=//x>' }).where(eq(tracks.id, track_id))
    const escaped = '&quot;&gt;&lt;script src=//x&gt;'
    expect((await open(await sessionOf('track', track_id))).text).toContain(`content="${escaped}"`)
  })

  it('has the link preview tags that match its scope, with the cover or a generated one', async () => {
    const cards = async (id: string) => {
      const { text } = await open(id)
      const all = text.matchAll(/<meta (?:property|name)="((?:og|twitter):[^"]+)" content="([^"]*)" *\/>/g)
      return Object.fromEntries([...all].map(([, name, content]) => [name!, content!.replaceAll('&amp;', '&')]))
    }
    const alone = await sessionOf('track', track_id)
    expect(await cards(alone)).toEqual({
      'og:type': 'music.song',
      'og:title': 'So &quot;What&quot; &lt;b&gt;&',
      'og:url': `https://tonearm.test/embed/${alone}`,
      'og:site_name': 'Tonearm',
      'og:image': expect.stringMatching(/^https:\/\/tonearm\.test\/cover\/[A-Z]*-\d+-\w+\/large\.png$/),
      'og:image:width': '1400',
      'og:image:height': '1400',
      'og:image:alt': 'So &quot;What&quot; &lt;b&gt;&',
      'twitter:card': 'summary',
    })
    const list = await cards(await sessionOf('collection', collection_id))
    expect(list).toMatchObject({ 'og:type': 'music.album', 'og:title': 'Kind of Blue' })
    expect(list['og:image']).toMatch(/\/cover\/KO-\d+-7{32}\/large\.png$/)
    await db
      .update(tracks)
      .set({ cover_path: 'covers/here', player_subtitle: 'Miles Davis' })
      .where(eq(tracks.id, track_id))
    const { 'og:image': image = '', ...covered } = await cards(await sessionOf('track', track_id))
    expect(new URL(image).pathname).toMatch(/\/covers\/here\/regular\.jpg$/)
    expect(await isSignedFor('GET', image)).toBe(true)
    expect(covered).toMatchObject({
      'og:description': 'Miles Davis',
      'og:image:width': '400',
      'og:image:height': '400',
    })
  })

  it('uses only layout, theme and accent from its URL', async () => {
    const id = await sessionOf('track', track_id)
    const { text } = await open(`${id}?layout=compact&theme=dark&accent=%23C0FFEE&api-key=x&start=%22%3E`)
    expect(text).toMatch(/<tonearm-player[^>]* layout="compact" theme="dark" accent="#C0FFEE" *>/)
    expect(text).not.toContain('api-key')
    expect((await open(`${id}?layout=cover`)).text).toMatch(/<tonearm-player[^>]* layout="cover" *>/)
    expect((await open(`${id}?layout=huge&accent=red%22onload=&theme=`)).text).not.toMatch(/layout=|accent=|onload/)
  })

  it('returns a friendly page with 410 for an expired session, and with 404 for an unknown session', async () => {
    const id = await sessionOf('collection', collection_id)
    await end(id, Date.now() - 1000)
    const ended = await open(id)
    expect([ended.status, ended.text.includes('This player has expired')]).toEqual([410, true])
    expect(ended.headers.get('content-security-policy')).toContain('frame-ancestors *')
    expect(ended.text).not.toMatch(/<script|og:|Kind of Blue/)
    await end(id, Date.now() - 25 * HOUR)
    for (const path of [id, UNKNOWN_ID, 'nonsense', '%3Cscript%3E']) {
      const { status, text } = await open(path)
      expect([path, status, text.includes('There is nothing to play here')]).toEqual([path, 404, true])
    }
  })

  it('accepts its id in upper case, and has no other path', async () => {
    const id = await sessionOf('track', track_id)
    const statuses = []
    for (const path of [`embed/${id.toUpperCase()}`, `EMBED/${id}`, `embed/${id}/${track_id}`])
      statuses.push((await exports.default.fetch(`https://tonearm.test/${path}`)).status)
    expect(statuses).toEqual([200, 404, 404])
  })

  it('returns 404 when the resource of its session was deleted', async () => {
    const tenant = await aTenant()
    const { play_session_id } = await aPlaySession(tenant.key, 'collection', tenant.collection_id)
    await db.delete(collections).where(eq(collections.id, tenant.collection_id))
    expect((await open(play_session_id)).status).toBe(404)
  })
})
