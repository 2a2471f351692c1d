import { desc, eq } from 'drizzle-orm'

import type { Database } from '../../adapters/database.ts'
import { variants } from '../../adapters/schema.ts'
import type { OwnVariant } from '../../adapters/work_schema.ts'
import { CATALOGUE, type Rendition, toRendition } from '../../contract/catalogue.ts'

/** The variants that an organization has defined, newest first: at most 20 rows. */
export const ownVariants = (db: Database, organization_id: string) =>
  db.select().from(variants).where(eq(variants.organization_id, organization_id)).orderBy(desc(variants.seq))

/** Renditions that a transcode makes: the catalogue without the uploaded file itself, and the organization's own variants. */
export const renditions = (customVariants: readonly OwnVariant[]): Rendition[] => [
  ...CATALOGUE.filter(({ type }) => type !== 'original'),
  ...customVariants.map(toRendition),
]

/** Every setting that determines a file's content, as one text. Equal texts mean equal files. */
export const settingsOf = ({ index, type, codec, bitrate, channels, start, length }: Rendition): string =>
  [index, type, codec, bitrate, channels, start, length].join(':')

/** Whether a track lacks one of the wanted variants, or has it with other settings. */
export const lacks = (wanted: readonly string[], made_with: readonly string[] | null): boolean =>
  wanted.some((settings) => !made_with?.includes(settings))

/** Path of a file below the prefix of its job. */
export const filePath = (base: string, { index, extension }: Rendition) => `${base}/${index}.${extension}`
