import { jobs, type JobTrack, pendingIn } from '../../data/jobs.ts'
import { useStore } from '../../data/store.ts'
import { allUploads, uploadChanges, uploadsTo } from '../../data/uploads.ts'
import { Estimate, summaryOf } from './estimate.ts'

const estimates = new Map<string, Estimate>()

/** Returns the estimate in seconds for all uploads, or those of a collection. */
function secondsLeft(key: string, left: number): number | null {
  const estimate = estimates.get(key) ?? new Estimate()
  estimates.set(key, estimate)
  return estimate.next(left, Date.now())
}

/** Returns the tracks that are processed, and those whose file has just arrived and which the list does not contain yet. */
const withPending = (running: readonly JobTrack[], ids: readonly string[]) =>
  ids.map((id) => running.find((track) => track.id === id) ?? {})

/** Returns the summary of all uploads and jobs. */
export function useSummary() {
  useStore(uploadChanges)
  const { running, ended } = useStore(jobs)
  const items = allUploads().map(({ item }) => item)
  const ids = new Set([...running.map(({ id }) => id), ...pendingIn()])
  const summary = summaryOf(items, withPending(running, [...ids]), ended)
  return { ...summary, seconds: secondsLeft('', summary.left) }
}

/** Returns the summary of the uploads into a collection. */
export function useCollectionSummary(collection_id: string) {
  useStore(uploadChanges)
  const { running, ended, batches } = useStore(jobs)
  const batch = new Set(batches[collection_id])
  const summary = summaryOf(
    uploadsTo(collection_id),
    withPending(running, pendingIn(collection_id)),
    ended.filter(({ id }) => batch.has(id)),
  )
  return { ...summary, seconds: secondsLeft(collection_id, summary.left) }
}
