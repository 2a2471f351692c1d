import { MAX_HEARD_SOURCE } from '../contract/facts.ts'
import { baseUrl } from './base_url.ts'

/** The parts of a request with which a listener is counted (docs/counting.md). */

/** Returns true if the listener must not be counted (Global Privacy Control). */
export const hasOptedOut = ({ headers }: Request) => headers.get('sec-gpc') === '1'

/** Returns the country of a request as two letters (ISO 3166-1); null if it is unknown. */
export const countryOf = ({ cf }: Request) => (cf as { country?: string } | undefined)?.country ?? null

/** Returns the host name of the page that sent a request, by its `Origin`; null if it is a page of this service, or if the browser hides it. */
export function siteOf(env: Env, { headers, url }: Request): string | null {
  const origin = URL.parse(headers.get('origin') ?? '')
  if (!origin?.hostname || [url, baseUrl(env, url)].some((own) => new URL(own).host === origin.host)) return null
  return origin.hostname.slice(0, MAX_HEARD_SOURCE)
}
