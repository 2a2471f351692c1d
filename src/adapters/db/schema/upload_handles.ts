import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * The upload handles of tracks that have several (docs/decisions/0063). The only handle of a track has no row: its path and names are in the row of the
 * track. The table is WITHOUT ROWID, so a handle costs two rows written.
 */
export const uploadHandles = sqliteTable(
  'upload_handles',
  {
    track_id: text().notNull(),
    /** The path of the file that the handle uploads. The paths of a track sort in the order of its handles. */
    path: text().notNull(),
    /** When the URLs expire, in milliseconds since 1970. */
    expires_at: integer().notNull(),
    /** When the sweep next checks the handle, in milliseconds since 1970. */
    check_at: integer().notNull(),
    /**
     * `used`: the file became the track's source. `replaced`: a newer file was used instead, and the file is listed in `info.replaced_uploads`.
     * `abandoned`: the upload in parts was aborted, so a file at the path is never used.
     */
    state: text().$type<'open' | 'used' | 'replaced' | 'abandoned'>().notNull().default('open'),
    /** The names that the track gets with the file of this handle; null leaves its names unchanged. */
    file_name: text(),
    file_name_original: text(),
    /** The folded `file_name` for the search; null if it equals the name (fold.ts). */
    folded_name: text(),
    /** The name in `info.replaced_uploads`: `file_name`, or the name that the track had when the handle was created without one. */
    listed_name: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.track_id, t.path] }), index('upload_handles_check').on(t.check_at)],
)
export type UploadHandleRow = typeof uploadHandles.$inferSelect
