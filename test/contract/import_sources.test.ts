import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { describe, expect, it } from 'vitest'

import { parseChapters } from '../../scripts/import/chapters.ts'
import { createOnce } from '../../scripts/import/create_once.ts'
import { parseCsv } from '../../scripts/import/csv.ts'
import { downloaderFor, refusalOf, secureUrl } from '../../scripts/import/download.ts'
import { decodeXml, parseFeed } from '../../scripts/import/feed.ts'
import { orderedRows, parseList } from '../../scripts/import/list.ts'
import { notesOf } from '../../scripts/import/notes.ts'
import { indexOfUrl } from '../../scripts/import/plan.ts'
import { collectionOf, inOrder } from '../../scripts/import/rss.ts'
import { shareOf } from '../../scripts/import/share.ts'
import { CollectionCreate } from '../../src/contract/collection.ts'
import { ShareCreate } from '../../src/contract/share.ts'

/** The readers of `npm run import`, which get files that strangers have written. */

const rss = (channel: string, attributes = '') => `<rss ${attributes}><channel>${channel}</channel></rss>`

describe('a feed', () => {
  it('is refused if its elements are nested too deeply', () => {
    const deep = (text: string) => `${'<a>'.repeat(200_000)}${text}`
    expect(() => parseFeed(deep(''))).toThrow('no valid XML')
    expect(() => parseFeed(rss(deep('</a>'.repeat(200_000))))).toThrow('nested too deeply')
  })

  it.each([
    ['<!DOCTYPE html><html><br></html>', 'This is a web page'],
    ['<html><body>Hello</body></html>', 'This is a web page'],
    ['<feed xmlns="http://www.w3.org/2005/Atom"/>', 'its first element is <feed>'],
    ['', 'no valid XML'],
    ['<rss><channel><title>Cut', 'no valid XML: '],

    [
      `<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>${rss('<title>&b;</title>')}`,
      "Named entity isn't defined: &b;",
    ],
    [`<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]>${rss('<title>&a;</title>')}`, "isn't defined: &a;"],
  ])('is refused with the reason if it is %j', (text, reason) => {
    expect(() => parseFeed(text)).toThrow(reason)
  })

  it('may have 5,000 items, other prefixes of namespaces and the names of characters in HTML', () => {
    const items = Array.from(
      { length: 5000 },
      (_, at) => `<item><title>Caf&#233;&nbsp;${at}</title><i:season>2</i:season></item>`,
    )
    const feed = parseFeed(rss(items.join(''), 'xmlns:i="http://www.itunes.com/dtds/podcast-1.0.dtd"'))
    expect(feed.items).toHaveLength(5000)
    expect(feed.items.at(-1)).toMatchObject({ number: 5000, title: 'Café\u00a04999', season: 2, enclosure: null })
  })

  it('is read in the encoding of its declaration, or of the header', () => {
    const text = '<?xml version="1.0" encoding="ISO-8859-1"?><rss><channel><title>é</title></channel></rss>'
    expect(parseFeed(decodeXml(Buffer.from(text, 'latin1'))).title).toBe('é')
    expect(decodeXml(Buffer.from(text), 'text/xml; charset=utf-8')).toContain('<title>é</title>')
    expect(decodeXml(Buffer.from(`\ufeff${text}`, 'utf16le'))).toContain('<title>é</title>')
  })

  it('has facts that fit into a collection, its metadata and a share, in any language', () => {
    const long = '語'.repeat(6000)
    const names = ['title', 'description', 'link', 'language', 'copyright', 'itunes:author', 'podcast:guid']
    const owner = `<itunes:owner><itunes:email>${long}</itunes:email></itunes:owner>`
    for (const text of [long, '語'.repeat(255)]) {
      const feed = parseFeed(rss(names.map((name) => `<${name}>${text}</${name}>`).join('') + owner))
      const {
        cover: _,
        id: _id,
        index: organization_index,
        ...body
      } = collectionOf(feed, 'feed.xml', undefined, undefined)
      expect(CollectionCreate.safeParse({ ...body, organization_index }).error).toBeUndefined()
      expect(ShareCreate.safeParse(shareOf(crypto.randomUUID(), feed, 'About it')).error).toBeUndefined()
    }
  })

  it.each(['constructor', '__proto__', 'maybe'])('does not say whether it is explicit with %j', (text) => {
    const explicit = `<itunes:explicit>${text}</itunes:explicit>`
    const feed = parseFeed(rss(`${explicit}<item>${explicit}</item>`))
    expect([feed.explicit, feed.items[0]!.explicit]).toEqual([false, null])
  })

  it.each([
    ['episodic', ['c 3 Mar', 'b 2 Mar', 'a 1 Mar'], 'a b c'],
    ['episodic', ['a 1 Mar', 'c 3 Mar', 'b 2 Mar'], 'a b c'],
    ['episodic', ['b 1 Mar', 'a 1 Mar'], 'a b'],
    ['serial', ['a 3 Mar 1', 'b 2 Mar 2', 'c 1 Mar 3'], 'a b c'],
    ['serial', ['c 1 Mar 3', 'b 2 Mar 2', 'x 3 Mar', 'a 4 Mar 1'], 'a x b c'],
    ['serial', ['b 2 Mar', 'a 1 Mar'], 'a b'],
    ['serial', ['a 1 Mar', 'b 2 Mar'], 'a b'],
  ])('that is %s with the items %j becomes a collection in the order %j', (type, items, expected) => {
    const xml = items.map((item) => {
      const [title, day, month, number] = item.split(' ')
      return `<item><title>${title}</title><pubDate>${day} ${month} 2026 00:00 GMT</pubDate><itunes:episode>${number ?? ''}</itunes:episode></item>`
    })
    const feed = parseFeed(rss(`<itunes:type>${type}</itunes:type>${xml.join('')}`))
    expect(
      inOrder(feed)
        .map(({ title }) => title)
        .join(' '),
    ).toBe(expected)
  })
})

