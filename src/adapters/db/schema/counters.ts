import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/**
 * Small tables that consist mostly of their key. They are WITHOUT ROWID (without_rowid.ts), so each is a single B-tree.
 */

/**
 * The length of each list, which triggers (src/adapters/db/triggers/counts.ts) keep up to date, so that neither `count` nor a high `offset` needs a scan. `list` is a name such as
 * `tracks:{collection}`, or with a filter `tracks:{collection}?status=ready`. Level 0 has the total; levels 1 and 2 have the counts for ranges of 256
 * and 16,384 of the number that orders the list (`order` or `seq`).
 */
export const listCounts = sqliteTable(
  'list_counts',
  { list: text().notNull(), level: integer().notNull(), bucket: integer().notNull(), count: integer().notNull() },
  (t) => [primaryKey({ columns: [t.list, t.level, t.bucket] })],
)

/** The result of a sweep. Phases are named in src/background/sweep.ts. */
export interface SweepReport {
  /** The number of D1 queries of the sweep. */
  queries: number
  /** The phases that stopped because the queries of the sweep were spent. The next sweeps continue them. */
  left: string[]
  /** The phases that failed. */
  failed: string[]
  /** The time since which every sweep has had a failed phase other than `listening`, in milliseconds since 1970; null if none failed. */
  failing_since: number | null
  /** The number of `Listening` objects whose fold was more than two hours overdue at the end of the sweep. */
  overdue_folds?: number
}

/** A restore (docs/decisions/0081) or an import (docs/decisions/0128) that has not finished. */
export interface RestoreReport {
  backup_id: string
  /** Whether all rows were inserted. An import ends then. */
  is_complete: boolean
}

/** The last request for a file of the media domain without a token (src/background/media_check.ts). */
export interface MediaReport {
  /** Whether it was served. */
  is_open: boolean
}

/**
 * When each background activity last happened (src/adapters/db/heartbeats.ts). `seen` is the time of the first request for the service's status. The
 * row `restore` exists while a backup is being restored, and `import:{organization_id}` while an organization is being imported.
 */
export const heartbeats = sqliteTable('heartbeats', {
  name: text().$type<'sweep' | 'event' | 'seen' | 'events' | 'restore' | `import:${string}` | 'media'>().primaryKey(),
  at: integer().notNull(),
  /** Set only for `sweep`, `restore`, imports and `media`. */
  report: text({ mode: 'json' }).$type<SweepReport | RestoreReport | MediaReport>(),
})

/** The `Listening` objects, and when their next folds are due (src/listening/fold_times.ts). */
export const listeningFolds = sqliteTable(
  'listening_folds',
  {
    organization_id: text().notNull(),
    shard: integer().notNull(),
    /** In milliseconds since 1970; 0 if everything is folded. */
    due_at: integer().notNull(),
    /** The size of the object's database in bytes at its last fold; null before that. */
    bytes: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.shard] }),
    index('listening_folds_due')
      .on(t.due_at)
      .where(sql`due_at > 0`),
    index('listening_folds_bytes').on(t.bytes),
  ],
)
