import { desc, eq } from 'drizzle-orm'

import type { Database } from '../../adapters/db/database.ts'
import { variants } from '../../adapters/db/schema/library.ts'
import type { StoredVariant } from '../../adapters/db/schema/work.ts'
import { CATALOG, type Rendition, toRendition } from '../../contract/catalog.ts'

/** Returns the variants that an organization has defined, newest first: at most 20 rows. */
export const findCustomVariants = (db: Database, organization_id: string) =>
  db.select().from(variants).where(eq(variants.organization_id, organization_id)).orderBy(desc(variants.seq))

/** The renditions that a transcode makes: those of the catalog, except the uploaded file itself, and those of the organization's own variants. */
export const renditions = (customVariants: readonly StoredVariant[]): Rendition[] => [
  ...CATALOG.filter(({ type }) => type !== 'original'),
  ...customVariants.map(toRendition),
]

/** Number of characters in a hash that `settingsOf` returns. */
export const HASH_LENGTH = 8

/**
 * Returns a hash of every setting that determines a file's content: 48 bits of a 64-bit FNV-1a hash, in base64url. Equal hashes are treated as equal
 * files; the probability that two of a thousand settings collide is 2⁻²⁹.
 */
export function settingsOf({ index, type, codec, bitrate, channels, start, length }: Rendition): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode([index, type, codec, bitrate, channels, start, length].join(':')))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  const bytes = Array.from({ length: 6 }, (_, at) => Number((hash >> BigInt(8 * at)) & 255n))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

/**
 * Whether a track lacks one of the wanted variants, or has a file of it that was made with other settings. `made_with` is a concatenation of hashes
 * from `settingsOf`.
 */
export function isMissingVariants(wanted: readonly string[], made_with: string | null): boolean {
  const made = new Set(
    Array.from({ length: (made_with?.length ?? 0) / HASH_LENGTH }, (_, at) =>
      made_with!.slice(at * HASH_LENGTH, (at + 1) * HASH_LENGTH),
    ),
  )
  return wanted.some((settings) => !made.has(settings))
}

/** The name of a variant's file. */
export const fileName = ({ index, extension }: Rendition) => `${index}.${extension}`
/** Path of a file below the prefix of its job. */
export const filePath = (base: string, rendition: Rendition) => `${base}/${fileName(rendition)}`
