import { useEffect } from 'preact/hooks'

import { sleep } from '../../client/retry.ts'
import { MAX_PAGE } from '../../contract/facts.ts'
import type { ListedTrack } from '../../contract/track_list.ts'
import type { Client, Listed, Track } from '../base/api.ts'
import type { Connection } from './connection.ts'
import { names, nameFromTags } from './naming.ts'
import { createStore } from './store.ts'
import { arrivals, uploadsTo } from './uploads.ts'
import { forgetTrack, renewCollection } from './views.ts'

/** The tracks that the service processes, for the tray of uploads on all pages. */

export type JobTrack = ListedTrack
type Wait = NonNullable<Track['info']['waiting']>

interface Jobs {
  /** The tracks in process, the oldest first. */
  running: readonly JobTrack[]
  /** The place of the last track in the queue. */
  wait: Wait | null
  /** The tracks of this tab that were processed, the last first. */
  ended: readonly JobTrack[]
  /** The ids of the tracks of each collection that were processed since its uploads started. They are kept until the next uploads. */
  batches: Readonly<Record<string, readonly string[]>>
}

export const jobs = createStore<Jobs>({ running: [], wait: null, ended: [], batches: {} })

/** Milliseconds between two reads while tracks are processed, and while the page is hidden. */
const PERIOD = 1500
const HIDDEN_PERIOD = 10_000
/** The number of newest tracks among which those of this tab are looked for, and of those that are read one by one. */
const RECENT = 100
const SINGLE = 5
/** The number of processed tracks that are kept. */
const KEPT = 500

const STORED = 'tonearm.jobs'
/** The collections of the tracks that this tab has sent or processed again, by track, until their result is known. They are stored for a reload. */
const pending = new Map<string, string>(JSON.parse(globalThis.sessionStorage?.getItem(STORED) ?? '[]'))
const keepPending = () => sessionStorage.setItem(STORED, JSON.stringify([...pending]))

let wake = new AbortController()
/** Looks for tracks in process now. */
export const lookForJobs = () => wake.abort()

/** Follows the processing of a track until its result is known. */
export function followJob({ id, collection_id }: Pick<Listed, 'id' | 'collection_id'>): void {
  if (!isBusy(collection_id)) jobs.set({ ...jobs.get(), batches: { ...jobs.get().batches, [collection_id]: [] } })
  pending.set(id, collection_id)
  keepPending()
  lookForJobs()
}

/** Whether files of a collection are still sent or processed in this tab. */
const isBusy = (collection_id: string) =>
  uploadsTo(collection_id).some((item) => item.isUnsent) || [...pending.values()].includes(collection_id)

/** Returns the ids of the tracks that this tab has sent and whose result is not known yet: all, or those of a collection. */
export const pendingIn = (collection_id?: string): string[] =>
  [...pending].flatMap(([id, place]) => (collection_id === undefined || place === collection_id ? id : []))

/** Whether this tab has sent the file of a track whose result is not known yet. */
export const isPending = (track_id: string): boolean => pending.has(track_id)

const inProcess = ({ status }: Pick<JobTrack, 'status'>) => status === 'processing' || status === 'fallback_processing'

/** Reads the tracks of this tab that are no longer processed. */
async function readEnded(client: Client, ids: ReadonlySet<string>, signal: AbortSignal): Promise<JobTrack[]> {
  const query = { include: ['state', 'collection'], limit: RECENT } as const
  const recent = await client.get('/v1/track', { query, signal })
  if (!recent.ok) return []
  // The list does not check whether a file has arrived.
  const found = recent.tracks.filter(({ id, status }) => ids.has(id) && status !== 'initializing')
  const missing = [...ids].filter((id) => !found.some((track) => track.id === id)).slice(0, SINGLE)
  for (const id of missing) {
    const read = await client.get('/v1/track/{track_id}', { params: { track_id: id }, signal })
    if (read.ok) {
      const { track } = read
      const { error = null, progress = 0, warnings = [] } = track.info
      found.push({ ...track, state: { error, progress, warnings: warnings.length } })
    } else if (read.status === 404) pending.delete(id)
  }
  return found.filter((track) => !inProcess(track) && track.status !== 'initializing')
}

/** Shows the results of processed tracks: the first gives the collection a cover, and its tags give it a title. */
function end(client: Client, tracks: readonly JobTrack[]): void {
  const { ended } = jobs.get()
  for (const { id } of tracks) {
    pending.delete(id)
    forgetTrack(id)
  }
  keepPending()
  const ids = new Set(tracks.map(({ id }) => id))
  const batches = { ...jobs.get().batches }
  for (const { id, collection_id } of tracks) batches[collection_id] = [...(batches[collection_id] ?? []), id]
  jobs.set({ ...jobs.get(), batches, ended: [...tracks, ...ended.filter(({ id }) => !ids.has(id))].slice(0, KEPT) })
  for (const collection_id of new Set(tracks.map((track) => track.collection_id))) {
    const isFirst = !ended.some((track) => track.collection_id === collection_id && track.status !== 'failed')
    const isLast = !isBusy(collection_id)
    if (isFirst || isLast) renewCollection(collection_id)
    if (names.get()[collection_id]) void nameFromTags(client, collection_id, isLast)
  }
}

async function look(client: Client, signal: AbortSignal): Promise<void> {
  const list = await client.get('/v1/track', {
    query: {
      status: ['processing', 'fallback_processing'],
      include: ['state', 'collection'],
      sort: 'created_at',
      limit: MAX_PAGE,
    },
    signal,
  })
  if (!list.ok) return
  const ids = new Set(list.tracks.map(({ id }) => id))
  const gone = new Set([...pending.keys()].filter((id) => !ids.has(id)))
  const ended = gone.size > 0 ? await readEnded(client, gone, signal) : []
  const last = list.tracks.findLast(({ state }) => !state?.progress)
  const read = last && (await client.get('/v1/track/{track_id}', { params: { track_id: last.id }, signal }))
  if (signal.aborted) return
  const wait = read?.ok ? (read.track.info.waiting ?? null) : null
  jobs.set({ ...jobs.get(), running: list.tracks, wait, ended: jobs.get().ended.filter(({ id }) => !ids.has(id)) })
  if (ended.length > 0) end(client, ended)
}

/** Reads the tracks in process again and again. Without any, nothing is read before `lookForJobs` is called. */
async function watchJobs(client: Client, signal: AbortSignal): Promise<void> {
  const stop = arrivals.watch(() => {
    const arrival = arrivals.get()
    if (arrival?.isUploaded) followJob({ id: arrival.track_id, collection_id: arrival.collection_id })
    else if (arrival && pending.delete(arrival.track_id)) keepPending()
  })
  while (!signal.aborted) {
    wake = new AbortController()
    await look(client, signal)
    const isIdle = jobs.get().running.length === 0 && pending.size === 0
    const period = document.visibilityState === 'visible' ? PERIOD : HIDDEN_PERIOD
    // A wake during the read counts as well.
    await sleep(isIdle ? 2 ** 30 : period, signal, { wake: wake.signal })
  }
  stop()
}

/** Watches the tracks in process while the studio is shown. */
export function useJobs({ client, is_root }: Connection): void {
  useEffect(() => {
    if (is_root) return undefined
    const ended = new AbortController()
    void watchJobs(client, ended.signal)
    return () => ended.abort()
  }, [client])
}

/** Removes the results from the tray. */
export const clearEnded = () => jobs.set({ ...jobs.get(), ended: [] })

/** Forgets everything when the user signs out. */
export function forgetJobs(): void {
  pending.clear()
  jobs.set({ running: [], wait: null, ended: [], batches: {} })
}
