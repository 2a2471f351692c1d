import { useCallback } from 'preact/hooks'

import { pages } from '../../client/index.ts'
import { sleep } from '../../client/retry.ts'
import type { Client, Failure, Reprocess } from '../base/api.ts'
import { useClient } from './connection.ts'
import { useQuery } from './query.ts'
import { forgetViews } from './views.ts'

const PERIOD = 1500
/** Milliseconds between two requests, which keeps them far below the service's limit of 1,200 per minute. */
const PACE = 100

const PATH = '/v1/collection/{collection_id}/reprocess'

interface CollectionReprocess {
  /** Null if there was no run yet, undefined until it is known. */
  reprocess: Reprocess | null | undefined
  start: () => Promise<Failure | undefined>
}

/** Returns the progress of the run that updates a collection to the current variants. */
export function useReprocess(collection_id: string): CollectionReprocess {
  const client = useClient()
  const { answer, set } = useQuery({
    key: [PATH, collection_id],
    // The previous answer is kept while other pages are shown, so that the end of a run is noticed.
    isKept: true,
    async load({ previous }: { previous: { ok: true; reprocess: Reprocess | null } | undefined }) {
      const result = await client.get(PATH, { params: { collection_id } })
      const finished_at = result.ok ? result.reprocess?.finished_at : null
      if (finished_at && previous && finished_at !== previous.reprocess?.finished_at) forgetViews()
      return result
    },
    every: ({ reprocess }) => (reprocess?.state === 'running' ? PERIOD : null),
  })
  const start = useCallback(async () => {
    const started = await client.post(PATH, { params: { collection_id }, body: {} })
    if (!started.ok) return started
    set(started)
    return undefined
  }, [client, collection_id, set])
  return { reprocess: answer?.reprocess, start }
}

/** Starts a run for every collection. Resolves to the number of runs, and to the failure that stopped it. */
export async function updateAllTracks(client: Client): Promise<{ count: number; failure?: Failure }> {
  let count = 0
  for await (const page of pages(client, '/v1/collection')) {
    if (!page.ok) return { count, failure: page }
    for (const { id: collection_id } of page.collections) {
      const answer = await client.post(PATH, { params: { collection_id }, body: {} })
      if (answer.ok) count++
      // A collection that was deleted in the meantime is skipped.
      else if (answer.status !== 404) return { count, failure: answer }
      await sleep(PACE)
    }
  }
  return { count }
}
