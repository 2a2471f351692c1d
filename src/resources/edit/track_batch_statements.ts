import { and, eq, inArray, sql } from 'drizzle-orm'

import { inJsonList, runBatch } from '../../adapters/db/database.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { isInCollection, tracks } from '../../adapters/db/schema/library.ts'
import { trash } from '../../adapters/db/schema/trash.ts'
import type { Context } from '../../context.ts'
import type { TrackChange } from '../../contract/track_batch.ts'
import type { ApiError } from '../../core/errors.ts'
import { tagsText } from '../../domain/edited_tags.ts'
import type { QueuedSource } from '../../domain/transcode/queue.ts'
import { restartTranscodes } from '../../domain/transcode/start.ts'
import { trashStatements } from '../library/move_to_trash.ts'
import { versionOf } from '../library/resource_fields.ts'
import { restoration } from '../library/restore_from_trash.ts'
import { deleteStatements } from '../library/track_delete.ts'
import { hasTagsText, updateOf, updateSet } from '../library/track_update.ts'
import { currentVersion, hasVersion, nextVersion } from '../library/version.ts'
import { moveStatements } from './track_move.ts'

/** The statements of a batch of changes to tracks, and their results. */

type Change<A extends TrackChange['action']> = Extract<TrackChange, { action: A }>

const { id, organization_id } = tracks
const columns = {
  id,
  organization_id,
  collection_id: tracks.collection_id,
  folder_id: tracks.folder_id,
  index: tracks.index,
  order: tracks.order,
  cover_path: tracks.cover_path,
  job_id: tracks.job_id,
  source_path: tracks.source_path,
  status: tracks.status,
  created_at: tracks.created_at,
  updated_at: tracks.updated_at,
  tags: tracks.tags,
  edited_tags: tracks.edited_tags,
  file_tags: tracks.file_tags,
  tags_text: tagsText.as('tags_text'),
}

/** The `+` makes SQLite look up the ids instead of scanning all tracks of the organization. */
const isOwnedByCaller = ({ principal }: Context) => sql`+${organization_id} = ${principal.organization_id}`

/** Returns the tracks with these ids that belong to the caller's organization. */
export const ownTracks = (context: Context, ids: string[]) =>
  context.db
    .select(columns)
    .from(tracks)
    .where(and(inArray(id, inJsonList(ids)), isOwnedByCaller(context), isInCollection))
export type OwnTrackRow = Awaited<ReturnType<typeof ownTracks>>[number]

/** The tracks in the trash with these ids. `parent_title` is the title of a track's collection, if that is in the trash as well. */
export const trashedTracks = ({ db, principal }: Context, ids: string[]) =>
  db
    .select({
      id: trash.id,
      parent_title: sql<string | null>`(select title from trash as parent where parent.id = trash.collection_id)`.as(
        'parent_title',
      ),
    })
    .from(trash)
    .where(
      sql`${trash.id} in ${inJsonList(ids)} and +trash.organization_id = ${principal.organization_id} and scope = 'track'`,
    )

/** Maps the id of a track to the reason for which its change is refused. */
export type Refusals = Map<string, ApiError>

const byId = <T extends { id: string }>(list: T[]) => new Map(list.map((row) => [row.id, row]))

const updateOfChange = ({ action: _action, track_id: _id, version: _version, ...fields }: Change<'update'>) =>
  updateOf(fields)

