import { MAX_PAGE } from '../../../contract/facts.ts'
import type { Failure } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { useClient } from '../../data/connection.ts'
import { toRow, type TrackList, type TrackRows, usePageOf } from '../../data/track_rows.ts'
import { moved } from '../../ui/lists/reorder.ts'
import { announce } from '../../ui/page/announce.ts'

/** The number of tracks that one request can reorder. */
const MOST = 1000

/**
 * Returns the orders to request so that the first of some tracks becomes the last, or the last one the first. Each contains the tracks of consecutive
 * places.
 */
export function ordersFor(ids: readonly string[], isDown: boolean, most = MOST): string[][] {
  const [one, others] = isDown ? [ids[0]!, ids.slice(1)] : [ids.at(-1)!, ids.slice(0, -1)]
  const orders: string[][] = []
  for (let done = 0; done < others.length; done += most - 1) {
    if (isDown) orders.push([...others.slice(done, done + most - 1), one])
    else orders.push([one, ...others.slice(Math.max(0, others.length - done - most + 1), others.length - done)])
  }
  return orders
}

/** Returns the function that moves a track within its collection. The moves are saved one after the other. */
export function useMoveInOrder(list: TrackList, { rows, change, save, reload }: TrackRows) {
  const client = useClient()
  const readPage = usePageOf(list, null)
  const collection_id = list.collection_id ?? ''

  /** Returns the ids of the tracks between two places, the second included. */
  async function idsBetween(from: number, to: number): Promise<string[] | Failure> {
    const known = rows.slice(from, to + 1).flatMap((row) => row?.id ?? [])
    if (known.length === to - from + 1) return known
    const ids: string[] = []
    for (let offset = from; offset <= to; offset += MAX_PAGE) {
      const { signal } = new AbortController()
      const page = await readPage({ offset, limit: Math.min(MAX_PAGE, to + 1 - offset), signal })
      if (!page.ok) return page
      ids.push(...page.entries.map((entry) => toRow(entry).id))
    }
    return ids
  }
  async function send(from: number, to: number, reading: Promise<string[] | Failure>): Promise<Failure | undefined> {
    const ids = await reading
    if (!Array.isArray(ids)) return ids
    for (const track_ids of ordersFor(ids, from < to)) {
      const params = { collection_id }
      const answer = await client.put('/v1/collection/{collection_id}/track/order', { params, body: { track_ids } })
      if (!answer.ok) return answer
    }
    return undefined
  }
  return function move(from: number, to: number): void {
    const reading = idsBetween(Math.min(from, to), Math.max(from, to))
    change((all) => moved(all, from, to))
    void save(async () => {
      const failure = await send(from, to, reading)
      if (!failure) return
      announce(explain(failure))
      // The read waits for this change, which has ended then.
      queueMicrotask(reload)
    })
  }
}
