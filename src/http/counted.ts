/** The parts of a request with which a listener is counted (docs/counting.md). */

/** Returns true if the listener must not be counted (Global Privacy Control). */
export const hasOptedOut = ({ headers }: Request) => headers.get('sec-gpc') === '1'

/** Returns the country of a request as two letters (ISO 3166-1); null if it is unknown. */
export const countryOf = ({ cf }: Request) => (cf as { country?: string } | undefined)?.country ?? null
