import { parseXml, type XmlElement } from '@rgrove/parse-xml'
import { parseFeed } from 'podcast-partytime'
import { itunesCategoriesSourceOfTruth } from 'podcast-partytime/dist/parser/itunes-categories.js'
import { describe, expect, it } from 'vitest'

import { PODCAST_CATEGORIES } from '../../src/contract/podcast.ts'
import { severalLines } from '../../src/contract/text.ts'
import { feedXml } from '../../src/http/pages/feed_xml.ts'
import type { ShownFeed } from '../../src/resources/share/shown_feed.ts'

/** Feeds with hostile texts, read by a strict XML parser and by a parser of podcasts that others have written. */

const HOSTILE = [
  ']]>',
  '<![CDATA[x]]>',
  '</title><script>alert(1)</script>',
  '&lt;b&gt; &amp; &#0; &bogus; "quoted" \'single\'',
  '<!DOCTYPE rss [<!ENTITY a "aaaa">]>&a;',
  '\u0000\u0001\u0008\u000b\u000c\u001f\ufffe\uffff',
  '\ud800 high, low \udfff, \udc00\ud800 swapped',
  '<?xml version="1.0"?><!-- -- -->',
  '🎧 👩‍👩‍👧 𝒳',
  'שלום \u202e مرحبا \u2067',
  '`${x}` %s {{x}} $& $1',
  ' ',
]
const texts = [...HOSTILE, HOSTILE.join(' ')]
const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`

/** Returns an episode whose texts are the hostile text at a position. */
function episodeOf(at: number): ShownFeed['episodes'][number] {
  const text = texts[at % texts.length]!
  return {
    id: idOf(at),
    title: `${text}${at}`,
    artist: text,
    published_at: Date.UTC(2026, 0, 1) + at * 60_000,
    file: { format: 'mp3', content_type: 'audio/mpeg', size: 1000 + at, duration: 61.4 },
    has_chapters: at % 2 === 0,
    season: at % 3 === 0 ? 1 : null,
    number: at + 1,
    type: 'full',
    explicit: at % 5 === 0 ? true : null,
    description: text.repeat(Math.ceil(10_000 / text.length)).slice(0, 10_000),
  }
}

function feedOf(text: string, episodes: ShownFeed['episodes']): ShownFeed {
  return {
    share: { id: idOf(7), slug: 'our-podcast', text } as ShownFeed['share'],
    feed: {
      author: text,
      email: 'a&b@example.com',
      language: 'en',
      category: 'Kids & Family > Stories for Kids',
      explicit: false,
      type: 'serial',
      link: 'https://a.example/?a=1&b=2',
      copyright: text,
      block: true,
      locked: true,
      medium: 'audiobook',
    },
    title: `${text}!`,
    subtitle: text,
    cover_size: 1400,
    page: 'https://a.example/s/our-podcast',
    address: 'https://a.example/s/our-podcast/feed.xml',
    episodes,
    published_at: Date.UTC(2026, 0, 2),
    changed_at: null,
  }
}

/** A text as XML can have it: without the characters that it forbids, and with normalized line breaks. */
const allowed = (text: string) =>
  Array.from(text)
    .filter((char) => /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]$/u.test(char))
    .join('')

/** Returns HTML as a browser would show it, and the names of its elements. */
function shown(html: string) {
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  return {
    names: [...new Set([...html.matchAll(/<\/?([a-z]+)/gi)].map(([, name]) => name))],
    text: html.replaceAll(/<[^>]*>/g, '').replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name]!),
  }
}

/** Returns the channel of a feed, read by the strict parser. */
const channelOf = (xml: string) => parseXml(xml).root!.children[0] as XmlElement
const itemsOf = (xml: string) => (channelOf(xml).children as XmlElement[]).filter(({ name }) => name === 'item')
const textOf = (item: XmlElement, name: string) =>
  (item.children as XmlElement[]).find((child) => child.name === name)?.text

const episodes = Array.from({ length: 300 }, (_, at) => episodeOf(at))

describe('a feed of 300 episodes with hostile texts', () => {
  it('is read completely', async () => {
    const xml = await feedXml(feedOf(texts.at(-1)!, episodes))
    expect(() => parseXml(xml)).not.toThrow()
    const feed = parseFeed(xml)!
    expect(feed.items.map(({ guid }) => guid)).toEqual(episodes.map(({ id }) => id))
    expect(feed.items.map(({ enclosure }) => [enclosure.url, enclosure.length, enclosure.type])).toEqual(
      episodes.map(({ id }, at) => [`https://a.example/s/our-podcast/feed/${id}.mp3`, 1000 + at, 'audio/mpeg']),
    )
    expect(feed.items.map(({ podcastEpisode }) => podcastEpisode?.number)).toEqual(episodes.map(({ number }) => number))
    expect(feed.items.map(({ podcastChapters }) => podcastChapters?.url)).toEqual(
      episodes.map(({ id, has_chapters }) =>
        has_chapters ? `https://a.example/s/our-podcast/feed/${id}.chapters.json` : undefined,
      ),
    )
    expect(feed).toMatchObject({
      link: 'https://a.example/?a=1&b=2',
      language: 'en',
      itunesType: 'serial',
      itunesBlock: true,
      itunesCategory: ['Kids & Family > Stories for Kids'],
      locked: true,
      medium: 'audiobook',
      guid: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-5/),
    })
  })

  it('has every text unchanged, except for characters that XML forbids', async () => {
    const xml = await feedXml(feedOf('x', episodes))
    const items = itemsOf(xml)
    expect(items.map((item) => textOf(item, 'title'))).toEqual(episodes.map(({ title }) => allowed(title).trim()))
    for (const [at, item] of items.entries()) {
      const { names, text } = shown(textOf(item, 'description') ?? '')
      // Marks and paragraphs are the only elements: no text becomes an element that its writer did not mean.
      expect(names.filter((name) => !['p', 'br', 'strong', 'em', 'a'].includes(name!))).toEqual([])
      if (!episodes[at]!.description!.includes('\n'))
        expect(text).toBe(allowed(episodes[at]!.description!).trim() && text)
    }
  })
})

