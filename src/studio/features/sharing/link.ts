import type * as z from 'zod'

import { MAX_LINK_TITLE } from '../../../contract/facts.ts'
import type { ShareUpdate } from '../../../contract/share.ts'
import { DAY } from '../../../contract/time.ts'
import type { ShareLink } from '../../base/api.ts'
import { date } from '../../base/format.ts'
import { t, text, tn } from '../../base/text.ts'
import { type FeedDraft, feedDraft, feedSettings } from './feed.ts'
import { sitesOf } from './sites.ts'

/** The settings of a link, as the user edits them. */
export interface Draft {
  hasPassword: boolean
  /** A new password; empty to keep the current one. */
  password: string
  ends: boolean
  /** The local time of the end, as `datetime-local` fields have it: `2027-01-31T18:00`. */
  ends_at: string
  downloadable: boolean
  hasSites: boolean
  sites: string
  /** Whether the page has a text and links. */
  hasAbout: boolean
  text: string
  links: readonly { title: string; url: string }[]
  slug: string
  /** Replaces the title of the shared resource; empty for its own. */
  title: string
  hasFeed: boolean
  feed: FeedDraft
}

type Changes = z.input<typeof ShareUpdate>
/** The fields of the form, by the fields of the API. */
export type LinkFaults = Partial<Record<keyof Changes | `feed_${keyof FeedDraft}` | 'other', string>>

/** Formats a time as `datetime-local` fields do, in the time zone of the browser. */
export function localTime(at: number): string {
  const minutes = new Date(at).getTimezoneOffset()
  return new Date(at - minutes * 60_000).toISOString().slice(0, 16)
}

/** Returns the time in some days, as `datetime-local` fields have it. */
export const inDays = (days: number) => localTime(Date.now() + days * DAY)

