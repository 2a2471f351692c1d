import { HOUR } from '../../contract/time.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Returns a new id: a random UUID whose first 12 bits are the number of its database shard (0 today), so that later versions can find the database of
 * a play URL without a directory (docs/architecture.md#ids-and-paths). 110 bits are random.
 */
export const newId = () => `${SHARD}${crypto.randomUUID().slice(3)}`
const SHARD = '000'

/**
 * Returns a new id for a resource that expires. The 20 bits after the shard are the hour in which the resource expires, counted from 1970 (until
 * 2089), so ids sort in the order in which they expire (docs/decisions/0027). 90 bits are random. The version of the UUID is 8, for custom layouts
 * (RFC 9562 §5.8), which distinguishes it from an id of `newId`.
 */
export function newHourlyId(expires_at: number): string {
  const random = crypto.randomUUID()
  return `${idsBefore(Math.floor(expires_at / HOUR))}${random.slice(8, 14)}8${random.slice(15)}`
}

/** Returns the hour in an id of `newHourlyId`; null for any other id. */
export const hourOf = (id: string) => (id[14] === '8' ? Number.parseInt(id.slice(3, 8), 16) : null)

/** Returns the prefix of the ids with this hour. Ids with an earlier hour sort before the prefix. */
export const idsBefore = (hour: number) => `${SHARD}${hour.toString(16).padStart(5, '0')}`

/** Whether `newId` or `newHourlyId` can have created an id. All other ids are rejected without a query, so guesses do not reach the database. */
export const isIssuedId = (id: string) =>
  /^000[\da-f]{5}-[\da-f]{4}-[48][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id)

/** Returns random base62 text without modulo bias: 12 characters have 71 random bits, 43 have 256. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62]
    }
  }
  return text
}

/** Returns a number in base 62, padded with zeros. */
export function toBase62(value: number, length: number): string {
  let text = ''
  for (let remaining = value; text.length < length; remaining = Math.floor(remaining / 62))
    text = `${BASE62[remaining % 62]}${text}`
  return text
}
