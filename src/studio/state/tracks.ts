import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

import { isFinal, pages } from '../../client/index.ts'
import type { Failure, Listed, Track } from '../api.ts'
import { useClient } from './client.ts'
import { repeat } from './repeat.ts'

/** Milliseconds between two looks at what is being processed, and how many tracks each look reads. */
const PERIOD = 1200
const PER_LOOK = 4

export interface Tracks {
  tracks: Listed[]
  /** Of the collection, also while only the first pages are here. */
  count: number
  /** Until the first page is here. */
  loading: boolean
  problem: Failure | undefined
  /** What is known of tracks that are being processed, and why others failed. */
  details: ReadonlyMap<string, Track>
  put: (track: Track | Listed) => void
  drop: (track_id: string) => void
  reorder: (tracks: Listed[]) => void
  reload: () => void
}

/** All tracks of a collection, page after page, and what becomes of those that are being processed. */
export function useTracks(collection_id: string): Tracks {
  const client = useClient()
  const [tracks, setTracks] = useState<Listed[]>([])
  const [count, setCount] = useState(0)
  const [loading, setLoading] = useState(true)
  const [problem, setProblem] = useState<Failure>()
  const [details, setDetails] = useState<ReadonlyMap<string, Track>>(new Map())
  const [turn, setTurn] = useState(0)

  useEffect(() => {
    let current = true
    setLoading(true)
    setProblem(undefined)
    // What is done may have been done again since.
    setDetails((all) => new Map([...all].filter(([, track]) => !isFinal(track))))
    void (async () => {
      const all: Listed[] = []
      for await (const page of pages(client, '/v1/collection/{collection_id}/track', { params: { collection_id } })) {
        if (!current) return
        if (!page.ok) setProblem(page)
        else {
          all.push(...page.tracks)
          setTracks([...all])
          setCount(page.count)
        }
        setLoading(false)
      }
    })()
    return () => {
      current = false
    }
  }, [client, collection_id, turn])

  const put = useCallback((track: Track | Listed) => {
    setTracks((all) => {
      const known = all.some(({ id }) => id === track.id)
      if (!known) setCount((before) => before + 1)
      if (known) return all.map((one) => (one.id === track.id ? track : one))
      // Of files that are uploaded together, a later one may be here first.
      return all.toSpliced(all.findLastIndex(({ order }) => order <= track.order) + 1, 0, track)
    })
    if ('info' in track) setDetails((all) => new Map(all).set(track.id, track))
  }, [])
  const drop = useCallback((track_id: string) => {
    setTracks((all) => all.filter(({ id }) => id !== track_id))
    setCount((before) => before - 1)
  }, [])

  useFollowed(tracks, put)
  const reload = useCallback(() => setTurn((n) => n + 1), [])
  return { tracks, count, loading, problem, details, put, drop, reorder: setTracks, reload }
}

/**
 * Looks at tracks that are not done, a few at a time and in turn: however many there are, the requests stay far below the limit. The
 * first ones are always looked at, because they are worked on in their order.
 */
function useFollowed(tracks: Listed[], put: (track: Track) => void): void {
  const client = useClient()
  const latest = useRef(tracks)
  latest.current = tracks
  const waiting = tracks.some((track) => !isFinal(track))
  useEffect(() => {
    if (!waiting) return
    const ended = new AbortController()
    let turn = 0
    async function look() {
      const open = latest.current.filter((track) => !isFinal(track))
      const rest = open.slice(2)
      const chosen = new Set([...open.slice(0, 2), ...[0, 1].flatMap(() => rest[turn++ % rest.length] ?? [])])
      const { signal } = ended
      const read = [...chosen].slice(0, PER_LOOK).map(async ({ id }) => {
        const answer = await client.get('/v1/track/{track_id}', { params: { track_id: id }, signal })
        if (answer.ok && !signal.aborted) put(answer.track)
      })
      await Promise.all(read)
    }
    void look().then(() => repeat(look, PERIOD, ended.signal))
    return () => ended.abort()
  }, [client, waiting, put])
}
