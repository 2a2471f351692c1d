import { beforeEach, describe, expect, it } from 'vitest'

import { errorPaths, expectError, ok, query } from '../support/api.ts'
import { aReadyTrack, aTenant } from '../support/fixtures.ts'
import { aShare, openPage, PROTECTED_TEXT, showPage } from '../support/share_visitor.ts'

/** The text and the links of a share, the colors of its page, and the facts about a podcast on it. */

let key: string
let collection_id: string
let organization_id: string
let track_id: string

beforeEach(async () => {
  ;({ key, collection_id, organization_id } = await aTenant())
  track_id = await aReadyTrack(key, collection_id)
})

const LINKS = [
  { title: 'Shop', url: 'https://shop.example/a?b=1&c=2' },
  { title: 'Mail <us>', url: 'mailto:us@example.com' },
]
const aboutOf = async (body: object) => {
  const { slug } = await aShare(key, collection_id, body)
  return /<section class="about">([^]*?)<\/section>/.exec((await openPage(`/s/${slug}`)).text)?.[1]
}

describe('the text and the links of a share', () => {
  it('are null and empty at first, can be changed, and are removed by null', async () => {
    const share = await aShare(key, collection_id)
    expect([share.text, share.links]).toEqual([null, []])
    const update = async (body: object) => {
      const { text, links } = (await ok('PUT', `/v1/share/${share.id}`, { key, body })).share
      return [text, links]
    }
    expect(await update({ text: '  One\r\n\r\nTwo\u202e\0 ', links: LINKS })).toEqual(['One\n\nTwo', LINKS])
    expect(await update({ title: 'Other' })).toEqual(['One\n\nTwo', LINKS])
    expect((await ok('GET', '/v1/share', { key })).shares[0]).toMatchObject({ text: 'One\n\nTwo', links: LINKS })
    expect(await update({ text: null, links: null })).toEqual([null, []])
  })

  it('are shown on the page with a part of Markdown, and not in a frame', async () => {
    const text =
      'First **bold** line\nand *soft* <b>\n\n[Read](https://a.example/?x=*1*&y="2") [no](javascript:alert(1)) 2 * 3 * 4'
    const about = await aboutOf({ text, links: LINKS })
    expect(about).toMatch(/<p>\s*First <strong>bold<\/strong> line<br \/>and <em>soft<\/em> &lt;b&gt;\s*<\/p>/)
    expect(about).toContain(
      'href="https://a.example/?x=*1*&amp;y=&quot;2&quot;" target="_blank" rel="nofollow noopener',
    )
    expect(about).toMatch(/\[no\]\(javascript:alert\(1\)\) 2 \* 3 \* 4\s*<\/p>/)
    expect(about).toContain('<a href="https://shop.example/a?b=1&amp;c=2"')
    expect(about).toContain('>Mail &lt;us&gt;</a>')
    expect(await aboutOf({})).toBeUndefined()
    const { slug } = await aShare(key, collection_id, { text, links: LINKS })
    expect((await openPage(`/embed/s/${slug}`)).text).not.toMatch(/bold|shop\.example/)
  })

  it.each([
    [{ text: '' }, 'text'],
    [{ text: ' \n ' }, 'text'],
    [{ text: 'x'.repeat(5001) }, 'text'],
    [{ links: Array(5).fill(LINKS[0]) }, 'links'],
    [{ links: [{ title: '', url: 'https://a.example' }] }, 'links.0.title'],
    [{ links: [{ title: 'x'.repeat(81), url: 'https://a.example' }] }, 'links.0.title'],
    [{ links: [{ title: 'x', url: `https://a.example/${'x'.repeat(2048)}` }] }, 'links.0.url'],
    ...[
      'javascript:alert(1)',
      'java\nscript:alert(1)',
      'data:text/html,x',
      'ftp://a.example',
      '//a.example',
      'a.example',
    ].map((url): [object, string] => [{ links: [LINKS[1], { title: 'x', url }] }, 'links.1.url']),
  ])('are refused: %j', async (body, path) => {
    const share = { scope: 'collection', id: collection_id, ...body }
    const error = await expectError(400, 'invalid_request', 'POST', '/v1/share', { key, body: share })
    expect(errorPaths(error)).toContain(path)
  })

  it('are refused with other fields in a link', async () => {
    const links = [{ ...LINKS[0], onclick: 'x' }]
    await expectError(400, 'unknown_field', 'POST', '/v1/share', {
      key,
      body: { scope: 'collection', id: collection_id, links },
    })
  })
})

