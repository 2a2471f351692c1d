import { useCallback, useEffect, useRef } from 'preact/hooks'

import { isFinal, pages } from '../../client/index.ts'
import type { Failure, Listed, Track } from '../api.ts'
import { useClient } from './connection.ts'
import { repeat, useQuery } from './query.ts'

/** Milliseconds between two polls of the tracks in progress, and the number of tracks that each poll reads. */
const PERIOD = 1200
const PER_POLL = 4

interface Answer {
  ok: true
  tracks: Listed[]
  /** The number of tracks in the collection. It is complete when the first page has arrived. */
  count: number
  /** The tracks that were read one by one: those in progress, and those that failed. */
  details: ReadonlyMap<string, Track>
}

export interface Tracks extends Omit<Answer, 'ok'> {
  /** True until the first page has arrived. */
  loading: boolean
  problem: Failure | undefined
  put: (track: Track | Listed) => void
  drop: (track_id: string) => void
  reorder: (tracks: Listed[]) => void
  reload: () => void
}

const PATH = '/v1/collection/{collection_id}/track'
const EMPTY: Answer = { ok: true, tracks: [], count: 0, details: new Map() }

/** Reads all tracks of a collection page by page, and polls those in progress. */
export function useTracks(collection_id: string): Tracks {
  const client = useClient()
  const { answer, problem, update, reload } = useQuery<Answer>({
    key: [PATH, collection_id],
    async *load({ signal, previous }) {
      // A track that is finished may have been processed again since.
      const details = new Map([...(previous?.details ?? [])].filter(([, track]) => !isFinal(track)))
      const tracks: Listed[] = []
      for await (const page of pages(client, PATH, { params: { collection_id }, signal })) {
        if (!page.ok) return yield page
        tracks.push(...page.tracks)
        yield { ok: true, tracks: [...tracks], count: page.count, details }
      }
    },
  })
  const put = useCallback((track: Track | Listed) => update((all) => withTrack(all, track)), [update])
  const drop = useCallback((track_id: string) => update((all) => withoutTrack(all, track_id)), [update])
  const reorder = useCallback((tracks: Listed[]) => update((all) => ({ ...all, tracks })), [update])
  const { tracks, count, details } = answer ?? EMPTY
  usePolling(tracks, put)
  return {
    tracks,
    count,
    details,
    loading: !answer && !problem,
    problem,
    put,
    drop,
    reorder,
    reload: () => void reload(),
  }
}

function withTrack(all: Answer, track: Track | Listed): Answer {
  const details = 'info' in track ? new Map(all.details).set(track.id, track) : all.details
  if (all.tracks.some(({ id }) => id === track.id)) {
    return { ...all, details, tracks: all.tracks.map((one) => (one.id === track.id ? track : one)) }
  }
  // Files that are uploaded together may arrive in another order.
  const at = all.tracks.findLastIndex(({ order }) => order <= track.order) + 1
  return { ...all, details, tracks: all.tracks.toSpliced(at, 0, track), count: all.count + 1 }
}

const withoutTrack = (all: Answer, track_id: string): Answer => ({
  ...all,
  tracks: all.tracks.filter(({ id }) => id !== track_id),
  count: all.count - 1,
})

/**
 * Polls the tracks in progress, a few in each turn, so that the number of requests stays far below the limit. The first two are in every
 * turn, because they are processed first.
 */
function usePolling(tracks: Listed[], put: (track: Track) => void): void {
  const client = useClient()
  const latest = useRef(tracks)
  latest.current = tracks
  const isWaiting = tracks.some((track) => !isFinal(track))
  useEffect(() => {
    if (!isWaiting) return
    const ended = new AbortController()
    const { signal } = ended
    let turn = 0
    async function poll() {
      const open = latest.current.filter((track) => !isFinal(track))
      const rest = open.slice(2)
      const chosen = new Set([...open.slice(0, 2), ...[0, 1].flatMap(() => rest[turn++ % rest.length] ?? [])])
      const reads = [...chosen].slice(0, PER_POLL).map(async ({ id }) => {
        const answer = await client.get('/v1/track/{track_id}', { params: { track_id: id }, signal })
        if (answer.ok && !signal.aborted) put(answer.track)
      })
      await Promise.all(reads)
    }
    void poll().then(() => repeat(poll, PERIOD, signal))
    return () => ended.abort()
  }, [client, isWaiting, put])
}
