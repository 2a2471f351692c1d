import { parseXml, type XmlElement } from '@rgrove/parse-xml'
import { expect } from 'vitest'

import { ok } from './api.ts'
import { aReadyTrack } from './fixtures.ts'
import { aShare, openPage } from './share_visitor.ts'

/** Podcast feeds of shares, and their XML. */

/** All settings of a feed. */
export const FEED = {
  author: 'Ana & Ben',
  email: 'podcast@example.com',
  language: 'en-US',
  category: 'Society & Culture > Documentary',
  explicit: true,
  type: 'serial',
  link: 'https://podcast.example/?a=1&b=2',
  copyright: '© 2027 Ana & Ben',
  block: false,
  locked: true,
  medium: 'podcast',
}

interface Owner {
  key: string
  collection_id: string
}

/** Creates a share of the collection with a feed. */
export const aFeed = ({ key, collection_id }: Owner, feed: object = {}, body: object = {}) =>
  aShare(key, collection_id, { slug: 'our-podcast', is_downloadable: true, feed, ...body })

export const setEpisode = ({ key }: { key: string }, id: string, episode: object | null) =>
  ok('PUT', `/v1/track/${id}`, { key, body: { episode } })

/** Creates a track with an episode. */
export async function anEpisode(tenant: Owner, player_title: string, episode: object = {}, files?: string[]) {
  const id = await aReadyTrack(tenant.key, tenant.collection_id, { player_title }, files)
  await setEpisode(tenant, id, episode)
  return id
}

/** Opens an address of a feed. */
export const open = (path: string, headers: Record<string, string> = {}) =>
  openPage(path, undefined, undefined, undefined, headers)
export const FEED_PATH = '/s/our-podcast/feed.xml'

/** Returns the channel of a feed: the first element with each name, and the items. The parser is strict, so it is well-formed XML. */
export async function channelOf(path = FEED_PATH) {
  const { status, text } = await open(path)
  expect(status, text).toBe(200)
  const [channel] = parseXml(text).root!.children as XmlElement[]
  return readElement(channel!)
}
export const elements = ({ children }: XmlElement) =>
  children.filter((child) => child.type === 'element') as XmlElement[]
function readElement(element: XmlElement) {
  const all = (name: string) => elements(element).filter((child) => child.name === name)
  return {
    all,
    text: (name: string) => all(name)[0]?.text,
    attributes: (name: string) => all(name)[0]?.attributes,
    items: all('item').map((item) => readItem(item)),
  }
}
function readItem(item: XmlElement) {
  const find = (name: string) => elements(item).find((child) => child.name === name)
  return { text: (name: string) => find(name)?.text, attributes: (name: string) => find(name)?.attributes }
}
export const titles = async (path?: string) => (await channelOf(path)).items.map(({ text }) => text('title'))
