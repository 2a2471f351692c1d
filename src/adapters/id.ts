const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * A new id: a random UUID whose first 12 bits are the number of the database shard that holds it (0 today), so that a play URL
 * can one day find its database without a directory (docs/architecture.md#ids-and-paths). 110 random bits stay.
 */
export const newId = () => `000${crypto.randomUUID().slice(3)}`

/** Whether `newId` can have made an id: others are not looked for, so that guessing costs the database nothing. */
export const isNewId = (id: string) => /^000[\da-f]{5}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id)

/** Random base62 text without modulo bias: 12 characters are 71 bits, 43 are 256. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62]
    }
  }
  return text
}

/** A number as base62, padded with zeros. */
export function toBase62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = `${BASE62[rest % 62]}${text}`
  return text
}
