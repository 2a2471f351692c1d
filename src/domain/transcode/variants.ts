import { desc, eq } from 'drizzle-orm'

import { fromHex, sha256 } from '../../adapters/crypto/secret.ts'
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

/**
 * Returns for each rendition a hash of every setting that determines the file's content: 48 bits of SHA-256 in 8 characters of base64. Equal hashes
 * are treated as equal files; the probability that two of a thousand settings collide is 2⁻²⁹.
 */
export const settingsOf = (wanted: readonly Rendition[]): Promise<string[]> =>
  Promise.all(
    wanted.map(async ({ index, type, codec, bitrate, channels, start, length }) => {
      const hash = await sha256([index, type, codec, bitrate, channels, start, length].join(':'))
      return btoa(String.fromCharCode(...fromHex(hash.slice(0, 12))))
    }),
  )

/**
 * Whether a track lacks one of the wanted variants, or has a file of it that was made with other settings. `made_with` is a concatenation of hashes
 * from `settingsOf`.
 */
export function isMissingVariants(wanted: readonly string[], made_with: string | null): boolean {
  const made: string[] = made_with?.match(/.{8}/g) ?? []
  return wanted.some((settings) => !made.includes(settings))
}

/** The name of a variant's file. */
export const fileName = ({ index, extension }: Rendition) => `${index}.${extension}`
/** Path of a file below the prefix of its job. */
export const filePath = (base: string, rendition: Rendition) => `${base}/${fileName(rendition)}`
