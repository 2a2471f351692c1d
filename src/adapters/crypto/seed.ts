import { newId } from './id.ts'
import { sha256 } from './secret.ts'

/**
 * Ids and secrets that are derived from the seed of a request: all attempts of a request with an `Idempotency-Key` have the same seed, so they create
 * the same row (docs/decisions/0075). Requests without a seed get random values.
 */
interface Seeded {
  /** 64 hexadecimal digits. */
  seed?: string | undefined
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns a random text with more than 200 bits. */
export const newSeed = () => `${crypto.randomUUID()}${crypto.randomUUID()}`

/** Returns the id of the row that a request creates. Its form is that of `newId`, with 108 bits of the seed. */
export const rowId = ({ seed }: Seeded) =>
  seed
    ? `000${seed.slice(3, 8)}-${seed.slice(8, 12)}-4${seed.slice(13, 16)}-a${seed.slice(17, 20)}-${seed.slice(20, 32)}`
    : newId()

/** Returns the id of a second row that the same request creates. */
export const secondRowId = ({ seed }: Seeded) => rowId({ seed: seed?.slice(32) })

/** Returns 64 hexadecimal digits for a secret that a request creates. */
export const secretHex = ({ seed }: Seeded) => sha256(`secret\n${seed ?? newSeed() + newSeed()}`)

/** Returns 43 base62 characters (256 bits) for a secret that a request creates. */
export const secretBase62 = async (seeded: Seeded): Promise<string> => hexToBase62(await secretHex(seeded))

/** Converts 64 hexadecimal digits to 43 base62 characters. */
export function hexToBase62(hex: string): string {
  let rest = BigInt(`0x${hex}`)
  let text = ''
  for (let at = 0; at < 43; at++, rest /= 62n) text = `${BASE62[Number(rest % 62n)]}${text}`
  return text
}