it.each(texts)('the hostile text %j in the channel is read', async (text) => {
  const xml = await feedXml(feedOf(text, episodes.slice(0, 1)))
  expect(textOf(channelOf(xml), 'title')).toBe(allowed(`${text}!`).trim())
  expect(parseFeed(xml)).toMatchObject({ language: 'en', items: [{ guid: idOf(0) }] })
})

it('notes are shown as they were written', async () => {
  const description = severalLines('A <b>bold</b> & "quoted" ]]> text\nsecond line\n\n**strong** <https://a.example>')
  const xml = await feedXml(feedOf('x', [{ ...episodeOf(0), description }]))
  expect(itemsOf(xml).map((item) => textOf(item, 'description'))).toEqual([
    '<p>A &lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; ]]&gt; text<br />second line</p>\n<p><strong>strong</strong> &lt;https://a.example&gt;</p>',
  ])
})

it('a feed without any text is complete', async () => {
  const empty = feedOf('', [])
  const feed = { ...empty.feed, author: null, email: null, language: null, category: null, link: null, copyright: null }
  const xml = await feedXml({ ...empty, feed: { ...feed, block: false }, title: '', published_at: null })
  const parsed = parseFeed(xml)!
  expect(parsed).toMatchObject({ title: 'our-podcast', link: 'https://a.example/s/our-podcast', itunesBlock: false })
  expect(xml).not.toMatch(/><\/|null|undefined/)
})

it("has Apple's categories", () => {
  const others = itunesCategoriesSourceOfTruth.flatMap(({ name, subCategories }) => [
    name,
    ...subCategories.map((subcategory) => `${name} > ${subcategory}`),
  ])
  expect(PODCAST_CATEGORIES.toSorted()).toEqual(others.toSorted())
})
