import { and, inArray, sql } from 'drizzle-orm'

import { findFile } from '../../adapters/bucket/media.ts'
import { newId } from '../../adapters/crypto/id.ts'
import { inJsonList } from '../../adapters/db/database.ts'
import { collections, isInCollection, tracks } from '../../adapters/db/schema/library.ts'
import type { Context, Handlers } from '../../context.ts'
import { Track } from '../../contract/track.ts'
import type { TrackChange, trackBatchOperations } from '../../contract/track_batch.ts'
import { invalid, notFound } from '../../core/errors.ts'
import { sendJob } from '../../domain/jobs.ts'
import { startPurge } from '../../domain/start_purge.ts'
import { cancelUnwanted } from '../../domain/transcode/cancel_unwanted.ts'
import { trackColumns } from '../library/list_items.ts'
import { notUploaded, toTrack } from '../library/track.ts'
import { hasUpdate } from '../library/track_update.ts'
import { collectionInTrash, itemNotFound, startRestored } from '../library/trash.ts'
import { versionMismatch } from '../library/version.ts'
import { batchOf, ownTracks, type OwnTrackRow, type Refusals, trashedTracks } from './track_batch_statements.ts'

/**
 * Changes many tracks at once. All writes are in one batch, so either all of them happen or none. A refused change is detected before the batch, or
 * afterwards by the state of the tracks.
 */

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

/** The results of a batch. */
type Outcome = Awaited<ReturnType<ReturnType<typeof batchOf>['run']>>

/**
 * Returns the tracks whose updates were refused because of their version, as they are now, without those that already have the values of their update.
 */
async function mismatchesOf({ db, principal }: Context, { unchanged }: Outcome) {
  if (unchanged.size === 0) return new Map<string, ReturnType<typeof toTrack>>()
  const isListed = inArray(tracks.id, inJsonList([...unchanged.keys()]))
  const isOwned = sql`+${tracks.organization_id} = ${principal.organization_id}`
  const rows = await db
    .select(trackColumns)
    .from(tracks)
    .where(and(isListed, isOwned, isInCollection))
  return new Map(rows.filter((row) => !hasUpdate(row, unchanged.get(row.id)!)).map((row) => [row.id, toTrack(row)]))
}

/**
 * Returns the reason for which a change had no effect, which is found by comparing the rows after the batch: another request has changed the track
 * concurrently.
 */
function conflictOf(
  change: TrackChange,
  { deleted, restored, unrestored, after }: Outcome,
  mismatch: Parameters<typeof versionMismatch>[1] | undefined,
  job_id: string | undefined,
) {
  const row = after.get(change.track_id)
  if (change.action === 'restore') {
    const item = unrestored.get(change.track_id)
    if (restored.has(change.track_id)) return undefined
    if (!item) return itemNotFound()
    return item.parent_title === null ? notFound('collection') : collectionInTrash(item.parent_title)
  }
  if (change.action === 'delete' ? !deleted.has(change.track_id) : !row) return notFound('track')
  if (mismatch) return versionMismatch('track', mismatch, Track)
  if (change.action === 'move' && row!.collection_id !== change.collection_id) return notFound('collection')
  // If another job is already processing the track, no new job is needed.
  const isStarted = row?.job_id === job_id || row?.status.endsWith('processing')
  return change.action === 'reprocess' && !isStarted ? notUploaded('Another file has come meanwhile') : undefined
}

/** Returns the place from which a track was moved; undefined if it did not move. */
function movedFrom({ action, track_id }: TrackChange, { before, after }: Outcome) {
  const [row, moved] = [before.get(track_id), after.get(track_id)]
  if (action !== 'move' || !row || row.collection_id === moved?.collection_id) return undefined
  return { collection_id: row.collection_id, order: row.order }
}

/** Finds the changes that cannot be made. Returns the tracks of the others. */
async function findTracks(context: Context, changes: TrackChange[], refused: Refusals): Promise<OwnTrackRow[]> {
  const goalIds = changes.flatMap((change) => (change.action === 'move' ? [change.collection_id] : []))
  const ids = changes.map((change) => change.track_id)
  const [found, goals, trashed] = await context.db.batch([
    ownTracks(context, ids),
    ownCollections(context, goalIds),
    trashedTracks(
      context,
      changes.flatMap((change) => (change.action === 'restore' ? [change.track_id] : [])),
    ),
  ])
  const [foundIds, goalsFound, trashedIds] = [found, goals, trashed].map((rows) => new Set(rows.map((row) => row.id)))
  for (const { action, track_id, ...change } of changes) {
    if (action === 'restore') {
      if (!trashedIds!.has(track_id)) refused.set(track_id, itemNotFound())
    } else if (!foundIds!.has(track_id)) refused.set(track_id, notFound('track'))
    else if ('collection_id' in change && !goalsFound!.has(change.collection_id))
      refused.set(track_id, notFound('collection'))
  }
  return found
}

export const trackBatchHandlers: Handlers<typeof trackBatchOperations> = {
  async changeTracks({ body: { changes } }, context) {
    const ids = changes.map((change) => change.track_id)
    const twice = ids.findIndex((track_id, at) => ids.indexOf(track_id) < at)
    if (twice >= 0) throw invalid(`changes.${twice}.track_id`, 'stands in the list twice')
    const refused: Refusals = new Map()
    const rows = await findTracks(context, changes, refused)
    const toReprocess = new Set(changes.flatMap(({ action, track_id }) => (action === 'reprocess' ? [track_id] : [])))
    const { sources, missing } = await sourcesOf(
      context,
      rows.filter((row) => toReprocess.has(row.id)),
    )
    for (const track_id of missing) refused.set(track_id, notUploaded())

    const batch = batchOf(context, changes, refused, sources, rows)
    const outcome = await batch.run()
    const mismatches = await mismatchesOf(context, outcome)
    await startPurge(context, batch.purges)
    if (outcome.restoredJobs) await startRestored(context, outcome.restoredJobs)
    else if (batch.isTrashing) await cancelUnwanted(context)
    const jobs = new Map(sources.map((source) => [source.track_id, source.job_id]))
    for (const change of changes) {
      const { track_id } = change
      if (refused.has(track_id)) continue
      const error = conflictOf(change, outcome, mismatches.get(track_id), jobs.get(track_id))
      if (error) refused.set(track_id, error)
    }
    const started = sources.find(({ track_id, job_id }) => outcome.after.get(track_id)?.job_id === job_id)
    if (started) await sendJob(context, { id: started.job_id, payload: { kind: 'transcode' } })
    const answers = changes.map((change) => {
      const { track_id, action } = change
      const error = refused.get(track_id)
      if (!error) return { track_id, action, ok: true, moved_from: movedFrom(change, outcome) }
      const { code, message } = error
      return { track_id, action, ok: false, code, message, current: mismatches.get(track_id) }
    })
    return { done: changes.length - refused.size, refused: refused.size, results: answers }
  },
}
