import { ID } from '../../base/route.ts'
import { localeOf, t, text } from '../../base/text.ts'
import type { ResourceScope } from '../../data/title.ts'
import type { Bar } from '../../ui/charts/series.ts'

/** The texts and the selection of the page Listening. */

/** The selection of a resource, with its title. */
export const SELECTIONS: Record<ResourceScope, string> = {
  collection: text('Only the collection {title}'),
  track: text('Only the track {title}'),
  playlist: text('Only the playlist {title}'),
  share: text('Only through the link {title}'),
}

/** Returns the resource that an address selects; null for the whole organization. */
export const filterOf = ({ scope = '', id = '' }: Readonly<Record<string, string>>) =>
  Object.hasOwn(SELECTIONS, scope) && ID.test(id) ? { scope: scope as ResourceScope, id } : null

/** The country or the source to which the numbers are limited. */
export interface Place {
  country?: string
  source?: string
}

/** Returns the country or the source in an address, of which only the first is used. */
export function placeOf({ country = '', source = '' }: Readonly<Record<string, string>>): Place {
  if (/^[A-Z][A-Z\d]$/.test(country)) return { country }
  return source ? { source } : {}
}

/** A row of statistics by country or source. */
interface Row {
  key: string | null
  plays: number
}

/**
 * Returns the parts of all plays, the largest first. Those after the first `count`, and those without a key, are added up in the last part, whose name is
 * `rest`.
 */
export function partsOf(rows: readonly Row[], nameOf: (key: string) => string, rest: string, count = 8): Bar[] {
  const heard = rows.filter(({ plays }) => plays > 0).toSorted((a, b) => b.plays - a.plays)
  const named = heard.filter(({ key }) => key !== null)
  const parts: Bar[] = named.slice(0, count).map(({ key, plays }) => ({ key, name: nameOf(key!), value: plays }))
  const others = [...named.slice(count), ...heard.filter(({ key }) => key === null)]
  const value = others.reduce((sum, { plays }) => sum + plays, 0)
  return value > 0 ? [...parts, { key: null, name: rest, value }] : parts
}

/** Returns the name of a country, or its code if the browser does not know it. */
export function countryName(code: string): string {
  // Cloudflare's code of the Tor network.
  if (code === 'T1') return 'Tor'
  try {
    return new Intl.DisplayNames(localeOf(), { type: 'region' }).of(code) ?? code
  } catch {
    return code
  }
}

/** Why reports were refused (src/listening/difference.ts). */
const REASONS: Record<string, string> = {
  ranges: text('impossible or overlapping times'),
  time: text('more seconds than have passed'),
  track: text('a track that the session does not play'),
  late: text('arrived too late'),
  visit: text('a visit that does not fit its session'),
  rate: text('too many new visits in a minute'),
  full: text('too many open visits'),
}

export const reasonText = (reason: string) => (Object.hasOwn(REASONS, reason) ? t(REASONS[reason]!) : reason)
