import { type SQL, sql } from 'drizzle-orm'

import type { StoredChapter } from '../../adapters/db/column_types.ts'
import { CHAPTERS } from '../../adapters/db/play/play_rows.ts'
import { tracks } from '../../adapters/db/schema/library.ts'
import type { Context, Handlers } from '../../context.ts'
import { CHAPTERS_VERSION } from '../../contract/chapter_files.ts'
import type { chapterOperations, Chapters } from '../../contract/chapters.ts'
import { invalid, notFound } from '../../core/errors.ts'
import { toChapter, versionOf } from '../library/resource_fields.ts'
import { findTrack, isOwnedByCaller, refresh, withId, writeTrack } from '../library/track.ts'
import { isApplied } from '../library/version.ts'

/** The chapters that people set. They are stored with the names of `info.chapters`, so that play views read both in the same way. */

const stored = ({ chapters }: Chapters): StoredChapter[] =>
  chapters.map(({ startTime, endTime, title, ...others }) => ({
    start: startTime,
    ...(endTime !== undefined && { end: endTime }),
    title: title ?? null,
    ...others,
  }))

async function writeChapters(
  context: Context,
  track_id: string,
  if_match: string | undefined,
  chapters: StoredChapter[] | null,
) {
  const set = { chapters }
  const isDone = (row: object) => isApplied(row, set)
  const row = await writeTrack(context, track_id, if_match, { set, changed: ['chapters'], isDone })
  return withId(await refresh(context, row, { ...set, updated_at: row.updated_at }))
}

export const chapterHandlers: Handlers<typeof chapterOperations> = {
  async getChapters({ params: { track_id } }, context) {
    const chapters = sql.raw(CHAPTERS).as('chapters') as SQL.Aliased<string>
    const { duration, created_at, updated_at } = tracks
    const row = await context.db
      .select({ duration, created_at, updated_at, chapters })
      .from(tracks)
      .where(isOwnedByCaller(context, track_id))
      .get()
    if (!row) throw notFound('track')
    const list = JSON.parse(row.chapters) as StoredChapter[]
    return {
      track_id,
      track_version: versionOf(row),
      duration: row.duration,
      version: CHAPTERS_VERSION,
      chapters: list.map(toChapter),
    }
  },

  async setChapters({ params: { track_id }, headers, body }, context) {
    const { duration } = await findTrack(context, track_id)
    // The length of a file that was not processed yet is not known. Play views leave out the chapters that are after the end.
    const late = duration > 0 ? body.chapters.findIndex(({ startTime }) => startTime >= duration) : -1
    if (late >= 0) throw invalid(`chapters.${late}.startTime`, `must be before the end at ${duration} seconds`)
    return writeChapters(context, track_id, headers['if-match'], stored(body))
  },

  deleteChapters: ({ params: { track_id }, headers }, context) =>
    writeChapters(context, track_id, headers['if-match'], null),
}
