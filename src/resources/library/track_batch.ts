import { and, eq, inArray, sql } from 'drizzle-orm'

import { findFile } from '../../adapters/bucket/media.ts'
import { newId } from '../../adapters/crypto/id.ts'
import { inJsonList, runBatch } from '../../adapters/db/database.ts'
import { recordEvents } from '../../adapters/db/record_event.ts'
import { collections, isInCollection, tracks } from '../../adapters/db/schema/library.ts'
import { foldedUpdate } from '../../adapters/db/search.ts'
import type { Context, Handlers } from '../../context.ts'
import type { TrackChange, trackBatchOperations } from '../../contract/track_batch.ts'
import { type ApiError, invalid, notFound } from '../../core/errors.ts'
import { sendJob } from '../../pipeline/jobs.ts'
import { startPurge } from '../../pipeline/start_purge.ts'
import { restartTranscodes } from '../../pipeline/transcode/start.ts'
import { changedFields, deleteStatements, notUploaded, updateColumns } from './track.ts'

/**
 * Changes many tracks at once. All writes are in one batch, so either all of them happen or none. A refused change is detected before the batch, or
 * afterwards by the state of the tracks.
 */

type Change<A extends TrackChange['action']> = Extract<TrackChange, { action: A }>

const { id, organization_id, collection_id, folder_id, index, cover_path, job_id, source_path, status } = tracks
const columns = { id, organization_id, collection_id, folder_id, index, cover_path, job_id, source_path, status }

/** The `+` makes SQLite look up the ids instead of scanning all tracks of the organization. */
const isOwnedByCaller = ({ principal }: Context) => sql`+${organization_id} = ${principal.organization_id}`

/** Returns the tracks with these ids that belong to the caller's organization. */
const ownTracks = (context: Context, ids: string[]) =>
  context.db
    .select(columns)
    .from(tracks)
    .where(and(inArray(id, inJsonList(ids)), isOwnedByCaller(context), isInCollection))
type OwnTrackRow = Awaited<ReturnType<typeof ownTracks>>[number]

const ownCollections = ({ db, principal }: Context, ids: string[]) =>
  db
    .select({ id: collections.id })
    .from(collections)
    .where(
      and(
        inArray(collections.id, inJsonList(ids)),
        sql`+${collections.organization_id} = ${principal.organization_id}`,
      ),
    )

/**
 * Moves tracks to the end of other collections, in the requested order. Each track gets its new position first, and its new collection in a second
 * statement, because separate triggers maintain the counts of the two changes. The files are not moved.
 */
function moveStatements(context: Context, moves: Change<'move'>[]) {
  const { db, now } = context
  const goal = sql`(select value ->> 'track_id' as moved_id, value ->> 'collection_id' as goal_id, key as n
    from json_each(${JSON.stringify(moves)})) as goal`
  // A track of a deleted or trashed collection cannot be moved: it is hidden, although its row exists.
  const movable = sql`${isInCollection} and tracks.id = moved_id and ${isOwnedByCaller(context)} and tracks.collection_id <> goal_id
    and exists (select 1 from collections where collections.id = goal_id)`
  const position = sql`coalesce((select max("order") from tracks as other where other.collection_id = goal_id), 0)
    + row_number() over (partition by goal_id order by n)`
  const eventFields = { collection_id: sql`goal_id`, changed: ['collection_id'] }
  return [
    recordEvents(context, 'track.updated', sql`${goal} cross join tracks where ${movable}`, eventFields),
    db
      .update(tracks)
      .set({ order: sql`place` })
      .from(sql`(select moved_id, ${position} as place from ${goal} cross join tracks where ${movable}) as placed`)
      .where(sql`tracks.id = moved_id`),
    db
      .update(tracks)
      .set({
        collection_id: sql`goal_id`,
        folder_id: sql`nullif(coalesce(folder_id, collection_id), goal_id)`,
        updated_at: now,
      })
      .from(goal)
      .where(movable),
  ]
}

/** Finds the sources of tracks to reprocess. `missing` contains the ids of tracks without a source. */
async function sourcesOf({ env }: Context, rows: OwnTrackRow[]) {
  const sourceFiles = await Promise.all(
    rows.map(async ({ id, source_path }) => ({ id, source: await findFile(env, source_path) })),
  )
  const sources = sourceFiles.flatMap(({ id: track_id, source }) =>
    source ? [{ job_id: newId(), track_id, source_path: source.path, source_size: source.size }] : [],
  )
  return { sources, missing: sourceFiles.filter(({ source }) => !source).map((row) => row.id) }
}

