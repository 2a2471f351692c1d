import { useCallback, useEffect } from 'preact/hooks'

import type { Failure, Reprocess } from '../api.ts'
import { useClient, useLoad } from './client.ts'
import { repeat } from './repeat.ts'
import { forgetViews } from './views.ts'

const PERIOD = 1500
/** By collection, when the last run that is known here was finished. */
const finished = new Map<string, string | null>()

interface UpToDate {
  /** Null when there never was one, undefined until it is known. */
  reprocess: Reprocess | null | undefined
  start: () => Promise<Failure | undefined>
}

/** How far a collection is brought up to date with the variants of now; looked at while it is going on. */
export function useReprocess(collection_id: string): UpToDate {
  const client = useClient()
  const params = { collection_id }
  const loaded = useLoad(
    () => client.get('/v1/collection/{collection_id}/reprocess', { params }),
    [client, collection_id],
  )
  const { reprocess } = loaded.answer ?? {}
  const running = reprocess?.state === 'running'
  useEffect(() => {
    if (!running) return
    const ended = new AbortController()
    void repeat(loaded.reload, PERIOD, ended.signal)
    return () => ended.abort()
  }, [running, loaded.reload])

  // What was read of the tracks before is out of date, wherever the run was begun.
  useEffect(() => {
    if (reprocess === undefined) return
    const at = reprocess?.finished_at ?? null
    const before = finished.get(collection_id)
    if (at !== null && before !== undefined && before !== at) forgetViews()
    if (at !== null || before === undefined) finished.set(collection_id, at)
  }, [collection_id, reprocess])

  const start = useCallback(async () => {
    const answer = await client.post('/v1/collection/{collection_id}/reprocess', { params, body: {} })
    if (!answer.ok) return answer
    loaded.set(answer)
    return undefined
  }, [client, collection_id, loaded.set])
  return { reprocess, start }
}
