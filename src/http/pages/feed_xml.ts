import { SUBCATEGORY } from '../../contract/podcast.ts'
import type { ShownEpisode, ShownFeed } from '../../resources/share/shown_feed.ts'
import { textOf } from './share_text.ts'

/**
 * Writes a podcast feed: RSS 2.0 with the tags of Apple (`itunes:`) and of Podcasting 2.0 (`podcast:`). All texts are written by people, so they may
 * contain any character.
 */

/** Characters that XML 1.0 forbids even as a reference. Halves of surrogate pairs are forbidden too. */
// oxlint-disable-next-line no-control-regex -- these characters are removed
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g
const HALVES = /\p{Surrogate}/gu
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

type Value = string | number | boolean | null
function escaped(value: Exclude<Value, null>): string {
  const text = String(value)
  return (text.isWellFormed() ? text : text.replace(HALVES, ''))
    .replace(FORBIDDEN, '')
    .replace(/[&<>"]/g, (char) => ESCAPES[char]!)
}

/** Returns an element with attributes and XML as its content. Attributes that are null are left out. */
function element(name: string, attributes: Record<string, Value>, content = ''): string {
  const list = Object.entries(attributes).map(([key, value]) => (value === null ? '' : ` ${key}="${escaped(value)}"`))
  return content ? `<${name}${list.join('')}>${content}</${name}>\n` : `<${name}${list.join('')}/>\n`
}

/** Returns an element with a text; nothing for an empty text, or for null. */
function text(name: string, value: Value, attributes: Record<string, Value> = {}): string {
  const content = value === null ? '' : escaped(value).trim()
  return content ? element(name, attributes, content) : ''
}

/** The attributes of links that only pages need. */
const PAGE_LINK = ' target="_blank" rel="nofollow noopener noreferrer"'

/** Returns a text of a person as HTML: paragraphs, emphasis and links, as on the page of a share. Everything else in it is shown as it was written. */
const asHtml = (value: string) =>
  textOf(value)
    .map(({ html }) => html.replaceAll(PAGE_LINK, '').replace(/^<p>\s+|\s+<\/p>$/g, (tag) => tag.trim()))
    .join('\n')

/** Apps truncate longer names (Podcasting 2.0, podcast:person). */
const MAX_PERSON = 128

const person = (name: string | null) => text('podcast:person', name && Array.from(name).slice(0, MAX_PERSON).join(''))

function itemOf(episode: ShownEpisode, { feed, page }: ShownFeed): string {
  const { id, title, artist, published_at, file, season, number, type, explicit, description, has_chapters } = episode
  const guest = artist === feed.author ? null : artist
  return element(
    'item',
    {},
    [
      text('title', title.trim() || id),
      text('link', page),
      text('guid', id, { isPermaLink: 'false' }),
      text('pubDate', new Date(published_at).toUTCString()),
      text('description', description && asHtml(description)),
      element('enclosure', {
        url: `${page}/feed/${id}.${file.format}`,
        length: file.size,
        type: file.content_type.split(';', 1)[0]!,
      }),
      text('itunes:duration', Math.round(file.duration)),
      text('itunes:author', guest),
      text('itunes:season', season),
      text('itunes:episode', number),
      text('itunes:episodeType', type),
      text('itunes:explicit', explicit),
      text('podcast:season', season),
      text('podcast:episode', number),
      person(guest),
      has_chapters
        ? element('podcast:chapters', {
            url: `${page}/feed/${id}.chapters.json`,
            type: 'application/json+chapters',
          })
        : '',
    ].join(''),
  )
}

const categoryOf = (category: string | null) => {
  const [name, subcategory] = category?.split(SUBCATEGORY) ?? []
  if (name === undefined) return ''
  return element(
    'itunes:category',
    { text: name },
    subcategory === undefined ? '' : element('itunes:category', { text: subcategory }),
  )
}

/** The namespace of UUIDs for podcasts (Podcasting 2.0, podcast:guid). */
const PODCAST_NAMESPACE = 'ead4c236-bf58-58c6-a2c6-a6b28d128cb6'

/**
 * Returns the identifier of a podcast, a UUID of version 5 (RFC 9562 §5.5). It is made of the share's id and not of its address, because the address
 * may change.
 */
async function podcastGuid(share_id: string): Promise<string> {
  const namespace = PODCAST_NAMESPACE.replaceAll('-', '')
    .match(/../g)!
    .map((pair) => Number.parseInt(pair, 16))
  const input = new Uint8Array([...namespace, ...new TextEncoder().encode(share_id)])
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-1', input)).subarray(0, 16)
  hash[6] = (hash[6]! & 0x0f) | 0x50
  hash[8] = (hash[8]! & 0x3f) | 0x80
  return [...hash]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Returns the XML of a feed. */
export async function feedXml(shown: ShownFeed): Promise<string> {
  const { share, feed, title, subtitle, page, address, episodes, published_at } = shown
  const { author, email } = feed
  const cover = `${page}/cover.jpg`
  const link = feed.link ?? page
  const name = title.trim() || share.slug
  const channel = [
    text('title', name),
    text('link', link),
    // RSS requires a description.
    text('description', share.text ? asHtml(share.text) : asHtml(subtitle.trim() || name)),
    text('language', feed.language),
    text('copyright', feed.copyright),
    text('generator', 'Tonearm'),
    text('pubDate', published_at && new Date(published_at).toUTCString()),
    element('atom:link', { rel: 'self', type: 'application/rss+xml', href: address }),
    element('image', {}, text('url', cover) + text('title', name) + text('link', link)),
    element('itunes:image', { href: cover }),
    text('itunes:author', author),
    author === null && email === null
      ? ''
      : element('itunes:owner', {}, text('itunes:name', author) + text('itunes:email', email)),
    categoryOf(feed.category),
    text('itunes:explicit', feed.explicit),
    text('itunes:type', feed.type),
    feed.block ? text('itunes:block', 'Yes') + text('podcast:block', 'yes') : '',
    text('podcast:guid', await podcastGuid(share.id)),
    email === null ? '' : text('podcast:locked', feed.locked ? 'yes' : 'no', { owner: email }),
    text('podcast:medium', feed.medium),
    person(author),
    ...episodes.map((episode) => itemOf(episode, shown)),
  ]
  const namespaces = {
    version: '2.0',
    'xmlns:atom': 'http://www.w3.org/2005/Atom',
    'xmlns:itunes': 'http://www.itunes.com/dtds/podcast-1.0.dtd',
    'xmlns:podcast': 'https://podcastindex.org/namespace/1.0',
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('rss', namespaces, element('channel', {}, channel.join('')))}`
}