it.each([
  ['<p>One  <b>two</b></p>\n<p>three<br/>four</p>', 'One **two**\n\nthree\nfour'],
  [
    '<a href="https://a.example/?a=1&amp;b=(2)"><b>the</b> [link]</a>',
    '[the](https://a.example/?a=1&b=%282%29) [(link)](https://a.example/?a=1&b=%282%29)',
  ],
  ['<a href="javascript:alert(1)">no</a> <a>link</a>', 'no link'],
  ['<script>alert("<p>")</script><style>p{}</style>text<!-- <b> -->', 'text'],
  ['Plain text\nwith lines &amp; a < b', 'Plain text\nwith lines & a < b'],
  ['<p>a < b and <3</p>', 'a < b and <3'],
  ['<p>unclosed <b>bold', 'unclosed **bold**'],
  ['<b>5 * 3</b>', '5 * 3'],
  ['<p>&lt;script&gt; \u202eafter</p>', '<script> after'],
  ['<div><ul><li>a</li><li>b</li></ul></div>after', '- a\n- b\n\nafter'],
])('the notes %j become %j', (html, text) => {
  expect(notesOf(html)).toBe(text)
})

it.each(['<', '<!--', '<a ', '<script>', '<p>', '<b> ', '<a href="', '</', '<a>', '\n ', '> <a ', ' '])(
  'notes that repeat %j are read in linear time',
  // A reader with quadratic time exceeds the timeout.
  { timeout: 20_000 },
  (part) => {
    // White space at both ends is removed early.
    const notes = `a${part.repeat(200_000).slice(0, 199_998)}b`
    expect(notesOf(notes).length).toBeLessThanOrEqual(200_000)
  },
)

it('chapters are sorted and cleaned, and other documents are refused', () => {
  const chapters = [
    { startTime: '5.00049', title: 'Second\n', img: 'javascript:x', url: 'https://a.example', location: {} },
    { startTime: 0, title: '', toc: false, endTime: -1 },
    { startTime: 5 },
    { startTime: -1 },
    { startTime: Number.NaN },
    null,
  ]
  expect(parseChapters(JSON.stringify({ version: '1.1.0', chapters }))).toEqual({
    chapters: [
      { startTime: 0, toc: false },
      { startTime: 5, title: 'Second', url: 'https://a.example' },
    ],
  })
  for (const text of ['<html>', '[]', 'null', '{"chapters":{}}']) expect(() => parseChapters(text)).toThrow(/^it /)
})