/** Maps the id of a track to the reason for which its change is refused. */
type Refusals = Map<string, ApiError>

export const trackBatchHandlers: Handlers<typeof trackBatchOperations> = {
  async changeTracks({ body: { changes } }, context) {
    const { db, principal, now } = context
    const ids = changes.map((change) => change.track_id)
    const twice = ids.findIndex((track_id, at) => ids.indexOf(track_id) < at)
    if (twice >= 0) throw invalid(`changes.${twice}.track_id`, 'stands in the list twice')
    const refused: Refusals = new Map()
    const goalIds = changes.flatMap((change) => (change.action === 'move' ? [change.collection_id] : []))
    const [found, targets] = await db.batch([ownTracks(context, ids), ownCollections(context, goalIds)])
    const rows = new Map(found.map((row) => [row.id, row]))
    const reachable = new Set(targets.map((target) => target.id))
    for (const change of changes) {
      if (!rows.has(change.track_id)) refused.set(change.track_id, notFound('track'))
      else if (change.action === 'move' && !reachable.has(change.collection_id))
        refused.set(change.track_id, notFound('collection'))
    }
    const acceptedChanges = <A extends TrackChange['action']>(action: A) =>
      changes.filter((change): change is Change<A> => change.action === action && !refused.has(change.track_id))
    const rowsTo = (action: TrackChange['action']) =>
      acceptedChanges(action).map((change) => rows.get(change.track_id)!)

    const { sources, missing } = await sourcesOf(context, rowsTo('reprocess'))
    for (const track_id of missing) refused.set(track_id, notUploaded())
    const updates = acceptedChanges('update').flatMap(({ action: _action, track_id, ...fields }) => {
      const values = updateColumns(fields, now)
      return values ? [{ track_id, values, changed: changedFields(values) }] : []
    })
    const changed = sql`(select value ->> 'track_id' as changed_id, value -> 'changed' as changed
      from json_each(${JSON.stringify(updates.map(({ values: _values, ...update }) => update))})) cross join tracks
      where tracks.id = changed_id and ${isOwnedByCaller(context)}`
    const { statements, deletedTracks, purges } = deleteStatements(context, rowsTo('delete'))
    const remainingTracks = ownTracks(context, ids)
    const resultOf = await runBatch(db, [
      ...statements,
      recordEvents(context, 'track.updated', changed, { changed: sql`json(changed)` }),
      ...updates.map(({ track_id, values }) =>
        db
          .update(tracks)
          .set({ ...values, ...foldedUpdate('tracks', values) })
          .where(and(eq(id, track_id), isOwnedByCaller(context))),
      ),
      ...moveStatements(context, acceptedChanges('move')),
      ...restartTranscodes(context, principal.organization_id, sources),
      remainingTracks,
    ])
    await startPurge(context, purges)

    // Changes by concurrent requests are detected by comparing the rows after the batch.
    const deleted = new Set(resultOf(deletedTracks).map((row) => row.id))
    const rowsAfter = new Map(resultOf(remainingTracks).map((row) => [row.id, row]))
    const jobs = new Map(sources.map((source) => [source.track_id, source.job_id]))
    const conflictOf = (change: TrackChange) => {
      const row = rowsAfter.get(change.track_id)
      if (change.action === 'delete' ? !deleted.has(change.track_id) : !row) return notFound('track')
      if (change.action === 'move' && row!.collection_id !== change.collection_id) return notFound('collection')
      // If another job is already processing the track, no new job is needed.
      const isStarted = row?.job_id === jobs.get(change.track_id) || row?.status.endsWith('processing')
      return change.action === 'reprocess' && !isStarted ? notUploaded('Another file has come meanwhile') : undefined
    }
    for (const change of changes) {
      const error = refused.has(change.track_id) ? undefined : conflictOf(change)
      if (error) refused.set(change.track_id, error)
    }
    const started = sources.find(({ track_id, job_id }) => rowsAfter.get(track_id)?.job_id === job_id)
    if (started) await sendJob(context, { id: started.job_id, payload: { kind: 'transcode' } })
    const answers = changes.map(({ track_id, action }) => {
      const error = refused.get(track_id)
      return { track_id, action, ok: !error, ...(error && { code: error.code, message: error.message }) }
    })
    return { done: changes.length - refused.size, refused: refused.size, results: answers }
  },
}
