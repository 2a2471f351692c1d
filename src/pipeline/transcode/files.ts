import { type SQL, sql } from 'drizzle-orm'

import { HAS_FINAL_FILES } from '../../adapters/track_files.ts'

/** SQL for lists of files: `tracks.files` and the values written to it. */

/** Whether a track has final files (not only early ones), in a query on `tracks`. */
export const hasFinalFiles = sql.raw(HAS_FINAL_FILES)

/** Removes the files of deleted variants from a list of files. */
export const definedFiles = (files: SQL) => sql<string>`(
  select json_group_array(json(value)) from json_each(${files})
  where value ->> 'variant_id' is null or exists (select 1 from variants where id = value ->> 'variant_id')
)`

/** Paths that occur in the first list of files and not in the second, as JSON text; null if the difference is empty. */
export const pathsWithout = (files: SQL, excluded: SQL) => sql<string | null>`(
  select nullif(json_group_array(place), '[]') from (
    select value ->> 'path' as place from json_each(${files})
    except select value ->> 'path' from json_each(${excluded}))
)`
