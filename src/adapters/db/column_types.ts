import type { Column } from 'drizzle-orm'
import { customType, integer, text } from 'drizzle-orm/sqlite-core'

import type { Chapter } from '../../contract/chapter.ts'
import type { Tags, TrackInfo } from '../../contract/info.ts'
import { packLevels, unpackLevels } from './levels.ts'
import { packInfo, type StoredInfo, unpackInfo } from './track_info.ts'

/** Types of columns that are stored in a compact form (docs/decisions/0069). */

/** `tracks.levels` as bytes. D1 accepts them as a buffer and returns them as a list of numbers. */
export const levels = customType<{ data: number[]; driverData: ArrayLike<number> }>({
  dataType: () => 'blob',
  toDriver: packLevels,
  fromDriver: unpackLevels,
})
/** `tracks.info` as JSON. */
export const info = customType<{ data: TrackInfo; driverData: string }>({
  dataType: () => 'text',
  toDriver: (value) => JSON.stringify(packInfo(value)),
  fromDriver: (value) => unpackInfo(JSON.parse(value) as StoredInfo),
})

/** Whether a column holds bytes, which JSON cannot represent. */
export const isBlob = (column: Column) => column.getSQLType() === 'blob'

/** The tags that people have set (src/domain/edited_tags.ts). */
export type EditedTags = { [K in keyof Tags]?: Tags[K] | null | undefined }
/** A chapter with the names of `info.chapters`. */
export type StoredChapter = Omit<Chapter, 'startTime' | 'endTime' | 'title'> & {
  start: number
  end?: number | undefined
  title: string | null
}

/** Columns that several tables have. */
export const json = <T>() => text({ mode: 'json' }).$type<T>()
export const flag = () => integer({ mode: 'boolean' })
/** Folded texts for the search (search.ts), as JSON by column; null if no text of the row needs folding. */
export const folded = () => text()
export const created_at = () => integer().notNull()
/** The time of the last change by a request; null if no request has changed the row. */
export const updated_at = () => integer()

/** The quota of a key or an organization (docs/decisions/0078). */
export const quotaColumns = () => ({
  /** Null allows any number of bytes. */
  max_bytes: integer(),
  /** The last reported level: 1 from 80 % on, 2 when the quota is used up. For a key, four times the day is added. */
  quota_level: integer().notNull().default(0),
})
