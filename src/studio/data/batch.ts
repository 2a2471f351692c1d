import { type OperationAt, randomKey, type Success } from '../../client/client.ts'
import { isTransient, sleep } from '../../client/retry.ts'
import { MAX_BATCH } from '../../contract/facts.ts'
import type { TrackChange } from '../../contract/track_batch.ts'
import type { Client, Failure } from '../base/api.ts'
import { failureText } from '../base/text.ts'

/** Changes many tracks with several requests. */

type Results = Success<OperationAt<'post', '/v1/track/batch'>>['results']
/** Milliseconds until a request that could not be executed is sent again. The browser's `online` event ends the wait. */
const PAUSE = 5000
/** Attempts after a failure of the service. Without a connection, and over the rate limit, there is no maximum. */
const ATTEMPTS = 5

export interface Progress {
  total: number
  done: number
  refused: readonly Refused[]
  /** Why no request is sent at the moment. */
  waits: 'offline' | 'busy' | null
}

export interface Refused {
  change: TrackChange
  message: string
}

export interface Outcome extends Progress {
  /** The results of each request, for changes that undo them. */
  requests: Results[]
}

interface Options {
  signal: AbortSignal
  onProgress: (progress: Progress) => void
}

/** Returns changes in groups, one for each request. */
export const inRequests = (changes: readonly TrackChange[]): TrackChange[][] =>
  Array.from({ length: Math.ceil(changes.length / MAX_BATCH) }, (_, at) =>
    changes.slice(at * MAX_BATCH, (at + 1) * MAX_BATCH),
  )

/** Sends one request until it has a response. It has the same key each time, so that it is executed once. */
async function send(
  client: Client,
  changes: TrackChange[],
  signal: AbortSignal,
  onWait: (why: Progress['waits']) => void,
) {
  const options = { body: { changes }, signal, idempotency_key: randomKey() }
  for (let attempt = 1; ; attempt++) {
    const answer = await client.post('/v1/track/batch', options)
    if (answer.ok || !isTransient(answer) || signal.aborted) return answer
    const isUnlimited = answer.status === 0 || answer.status === 429
    if (!isUnlimited && attempt >= ATTEMPTS) return answer
    onWait(answer.status === 0 ? 'offline' : 'busy')
    await sleep(PAUSE, signal, { online: true })
    onWait(null)
  }
}

/**
 * Makes changes, with one request for each group of them. A failed request does not stop the others, unless they would fail for the same reason: then the
 * remaining changes are refused as well. After an abort, the remaining changes are neither done nor refused.
 */
export async function runBatch(
  client: Client,
  groups: readonly TrackChange[][],
  { signal, onProgress }: Options,
): Promise<Outcome> {
  let progress: Progress = { total: groups.flat().length, done: 0, refused: [], waits: null }
  const requests: Results[] = []
  const show = (change: Partial<Progress>) => onProgress((progress = { ...progress, ...change }))
  const refuse = (refused: Refused[]) => show({ refused: [...progress.refused, ...refused] })
  let fatal: Failure | undefined
  for (const chunk of groups) {
    if (signal.aborted) break
    const answer = fatal ?? (await send(client, chunk, signal, (waits) => show({ waits })))
    if (!answer.ok) {
      if (answer.code === 'aborted') break
      if (answer.status === 401 || answer.status === 403) fatal = answer
      refuse(chunk.map((change) => ({ change, message: failureText(answer) })))
      continue
    }
    requests.push(answer.results.filter(({ ok }) => ok))
    show({ done: progress.done + answer.done })
    refuse(
      answer.results.flatMap(({ ok, code, message = '' }, at) =>
        ok ? [] : [{ change: chunk[at]!, message: failureText({ code, message }) }],
      ),
    )
  }
  return { ...progress, requests }
}

/** Returns the groups of changes that undo an outcome: the same tracks in each, in the reverse order. There are none if it cannot be undone. */
export const changesBack = ({ requests }: Outcome): TrackChange[][] =>
  requests
    .toReversed()
    .map((results) =>
      results.flatMap(({ track_id, action, moved_from }): TrackChange[] => {
        if (action === 'delete') return [{ action: 'restore', track_id }]
        return action === 'move' && moved_from ? [{ action: 'move', track_id, ...moved_from }] : []
      }),
    )
    .filter((changes) => changes.length > 0)