describe('the page of a share', () => {
  const tint = ({ text }: { text: string }) => /--tint: ([^}]*) }/.exec(text)?.[1]

  it('has the color of its theme, of its cover or of its generated cover, and shows that as SVG', async () => {
    const { slug } = await aShare(key, collection_id)
    const page = async () => openPage(`/s/${slug}`)
    expect(tint(await page())).toMatch(/^oklch\(\.4 \.085 \d+\)$/)
    expect((await page()).text).toMatch(/<img src="https:\/\/tonearm\.test\/cover\/KO-\d+-7{32}\/regular\.svg"/)
    const colors = JSON.stringify([{ hex: '#0A7B6C', area: 1, lightness: 0.3, saturation: 0.8 }])
    await query("update tracks set cover_path = 'covers/here', cover_colors = ?", colors)
    expect(tint(await page())).toBe('#0A7B6C')
    expect((await page()).text).toMatch(/<img src="[^"]*covers\/here\/regular\.jpg\?/)
    await query(`update collections set theme = '["#123456"]'`)
    expect(tint(await page())).toBe('#123456')
  })

  it('has the color of its title if its theme and its cover are gray', async () => {
    const { slug } = await aShare(key, collection_id)
    const page = async () => tint(await openPage(`/s/${slug}`))
    const generated = await page()
    const colors = JSON.stringify([{ hex: '#7C8084', area: 1, lightness: 0.5, saturation: 0.03 }])
    await query("update tracks set cover_path = 'covers/here', cover_colors = ?", colors)
    await query(`update collections set theme = '["#808080"]'`)
    expect([generated, await page()]).toEqual([expect.stringMatching(/^oklch/), generated])
  })

  it('names its organization, and before a password is entered nothing else', async () => {
    const { organization } = await ok('GET', `/v1/organization/${organization_id}`, { key })
    const share = await aShare(key, collection_id, { text: 'Secret words', links: LINKS })
    expect((await openPage(`/s/${share.slug}`)).text).toContain(`<footer>${organization.name}</footer>`)
    await ok('PUT', `/v1/share/${share.id}`, { key, body: { password: 'swordfish' } })
    const locked = await openPage(`/s/${share.slug}`)
    expect(locked.text).not.toMatch(PROTECTED_TEXT)
    expect(locked.text).not.toMatch(/Secret|shop\.example|<footer|<img/)
    expect(locked.text).toContain(`<p dir="auto">${organization.name}</p>`)
    const color = tint(locked)
    // The color depends on the address only.
    await query("update collections set title = 'Other', theme = '[\"#123456\"]'")
    expect(tint(await openPage(`/s/${share.slug}`))).toBe(color)
    expect((await openPage(`/s/${share.slug}`, 'swordfish')).text).toContain('Secret words')
  })
})

describe('the page of a podcast', () => {
  const episode = { season: 1, number: 3, published_at: '2026-11-04T06:00:00Z', description: 'About **zero**.' }
  const shared = async (body: object) => (await aShare(key, collection_id, { is_downloadable: true, ...body })).slug

  it('shows the number, the date, the length, the chapters and the notes of an episode, and its title once', async () => {
    await ok('PUT', `/v1/track/${track_id}`, { key, body: { episode } })
    await ok('PUT', `/v1/track/${track_id}/chapters`, {
      key,
      body: {
        chapters: [
          { startTime: 0, title: 'Hello' },
          { startTime: 5, title: 'Zero' },
        ],
      },
    })
    await query('update tracks set duration = 4329')
    const slug = await shared({ scope: 'track', id: track_id })
    const { text } = await showPage(`/s/${slug}`)
    const facts = /<p>([^<]*)<\/p>\s*<\/header>/.exec(text)?.[1]?.replaceAll('\u00A0', ' ')
    expect(facts).toBe('Season 1 · Episode 3 · Nov 4, 2026 · 1 hr 12 min · 2 chapters')
    expect(text).toContain('<main class="share one same">')
    expect(text).toContain('<strong>zero</strong>')
    await ok('PUT', `/v1/track/${track_id}`, { key, body: { episode: { type: 'trailer' } } })
    expect((await showPage(`/s/${slug}`)).text).toMatch(/<p>Trailer · \w{3}/)
  })

  it('has a link to the feed, unless the feed is private', async () => {
    const link = async (feed: object | null) => {
      const { text } = await openPage(`/s/${await shared({ feed })}`)
      return [/Podcast · 1 episode</.test(text), /<a href="([^"]*)\/feed\.xml"/.test(text)]
    }
    expect([await link({}), await link({ block: true }), await link(null)]).toEqual([
      [true, true],
      [true, false],
      [false, false],
    ])
  })
})
