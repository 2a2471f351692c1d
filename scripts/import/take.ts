import { type Client, waitForTrack } from '../../src/client/index.ts'
import { Fault } from '../backup/service.ts'
import { createOnce, Refused } from './create_once.ts'
import { DownloadFault } from './download.ts'
import type { Plan, PlannedCollection, PlannedTrack } from './plan.ts'
import { Report } from './report_items.ts'
import {
  checked,
  discardFailed,
  listPresent,
  openCollection,
  orderTracks,
  type Present,
  sendCover,
  unfinished,
} from './service.ts'

/**
 * Carries out a plan. All state is in the service: an imported track has the identifier of its item as `organization_index`, so a run that is stopped
 * at any point is continued by the next one, and two runs at the same time create nothing twice (docs/decisions/0130).
 */

/** Tracks that the service fetches and processes at the same time. Its queue shares the transcoder between organizations. */
const AT_ONCE = 16

interface Run {
  client: Client
  report: Report
  signal: AbortSignal
  isDryRun: boolean
}

/** The collections of a plan, each with its tracks in their order. */
function byCollection({ tracks }: Plan): Map<PlannedCollection, PlannedTrack[]> {
  const lists = new Map<PlannedCollection, PlannedTrack[]>()
  for (const track of tracks) {
    const list = lists.get(track.collection)
    if (list) list.push(track)
    else lists.set(track.collection, [track])
  }
  return lists
}

/** Whether a track gets more than its first request contains. */
const hasSteps = ({ chapters, cover, tags }: PlannedTrack) => Boolean(chapters || cover || tags)

async function createTrack(
  { client }: Run,
  collection_id: string,
  item: PlannedTrack,
  gone: string[],
): Promise<string> {
  const { index, body } = item
  const organization_index = hasSteps(item) ? unfinished(index) : index
  return createOnce({
    identity: ['track', collection_id, index],
    async create(idempotency_key) {
      const answer = await client.post('/v1/track', {
        body: { ...body, collection_id, organization_index },
        idempotency_key,
      })
      return answer.ok ? { ok: true, id: answer.track_id } : answer
    },
    async find() {
      const params = { collection_id }
      for (const organization_index of [index, unfinished(index)]) {
        const query = { organization_index, limit: '1' }
        const { tracks } = checked(await client.get('/v1/collection/{collection_id}/track', { params, query } as never))
        if (tracks[0]) return tracks[0].id
      }
      return null
    },
    read: (track_id) => client.get('/v1/track/{track_id}', { params: { track_id } }),
    gone,
  })
}

/** Runs a step whose failure leaves the item without a part, unless it may succeed later. */
async function part({ report }: Run, { label }: PlannedTrack, name: string, step: () => Promise<void>): Promise<void> {
  try {
    await step()
  } catch (error) {
    const isPermanent = error instanceof DownloadFault ? !error.isTransient : error instanceof Refused
    if (!isPermanent) throw error instanceof Fault ? new Fault(`its ${name}: ${error.message}; run again`) : error
    report.note(label, `imported without its ${name}: ${(error as Fault).message}`, true)
  }
}

/** Adds what the first request could not contain. The last request marks the track as complete. */
async function finish(run: Run, track_id: string, item: PlannedTrack): Promise<void> {
  const { client, signal } = run
  const params = { track_id }
  const { chapters, cover, tags, index } = item
  if (chapters)
    await part(run, item, 'chapters', async () => {
      checked(await client.put('/v1/track/{track_id}/chapters', { params, body: await chapters(signal) }))
    })
  if (cover)
    await part(run, item, 'cover', async () => {
      const picture = await cover(signal)
      const { track_cover_upload } = checked(await client.post('/v1/track/{track_id}/cover', { params }))
      await sendCover(track_cover_upload, picture)
    })
  const body = { organization_index: index, ...(tags && { tags }) }
  checked(await client.put('/v1/track/{track_id}', { params, body }))
}

/** Waits until a track is ready, and counts the outcome. */
async function settle({ client, report, signal }: Run, track_id: string, { label }: PlannedTrack): Promise<void> {
  const settled = await waitForTrack(client, track_id, { signal })
  if (!settled.ok) {
    if (settled.code === 'aborted') return
    if (settled.status === 404) return report.refuse(label, 'the track was deleted before it was ready')
    throw new Refused(settled)
  }
  const { status, info } = settled.track
  if (status === 'failed') {
    const { code, message } = info.error ?? { code: 'failed', message: 'it could not be processed' }
    return report.refuse(label, `${message} (${code})`)
  }
  report.taken++
  if (status === 'incomplete') report.note(label, 'some of its variants could not be made')
}