/** Returns the statements of updates, and a function that returns those without effect. `rows` are the tracks as they were read. */
function updateStatements(context: Context, changes: Change<'update'>[], rows: Map<string, OwnTrackRow>) {
  const { db, now } = context
  const updates = changes.flatMap((change) => {
    const { track_id, version } = change
    const update = updateOfChange(change)
    if (!update) return []
    const row = rows.get(track_id)
    // If another request sets tags in the meantime, the folded text has to be computed again.
    const tags_text = update.tags && row?.tags_text
    const isCurrent = tags_text === undefined ? undefined : hasTagsText(tags_text)
    const isExpected = and(eq(id, track_id), isOwnedByCaller(context), hasVersion(version), isCurrent)
    const set = { ...updateSet(update, row), updated_at: nextVersion(now) }
    const statement = db.update(tracks).set(set).where(isExpected)
    // RETURNING costs a row read, and an update without a condition does not need it.
    const conditional = version === undefined && tags_text === undefined ? null : statement.returning({ id })
    const event = { track_id, version, tags_text, changed: update.changed }
    return [{ change, statement: conditional ?? statement, conditional, event }]
  })
  const changed = sql`(select value ->> 'track_id' as changed_id, value ->> 'version' as expected, value ->> 'tags_text' as expected_tags,
    value -> 'changed' as changed from json_each(${JSON.stringify(updates.map(({ event }) => event))})) cross join tracks
    where tracks.id = changed_id and ${isOwnedByCaller(context)} and ${currentVersion} = coalesce(expected, ${currentVersion})
    and (expected_tags is null or ${tagsText} = expected_tags)`
  const event = recordEvents(context, 'track.updated', changed, { changed: sql`json(changed)` })
  return {
    statements: [event, ...updates.map(({ statement }) => statement)],
    missed: (resultOf: Results) =>
      updates.flatMap(({ change, conditional }) => (conditional && resultOf(conditional).length === 0 ? [change] : [])),
  }
}
type Results = Awaited<ReturnType<typeof runBatch>>

/** Repeats updates that had no effect only because of other tags. Returns the updates that no longer have the expected version. */
async function repeatUpdates(context: Context, missed: Change<'update'>[], after: Map<string, OwnTrackRow>) {
  let rest = missed
  for (;;) {
    const isRaced = ({ track_id, version }: Change<'update'>) => {
      const row = after.get(track_id)
      return row !== undefined && (version === undefined || version === versionOf(row))
    }
    const raced = rest.filter(isRaced)
    if (raced.length === 0) return rest
    const { statements, missed } = updateStatements(context, raced, after)
    const read = ownTracks(
      context,
      raced.map(({ track_id }) => track_id),
    )
    const resultOf = await runBatch(context.db, [...statements, read])
    for (const row of resultOf(read)) after.set(row.id, row)
    rest = [...rest.filter((change) => !isRaced(change)), ...missed(resultOf)]
  }
}

/** Returns the statements of the changes that are not refused, which are one batch, and a function that reads its results. */
export function batchOf(
  context: Context,
  changes: TrackChange[],
  refused: Refusals,
  sources: QueuedSource[],
  rows: OwnTrackRow[],
) {
  const { db, principal } = context
  const of = <A extends TrackChange['action']>(action: A) =>
    changes.filter((change): change is Change<A> => change.action === action && !refused.has(change.track_id))
  const idsOf = (list: { track_id: string }[]) => list.map(({ track_id }) => track_id)
  const updates = updateStatements(context, of('update'), byId(rows))
  const deleted = new Set(idsOf(of('delete').filter((change) => !change.trash)))
  const deletion = deleteStatements(
    context,
    rows.filter((row) => deleted.has(row.id)),
  )
  const trashed = idsOf(of('delete').filter((change) => change.trash))
  const trashing = trashed.length > 0 ? trashStatements(context, 'track', trashed) : null
  const restored = idsOf(of('restore'))
  const restoring = restored.length > 0 ? restoration(context, 'track', restored) : null
  const moves = of('move')
  const [before, after] = [ownTracks(context, idsOf(moves)), ownTracks(context, idsOf(changes))]
  const unrestored = trashedTracks(context, restored)
  const statements = [
    before,
    ...deletion.statements,
    ...(trashing?.statements ?? []),
    ...(restoring?.statements ?? []),
    ...updates.statements,
    ...moveStatements(context, moves),
    ...restartTranscodes(context, principal.organization_id, sources),
    after,
    unrestored,
  ]
  return {
    purges: deletion.purges,
    isTrashing: trashing !== null,
    async run() {
      const resultOf = await runBatch(db, statements)
      const rowsAfter = byId(resultOf(after))
      return {
        deleted: byId([...resultOf(deletion.deletedTracks), ...(trashing ? resultOf(trashing.insert) : [])]),
        restored: byId(restoring ? resultOf(restoring.insert) : []),
        restoredJobs: restoring?.startedJobs && resultOf(restoring.startedJobs),
        unrestored: byId(resultOf(unrestored)),
        before: byId(resultOf(before)),
        after: rowsAfter,
        /** The updates that were refused because of their version, by the id of the track. */
        unchanged: new Map(
          (await repeatUpdates(context, updates.missed(resultOf), rowsAfter)).map((change) => [
            change.track_id,
            updateOfChange(change)!,
          ]),
        ),
      }
    },
  }
}
