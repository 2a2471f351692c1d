import { sql } from 'drizzle-orm'

import type { Database } from './database.ts'
import { LATEST_MIGRATION } from './latest_migration.ts'
import { heartbeats, type MediaReport, type SweepReport } from './schema/counters.ts'

type HeartbeatName = typeof heartbeats.$inferSelect.name

/** Records a heartbeat, at most once every `pause` milliseconds. It costs one row written. */
export async function heartbeat(
  db: Database,
  name: HeartbeatName,
  pause = 0,
  report?: SweepReport | MediaReport,
): Promise<void> {
  const at = Date.now()
  // `abs` lets heartbeats continue after a clock that was ahead has been set back.
  const setWhere = sql`abs(${heartbeats.at} - ${at}) >= ${pause}`
  await db
    .insert(heartbeats)
    .values({ name, at, report })
    .onConflictDoUpdate({ target: heartbeats.name, set: { at, report }, setWhere })
}

/**
 * The times of the last heartbeats in milliseconds since 1970, the reports of the last sweep and of the last check of the media domain, the size of the
 * database in bytes, and whether LATEST_MIGRATION was applied.
 */
export interface Vitals {
  beats: Partial<Record<HeartbeatName, number>>
  report: SweepReport | null
  media: MediaReport | null
  size: number
  is_migrated: boolean
}

/** Reads the heartbeats. D1 reports the size of the database with the result. */
export async function readVitals({ $client }: Pick<Database, '$client'>): Promise<Vitals> {
  const { results, meta } = await $client
    .prepare(
      `select name, at, report from heartbeats
        union all select 'migration', count(*), null from d1_migrations where name = ?`,
    )
    .bind(LATEST_MIGRATION)
    .all<{ name: HeartbeatName | 'migration'; at: number; report: string | null }>()
  const reportOf = (beat: HeartbeatName): unknown =>
    JSON.parse(results.find(({ name }) => name === beat)?.report ?? 'null')
  const { migration, ...beats } = Object.fromEntries(results.map(({ name, at }) => [name, at]))
  return {
    beats,
    report: reportOf('sweep') as SweepReport | null,
    media: reportOf('media') as MediaReport | null,
    size: meta.size_after,
    is_migrated: migration === 1,
  }
}