/** Takes one item: creates its track, or continues with the one that an earlier run has created. Returns the id, and the rest of the work. */
async function take(run: Run, collection_id: string, item: PlannedTrack, present: Present | undefined) {
  const isFailed = present?.status === 'failed'
  if (isFailed) await discardFailed(run.client, present.id)
  const isKept = present !== undefined && !isFailed
  const track_id = isKept ? present.id : await createTrack(run, collection_id, item, isFailed ? [present.id] : [])
  const rest = async () => {
    // An item may have lost its steps since the run that has created its track.
    if (isKept ? present.isUnfinished : hasSteps(item)) await finish(run, track_id, item)
    await settle(run, track_id, item)
  }
  return { track_id, rest }
}

const isDone = (present: Present | undefined) =>
  present !== undefined && !present.isUnfinished && ['ready', 'incomplete'].includes(present.status)

/** Runs work that ends with an item, so that a fault refuses only the item. A refused key or a missing permission ends the run. */
async function guarded(run: Run, { label }: PlannedTrack, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error instanceof Refused && ['unauthorized', 'insufficient_scope', 'network', 'not_json'].includes(error.code))
      throw error
    if (!run.signal.aborted) run.report.refuse(label, error.message)
  }
}

/** Returns the id of the collection; null in a dry run. */
async function takeCollection(run: Run, collection: PlannedCollection, items: PlannedTrack[]): Promise<string | null> {
  const { client, report, signal, isDryRun } = run
  const opened = await openCollection(client, collection, isDryRun)
  const present = opened ? await listPresent(client, opened.id) : new Map<string, Present>()
  if (isDryRun || !opened) {
    for (const { label, index, notes } of items) {
      if (isDone(present.get(index))) report.skipped++
      else {
        report.taken++
        console.log(`import   ${label} into "${collection.title}"`)
      }
      for (const note of notes) report.note(label, note)
    }
    return null
  }
  const { id, isUnfinished } = opened
  if (isUnfinished) await takeCover(run, id, collection)
  const running = new Set<Promise<void>>()
  const ids: string[] = []
  const orders = new Map([...present.values()].map((track) => [track.id, track.order]))
  let hasCreated = false
  let failure: unknown
  for (const item of items) {
    const existing = present.get(item.index)
    if (isDone(existing)) {
      report.skipped++
      ids.push(existing!.id)
      continue
    }
    while (running.size >= AT_ONCE) await Promise.race(running)
    if (signal.aborted || failure !== undefined) break
    for (const note of item.notes) report.note(item.label, note)
    const start = async () => {
      const { track_id, rest } = await take(run, id, item, existing)
      hasCreated ||= track_id !== existing?.id
      ids.push(track_id)
      report.running++
      const work = guarded(run, item, rest)
        .catch((error: unknown) => void (failure ??= error))
        .finally(() => {
          report.running--
          running.delete(work)
        })
      running.add(work)
    }
    await guarded(run, item, start)
  }
  if (failure === undefined) {
    if (hasCreated)
      for (const { id: track_id, order } of (await listPresent(client, id)).values()) orders.set(track_id, order)
    // A run that was killed may have created tracks without their order.
    await orderTracks(client, id, ids, orders)
  }
  await Promise.all(running)
  if (failure !== undefined) throw failure
  return id
}

/** Gives a new collection its cover. Unless that may succeed later, the collection is complete afterwards. */
async function takeCover({ client, report, signal }: Run, collection_id: string, collection: PlannedCollection) {
  const { cover, title, index } = collection
  const params = { collection_id }
  try {
    const picture = await cover?.(signal)
    const { collection_cover_upload } = checked(await client.post('/v1/collection/{collection_id}/cover', { params }))
    if (picture) await sendCover(collection_cover_upload, picture)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (signal.aborted) return
    report.note(`"${title}"`, `imported without its cover: ${error.message}`, true)
    if (error instanceof DownloadFault && error.isTransient) return
  }
  checked(await client.put('/v1/collection/{collection_id}', { params, body: { organization_index: index } }))
}

/** Carries out a plan, and prints a report. Returns the ids of its collections; none in a dry run, or if it was stopped. */
export async function carryOut(client: Client, plan: Plan, { isDryRun }: { isDryRun: boolean }): Promise<string[]> {
  const stop = new AbortController()
  // A second Ctrl-C ends the process at once.
  process.once('SIGINT', () => stop.abort())
  const report = new Report(plan)
  const run = { client, report, signal: stop.signal, isDryRun }
  const timer = setInterval(() => report.progress(), 500)
  try {
    const ids: string[] = []
    for (const [collection, items] of byCollection(plan)) {
      const id = stop.signal.aborted ? null : await takeCollection(run, collection, items)
      if (id !== null) ids.push(id)
    }
    report.end(stop.signal.aborted, isDryRun)
    return stop.signal.aborted ? [] : ids
  } finally {
    // Ends the tracks that are still waited for after a fault.
    stop.abort()
    clearInterval(timer)
  }
}
