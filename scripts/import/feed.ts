import { parseXml, XmlElement, XmlError } from '@rgrove/parse-xml'
import { decodeHTML } from 'entities'

import { MAX_EPISODE_NUMBER } from '../../src/contract/facts.ts'
import { PODCAST_CATEGORIES, SUBCATEGORY } from '../../src/contract/podcast.ts'
import { oneLine } from '../../src/contract/text.ts'
import { Fault } from '../backup/service.ts'

/**
 * Reads podcast feeds: RSS 2.0 with the tags of Apple (`itunes:`), of Podcasting 2.0 (`podcast:`), and `content:encoded`. The parser is strict and expands no
 * entities of the document, so a feed cannot grow while it is read. No parser of podcasts is used, because they leave out faulty items without a message.
 */

export interface FeedItem {
  /** Position in the feed, from 1. */
  number: number
  title: string
  /** The identifier that the feed promises not to change; empty if it has none. */
  guid: string
  /** Address of the audio as it is written in the feed; null if the item has none. */
  enclosure: { url: string; type: string } | null
  /** As written in the feed; empty if there is none. */
  date: string
  /** People who speak in this item; empty if only the feed names some. */
  author: string
  image: string
  chapters: string
  /** HTML or plain text. */
  notes: string
  season: number | null
  episode: number | null
  type: 'full' | 'trailer' | 'bonus'
  explicit: boolean | null
}

export interface Feed {
  title: string
  author: string
  email: string
  /** HTML or plain text. */
  description: string
  link: string
  language: string
  copyright: string
  category: string | null
  explicit: boolean
  type: 'episodic' | 'serial'
  medium: 'podcast' | 'music' | 'audiobook'
  image: string
  /** Identifier of the podcast (`podcast:guid`); empty if there is none. */
  guid: string
  /** Whether Tonearm has written the feed. */
  isOurs: boolean
  /** Whether directories are asked not to list the feed (`itunes:block`). */
  isPrivate: boolean
  /** Whether other services are asked not to import the feed (`podcast:locked`). */
  isLocked: boolean
  /** Addresses of the feed, and of its next page; empty if there are none. */
  self: string
  next: string
  items: FeedItem[]
}

/** `generator` of the feeds of shares (src/http/pages/feed_xml.ts). */
const OUR_GENERATOR = 'Tonearm'

/** The prefixes under which this file looks for the tags of a namespace. */
const NAMESPACES: [namespace: RegExp, prefix: string][] = [
  [/itunes\.com\/\w+\/podcast-1\.0\.dtd/i, 'itunes'],
  [/podcastindex\.org\/namespace|github\.com\/podcastindex-org/i, 'podcast'],
  [/purl\.org\/rss\/1\.0\/modules\/content/i, 'content'],
  [/w3\.org\/2005\/Atom/i, 'atom'],
]

/** Returns the usual name of a tag, whatever prefix the feed has chosen. */
type Rename = (name: string) => string
function renameOf({ attributes }: XmlElement): Rename {
  const prefixes = new Map<string, string>()
  for (const [name, value] of Object.entries(attributes)) {
    const [, prefix] = /^xmlns:(.+)$/.exec(name) ?? []
    const [, usual] = NAMESPACES.find(([namespace]) => namespace.test(value)) ?? []
    if (prefix !== undefined && usual !== undefined) prefixes.set(prefix, usual)
  }
  return (name) => {
    const at = name.indexOf(':')
    return at < 0 ? name : `${prefixes.get(name.slice(0, at)) ?? name.slice(0, at)}:${name.slice(at + 1)}`
  }
}

/** How a feed writes names and texts. */
interface Dialect {
  rename: Rename
  /** Returns a title as plain text. Many programs write HTML entities in it, against the specification; ours does not. */
  plain: (text: string) => string
}

/** The child elements of an element by name. */
class Tags {
  readonly #tags = new Map<string, XmlElement[]>()
  readonly #plain: Dialect['plain']

  constructor(element: XmlElement, { rename, plain }: Dialect) {
    this.#plain = plain
    for (const child of element.children) {
      if (!(child instanceof XmlElement)) continue
      const name = rename(child.name)
      const list = this.#tags.get(name)
      if (list) list.push(child)
      else this.#tags.set(name, [child])
    }
  }

