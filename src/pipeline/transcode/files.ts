import { type SQL, sql } from 'drizzle-orm'

import { HAS_FINAL_FILES } from '../../adapters/track_files.ts'

/** Lists of files in SQL: `tracks.files`, and what is to stand there. */

/** Whether a track has files that are no early ones, where `tracks` is read. */
export const hasFinalFiles = sql.raw(HAS_FINAL_FILES)

/** A list of files without those of variants that were deleted meanwhile. */
export const definedFiles = (files: SQL) => sql<string>`(
  select json_group_array(json(value)) from json_each(${files})
  where value ->> 'variant_id' is null or exists (select 1 from variants where id = value ->> 'variant_id')
)`

/** The paths of files that are in one list and not in the other, as a JSON text; null when there are none. */
export const pathsWithout = (files: SQL, others: SQL) => sql<string | null>`(
  select nullif(json_group_array(place), '[]') from (
    select value ->> 'path' as place from json_each(${files})
    except select value ->> 'path' from json_each(${others}))
)`