describe('a list', () => {
  it('is CSV with quotation marks and any separator, or JSON Lines', () => {
    const row = { url: 'https://a.example/1.mp3', title: 'A "b"; c\nd' }
    expect(parseList('\ufeffURL;Title\r\nhttps://a.example/1.mp3;"A ""b""; c\nd"\r\n\r\n', 'a.csv')).toEqual([row])
    expect(parseList(`${JSON.stringify(row)}\n\n${JSON.stringify({ url: 'x', order: 2 })}`, 'a.jsonl')).toEqual([
      row,
      { url: 'x', order: '2' },
    ])
    expect(parseCsv('a,b\n1,\n,2\n3,4,')).toEqual([
      { a: '1', b: '' },
      { a: '', b: '2' },
      { a: '3', b: '4' },
    ])
  })

  it.each([
    ['url,titel\na,b', 'The list has the column "titel"'],
    ['title\nb', 'The list has no column "url"'],
    ['url,url\na,b', 'the column "url" twice'],
    ['url\n"a', 'without an end'],
    ['url\n"a"b', 'text after a quotation mark'],
    ['url\na,b,c', 'Item 1 of the list has more values'],
    ['{"url":"a"}\n{', 'Line 2 of the list is no JSON'],
    ['{"url":"a"}\n[1]', 'Line 2 of the list is no JSON object'],
    ['{"url":["a"]}', 'Line 1 of the list: "url" is neither a text nor a number'],
  ])('is refused with the place of the fault: %j', (text, reason) => {
    expect(() => parseList(text, 'list')).toThrow(reason)
  })
})

it('rows whose order is no number follow those with a number', () => {
  const orders = ['3', 'x', '1', '', '-Infinity', '2', 'y', '0']
  const rows = orderedRows(orders.map((order) => ({ order })))
  expect(rows.map(([, { order }]) => order)).toEqual(['0', '1', '2', '3', 'x', '', '-Infinity', 'y'])
})

it.each([0, 429, 503])('a resource that cannot be read (%i) is not created a second time', async (status) => {
  const creation = {
    identity: ['a'],
    create: async (_key: string) => ({ ok: true, id: 'a' }) as const,
    find: async () => null,
    read: async () => ({ ok: false, code: 'network', message: 'Later', status }) as const,
  }
  await expect(createOnce(creation)).rejects.toThrow('Later')
})

it('a resource that was deleted is created again, with another key', async () => {
  const keys: string[] = []
  const id = await createOnce({
    identity: ['a'],
    create: async (key) => ({ ok: true, id: String(keys.push(key)) }),
    find: async () => null,
    read: async (id) => (id === '2' ? { ok: true } : { ok: false, code: 'not_found', message: 'Gone', status: 404 }),
  })
  expect([id, new Set(keys).size]).toEqual(['2', 2])
})

it.each([
  ['https://a.example/x.mp3?X-Amz-Signature=1&X-Amz-Date=2', 'https://a.example/x.mp3'],
  ['https://cdn.example/x.mp3?Expires=1&Signature=2&Key-Pair-Id=3', 'https://cdn.example/x.mp3'],
  ['https://a.example/get?id=1&token=2', 'https://a.example/get?1ed4a2a4f3a7b0a9'],
])('the index of %j does not have its signature', (url, index) => {
  const [path, hash] = index.split('?')
  expect(indexOfUrl(url)).toMatch(
    hash === undefined ? new RegExp(`^${path!.replaceAll('.', '\\.')}$`) : /^https:\/\/a\.example\/get\?[\da-f]{16}$/,
  )
  expect(indexOfUrl(`${url}x`)).toBe(indexOfUrl(url))
})

it('files are requested from public hosts only, with https', () => {
  expect(secureUrl('http://a.example/x')).toBe('https://a.example/x')
  expect(secureUrl('http://a.example:80/x')).toBe('https://a.example/x')
  for (const url of ['http://a.example:8080/x', 'http://127.0.0.1/x', 'http://user@a.example/', 'https://a.example/'])
    expect(secureUrl(url)).toBe(url)
  const service = 'https://audio.example.com'
  for (const url of [
    'http://127.0.0.1/',
    'https://10.0.0.1/',
    'https://[::ffff:10.0.0.1]/',
    'https://0x7f.1/',
    'file:///etc/passwd',
    'https://localhost/',
    'https://u:p@a.example.org/',
    'https://a.example.org:22/',
  ])
    expect(refusalOf(url, service), url).not.toBeNull()
  expect(refusalOf('https://cdn.example.org/x.jpg', service)).toBeNull()
  expect(refusalOf('http://127.0.0.1:9000/x', 'http://localhost:8787')).toBeNull()
  expect(refusalOf('http://127.0.0.1:8787/x', 'http://localhost:8787')).not.toBeNull()
})

it('a redirect to another port of the chosen host is not as trusted as the host', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/') return response.end('feed')
    const location = request.url === '/same' ? '/' : 'http://127.0.0.1:9/'
    response.writeHead(302, { location }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { trusted } = downloaderFor('https://audio.example.com')
  const limits = { maxBytes: 1000, seconds: 10, signal: new AbortController().signal }
  expect((await trusted(`${origin}/same`, limits)).bytes.toString()).toBe('feed')
  await expect(trusted(`${origin}/other`, limits)).rejects.toThrow('a redirect of its address must')
  server.close()
})