  all = (name: string): XmlElement[] => this.#tags.get(name) ?? []
  /** The text of the first of these elements that is not empty. */
  text(...names: string[]): string {
    for (const name of names)
      for (const element of this.all(name)) {
        const text = element.text.trim()
        if (text) return text
      }
    return ''
  }
  line = (...names: string[]) => oneLine(this.#plain(this.text(...names)))
  attribute = (name: string, attribute: string) => this.all(name)[0]?.attributes[attribute]?.trim() ?? ''
}

function numberOf(text: string): number | null {
  const number = Number(text)
  return /^\d{1,5}$/.test(text) && number >= 1 && number <= MAX_EPISODE_NUMBER ? number : null
}

const EXPLICIT = new Map([
  ['yes', true],
  ['true', true],
  ['explicit', true],
  ['no', false],
  ['false', false],
  ['clean', false],
])
const explicitOf = (text: string) => EXPLICIT.get(text.toLowerCase()) ?? null

const oneOf = <const T extends string>(value: string, [first, ...others]: [T, ...T[]]): T =>
  others.find((name) => name === value.toLowerCase()) ?? first

/** Returns the audio among the enclosures of an item; without one, the first enclosure. */
function enclosureOf(tags: Tags): FeedItem['enclosure'] {
  const found = tags
    .all('enclosure')
    .map(({ attributes }) => ({ url: attributes.url?.trim() ?? '', type: attributes.type?.trim().toLowerCase() ?? '' }))
    .filter(({ url }) => url !== '')
  return found.find(({ type }) => /^(audio|video)\//.test(type)) ?? found[0] ?? null
}

const peopleOf = (tags: Tags) =>
  tags
    .all('podcast:person')
    .map(({ text }) => oneLine(text))
    .filter(Boolean)
    .join(', ')

function itemOf(element: XmlElement, at: number, dialect: Dialect): FeedItem {
  const tags = new Tags(element, dialect)
  return {
    number: at + 1,
    title: tags.line('title', 'itunes:title'),
    guid: tags.text('guid'),
    enclosure: enclosureOf(tags),
    date: tags.text('pubDate', 'dc:date'),
    author: tags.line('itunes:author') || peopleOf(tags),
    image: tags.attribute('itunes:image', 'href'),
    chapters: /json/.test(tags.attribute('podcast:chapters', 'type') || 'json')
      ? tags.attribute('podcast:chapters', 'url')
      : '',
    notes: tags.text('content:encoded', 'description', 'itunes:summary'),
    season: numberOf(tags.text('itunes:season', 'podcast:season')),
    episode: numberOf(tags.text('itunes:episode', 'podcast:episode')),
    type: oneOf(tags.text('itunes:episodeType'), ['full', 'trailer', 'bonus']),
    explicit: explicitOf(tags.text('itunes:explicit')),
  }
}

/** Returns the category that our feeds have; null if it is not one of Apple's. */
function categoryOf(tags: Tags, dialect: Dialect): string | null {
  const names = tags.all('itunes:category').flatMap((element) => {
    const name = element.attributes.text ?? ''
    const [inner] = new Tags(element, dialect).all('itunes:category')
    return [[name, inner?.attributes.text].filter(Boolean).join(SUBCATEGORY), name]
  })
  return names.find((name) => (PODCAST_CATEGORIES as string[]).includes(name)) ?? null
}

function parse(text: string): XmlElement {
  try {
    const { root } = parseXml(text, { resolveUndefinedEntity: (name) => resolved(name) })
    if (root) return root
  } catch (error) {
    if (/^\s*(<!doctype html|<html)/i.test(text))
      throw new Fault('This is a web page and not a feed. Use the address of the feed')
    if (error instanceof XmlError) throw new Fault(`The feed is no valid XML: ${error.message.split('\n', 1)[0]}`)
    if (error instanceof RangeError) throw new Fault('The feed is no valid XML: its elements are nested too deeply')
    throw error
  }
  throw new Fault('The feed is empty')
}

/** Returns a character that HTML names, as feeds often use them. All other entities remain errors. */
function resolved(name: string): string | undefined {
  const text = decodeHTML(name)
  return text === name ? undefined : text
}

/** Returns a feed. Throws a `Fault` that says what else the document is. */
export function parseFeed(text: string): Feed {
  const root = parse(text)
  const rename = renameOf(root)
  const [channel] = new Tags(root, { rename, plain: decodeHTML }).all('channel')
  if (/^html$/i.test(root.name)) throw new Fault('This is a web page and not a feed. Use the address of the feed')
  if (root.name !== 'rss' || !channel)
    throw new Fault(`This is no RSS feed: its first element is <${oneLine(root.name).slice(0, 60)}>`)
  const isOurs = channel.children.some(
    (child) => child instanceof XmlElement && child.name === 'generator' && child.text === OUR_GENERATOR,
  )
  const dialect: Dialect = { rename, plain: isOurs ? (text) => text : decodeHTML }
  const tags = new Tags(channel, dialect)
  const [owner] = tags.all('itunes:owner').map((element) => new Tags(element, dialect))
  const [image] = tags.all('image').map((element) => new Tags(element, dialect))
  const linkTo = (rel: string) =>
    tags
      .all('atom:link')
      .find(({ attributes }) => attributes.rel === rel)
      ?.attributes.href?.trim() ?? ''
  return {
    title: tags.line('title'),
    author: tags.line('itunes:author') || peopleOf(tags),
    email: owner?.text('itunes:email') || tags.attribute('podcast:locked', 'owner'),
    description: tags.text('description', 'itunes:summary'),
    link: tags.text('link'),
    language: tags.text('language'),
    copyright: tags.line('copyright'),
    category: categoryOf(tags, dialect),
    explicit: explicitOf(tags.text('itunes:explicit')) ?? false,
    type: oneOf(tags.text('itunes:type'), ['episodic', 'serial']),
    medium: oneOf(tags.text('podcast:medium'), ['podcast', 'music', 'audiobook']),
    image: tags.attribute('itunes:image', 'href') || image?.text('url') || '',
    guid: tags.text('podcast:guid'),
    isOurs,
    isPrivate: /^yes$/i.test(tags.text('itunes:block', 'podcast:block')),
    isLocked: tags.text('podcast:locked').toLowerCase() === 'yes',
    self: linkTo('self'),
    next: linkTo('next'),
    items: tags.all('item').map((element, at) => itemOf(element, at, dialect)),
  }
}

/** Returns the text of a document in the encoding that its header or its XML declaration names. */
export function decodeXml(bytes: Uint8Array, contentType = ''): string {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 200))
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  const [, label] =
    /charset="?([\w-]+)/i.exec(contentType) ?? /^[^<]*<\?xml[^>]*encoding=["']([\w-]+)/i.exec(head) ?? []
  try {
    return new TextDecoder(isUtf16 ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : (label ?? 'utf-8')).decode(bytes)
  } catch {
    throw new Fault(`The feed has the unknown encoding ${label}`)
  }
}
