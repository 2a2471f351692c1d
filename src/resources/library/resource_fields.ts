import type { StoredChapter } from '../../adapters/db/column_types.ts'
import type { Chapter } from '../../contract/chapter.ts'
import { DEFAULT_COLOR } from '../../contract/facts.ts'
import { timestamp } from '../../core/time.ts'
import { imageColors, type Settings } from './appearance.ts'

/** The fields that the API derives from the row of a resource. Play views do not need them, so appearance.ts does not contain them. */

interface Changed {
  created_at: number
  updated_at: number | null
}
/** Returns the version of a row (version.ts). */
export const versionOf = ({ created_at, updated_at }: Changed) => updated_at ?? created_at

/** Returns when a row was created and last changed, in the API's time format. */
export const times = ({ created_at, updated_at }: Changed) => ({
  created_at: timestamp(created_at),
  updated_at: timestamp(updated_at ?? created_at),
})

/**
 * Returns a collection or playlist as the API shows it. Its color and subtitle default to those of the organization, because the specification allows
 * null for neither.
 */
export const withInherited = <
  T extends Settings & Changed & Parameters<typeof imageColors>[0] & { organization_index: string | null },
>(
  row: T,
  organization: Settings,
) => ({
  version: versionOf(row),
  // A playlist has its own version.
  ...row,
  ...times(row),
  organization_index: row.organization_index ?? '',
  image_colors: imageColors(row),
  player_color: row.player_color ?? organization.player_color ?? DEFAULT_COLOR,
  player_subtitle: row.player_subtitle ?? organization.player_subtitle ?? '',
})

/** Returns a chapter in the format JSON Chapters. */
export const toChapter = ({ start, end, title, ...others }: StoredChapter): Chapter => ({
  startTime: start,
  ...(end !== undefined && { endTime: end }),
  ...(title !== null && { title }),
  ...others,
})

/** Returns the chapters that a person has set in the format JSON Chapters. */
export const shownChapters = (chapters: StoredChapter[] | null): Chapter[] | null => chapters?.map(toChapter) ?? null
