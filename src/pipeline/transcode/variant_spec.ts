import { desc, eq } from 'drizzle-orm'

import type { Database } from '../../adapters/database.ts'
import { variants } from '../../adapters/schema.ts'
import type { OwnVariant } from '../../adapters/work_schema.ts'
import { CATALOGUE, type Rendition, toRendition } from '../../contract/catalogue.ts'

/** The variants that an organization has defined, newest first: at most 20 rows. */
export const ownVariants = (db: Database, organization_id: string) =>
  db.select().from(variants).where(eq(variants.organization_id, organization_id)).orderBy(desc(variants.seq))

/** What a transcode makes: the catalogue, but for the uploaded file itself, and the organization's own. */
export const renditions = (own: readonly OwnVariant[]): Rendition[] => [
  ...CATALOGUE.filter(({ type }) => type !== 'original'),
  ...own.map(toRendition),
]

/** All that decides what a file sounds like, as one text. Two of the same text are the same file. */
export const settingsOf = ({ index, type, codec, bitrate, channels, start, length }: Rendition): string =>
  [index, type, codec, bitrate, channels, start, length].join(':')

/** Whether a track was made without one of the variants that are wanted, or with other settings of it. */
export const lacks = (wanted: readonly string[], made_with: readonly string[] | null): boolean =>
  wanted.some((settings) => !made_with?.includes(settings))

/** The place of a file below the prefix of what one job makes. */
export const filePath = (base: string, { index, extension }: Rendition) => `${base}/${index}.${extension}`
