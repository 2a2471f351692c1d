import { pages } from '../../client/index.ts'
import { sleep } from '../../client/retry.ts'
import type { Client, Failure } from '../api.ts'

/** Milliseconds between two requests: far below the service's limit, 1200 a minute. */
const PACE = 100

/** Begins to bring the tracks of every collection up to date; answers of how many, and why it stopped. */
export async function bringAllUpToDate(client: Client): Promise<{ count: number; failure?: Failure }> {
  let count = 0
  for await (const page of pages(client, '/v1/collection')) {
    if (!page.ok) return { count, failure: page }
    for (const { id: collection_id } of page.collections) {
      const params = { collection_id }
      const answer = await client.post('/v1/collection/{collection_id}/reprocess', { params, body: {} })
      if (answer.ok) count++
      // One that was deleted meanwhile needs nothing.
      else if (answer.status !== 404) return { count, failure: answer }
      await sleep(PACE)
    }
  }
  return { count }
}