/** Returns the settings of a link, or those of a new link. */
export const draftOf = (link: ShareLink | undefined): Draft => ({
  hasPassword: link?.has_password ?? false,
  password: '',
  ends: Boolean(link?.expires_at),
  ends_at: link?.expires_at ? localTime(Date.parse(link.expires_at)) : inDays(30),
  downloadable: link?.is_downloadable ?? false,
  hasSites: Boolean(link?.allowed_origins),
  sites: (link?.allowed_origins ?? []).map((origin) => origin.replace(/^https:\/\//, '')).join(' '),
  hasAbout: Boolean(link?.text) || (link?.links ?? []).length > 0,
  text: link?.text ?? '',
  links: link?.links ?? [],
  slug: link?.slug ?? '',
  title: link?.title ?? '',
  hasFeed: Boolean(link?.feed),
  feed: feedDraft(link?.feed),
})

/** Adds the scheme that people leave out: `example.com` or `me@example.com`. */
const withScheme = (address: string) =>
  /^[a-z]+:/i.test(address) ? address : `${address.includes('@') ? 'mailto:' : 'https://'}${address}`

/** Returns the links that have an address. A link without a title has its address as the title. */
const pageLinksOf = (links: Draft['links']) =>
  links.flatMap(({ title, url }) => {
    const address = url.trim()
    const name = title.trim() || address.replace(/^(https?:\/\/|mailto:)/, '').slice(0, MAX_LINK_TITLE)
    return address ? [{ title: name, url: withScheme(address) }] : []
  })

/** Returns the text and the links that differ from those of the link. */
function aboutChanges(draft: Draft, link: ShareLink | undefined): Pick<Changes, 'text' | 'links'> {
  const text = draft.hasAbout ? draft.text.trim() : ''
  const links = draft.hasAbout ? pageLinksOf(draft.links) : []
  return {
    ...(text !== (link?.text ?? '') && { text: text || null }),
    ...(JSON.stringify(links) !== JSON.stringify(link?.links ?? []) && { links }),
  }
}

/** Returns the fields that differ from those of the link, in the format of the API, and the errors of the others. */
export function changesOf(draft: Draft, link: ShareLink | undefined): { changes: Changes; faults: LinkFaults } {
  const before = draftOf(link)
  const changes: Changes = aboutChanges(draft, link)
  const faults: LinkFaults = {}
  if (draft.hasPassword && draft.password) changes.password = draft.password
  else if (draft.hasPassword && !before.hasPassword) faults.password = t('Enter a password, or turn it off.')
  else if (!draft.hasPassword && before.hasPassword) changes.password = null

  if (!draft.ends && before.ends) changes.expires_at = null
  else if (draft.ends && !(before.ends && draft.ends_at === before.ends_at)) {
    const at = new Date(draft.ends_at)
    if (Number.isNaN(at.getTime())) faults.expires_at = t('Enter a date and a time.')
    else if (at.getTime() <= Date.now()) faults.expires_at = t('This time has passed.')
    else changes.expires_at = at.toISOString()
  }
  if (draft.downloadable !== before.downloadable) changes.is_downloadable = draft.downloadable

  if (!draft.hasSites && before.hasSites) changes.allowed_origins = null
  else if (draft.hasSites && !(before.hasSites && draft.sites === before.sites)) {
    const { origins, fault } = sitesOf(draft.sites)
    if (fault) faults.allowed_origins = fault
    else if (origins.length === 0) faults.allowed_origins = t('Name a site, or turn this off.')
    else changes.allowed_origins = origins
  }
  if (draft.hasAbout && draft.links.some(({ title, url }) => title.trim() && !url.trim()))
    faults.links = t('Enter the address of each link.')
  // An empty address keeps the current one, because another would break the links that were given away.
  const slug = draft.slug.trim().toLowerCase()
  if (slug && slug !== before.slug) changes.slug = slug
  const feed = draft.hasFeed ? feedSettings(draft.feed, link?.feed) : null
  const isOtherFeed = JSON.stringify(draft.feed) !== JSON.stringify(before.feed)
  if (draft.hasFeed !== before.hasFeed || (feed && isOtherFeed)) changes.feed = feed
  if (draft.title.trim() !== before.title) changes.title = draft.title.trim() || null
  return { changes, faults }
}

export const hasEnded = ({ expires_at }: Pick<ShareLink, 'expires_at'>, now = Date.now()) =>
  expires_at !== null && Date.parse(expires_at) <= now

/** Whether other sites may show a link in a frame: without named sites, a frame could learn its password. */
export const isFramed = ({ has_password, allowed_origins }: ShareLink) => !has_password || allowed_origins !== null

/** Returns whether a link works, and until when. */
export function stateOf(link: Pick<ShareLink, 'expires_at'>, now = Date.now()): string {
  if (!link.expires_at) return t('Active')
  const at = Date.parse(link.expires_at)
  if (at <= now) return t('Ended on {date}', { date: date(link.expires_at) })
  const days = (at - now) / DAY
  if (days > 30) return t('Ends on {date}', { date: date(link.expires_at) })
  if (days >= 2) return tn({ one: 'Ends in {n} day', other: 'Ends in {n} days' }, Math.round(days))
  return tn({ one: 'Ends in {n} hour', other: 'Ends in {n} hours' }, Math.ceil(days * 24))
}

/** A link in the list of all links, with the shared resource. */
export interface ListedLink extends ShareLink {
  resource?: { title: string | null } | undefined
  /** In 30 days; undefined while the statistics cannot be read. */
  visits?: number | undefined
  /** In 30 days; undefined until it is known, and for a link that is not among the most played. */
  plays?: number | undefined
}

/** The title of the resource that a link shares. */
export const titleOfLink = ({ resource, title, slug }: ListedLink) => resource?.title ?? title ?? slug

/** The filters of the list of links. Links that end within seven days are both active and ending. */
export const FILTERS = {
  active: { label: text('Active'), has: (link: ListedLink, now: number) => !hasEnded(link, now) },
  ending: {
    label: text('End this week'),
    has: (link: ListedLink, now: number) =>
      link.expires_at !== null && !hasEnded(link, now) && hasEnded(link, now + 7 * DAY),
  },
  ended: { label: text('Ended'), has: (link: ListedLink, now: number) => hasEnded(link, now) },
  password: { label: text('With password'), has: ({ has_password }: ListedLink) => has_password },
} as const

/** The orders of the list of links. */
export const SORTS = {
  new: { label: text('Newest first'), compare: (a, b) => b.created_at.localeCompare(a.created_at) },
  visits: { label: text('Most visits first'), compare: (a, b) => (b.visits ?? 0) - (a.visits ?? 0) },
  plays: { label: text('Most plays first'), compare: (a, b) => (b.plays ?? 0) - (a.plays ?? 0) },
  title: { label: text('By title'), compare: (a, b) => titleOfLink(a).localeCompare(titleOfLink(b)) },
  end: {
    label: text('By end'),
    compare: (a, b) => (a.expires_at ?? LAST).localeCompare(b.expires_at ?? LAST),
  },
} as const satisfies Record<string, { label: string; compare: (a: ListedLink, b: ListedLink) => number }>
/** Links without an end come last. */
const LAST = '9'

/** Returns the links that an address asks for, in its order. Values that the studio does not know are ignored. */
export function linksOf<T extends ListedLink>(
  links: readonly T[],
  { q = '', state = '', sort = '' }: Readonly<Record<string, string>>,
  now = Date.now(),
): T[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const filter = Object.hasOwn(FILTERS, state) ? FILTERS[state as keyof typeof FILTERS] : undefined
  const { compare } = SORTS[Object.hasOwn(SORTS, sort) ? (sort as keyof typeof SORTS) : 'new']
  return links
    .filter((link) => {
      const texts = `${titleOfLink(link)} ${link.title ?? ''} ${link.slug}`.toLowerCase()
      return words.every((word) => texts.includes(word)) && (!filter || filter.has(link, now))
    })
    .toSorted(compare)
}
