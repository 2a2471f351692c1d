import type { Column } from 'drizzle-orm'
import { customType } from 'drizzle-orm/sqlite-core'

import type { TrackInfo } from '../../contract/info.ts'
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
