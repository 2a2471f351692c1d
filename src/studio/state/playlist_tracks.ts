import { useEffect, useState } from 'preact/hooks'

import { pages } from '../../client/index.ts'
import type { Failure, PlaylistTrack } from '../api.ts'
import { useClient } from './client.ts'

export interface Places {
  places: PlaylistTrack[]
  loading: boolean
  problem: Failure | undefined
  set: (places: PlaylistTrack[]) => void
  reload: () => void
}

/** All places of a playlist, page after page. */
export function usePlaylistTracks(playlist_id: string): Places {
  const client = useClient()
  const [places, set] = useState<PlaylistTrack[]>([])
  const [loading, setLoading] = useState(true)
  const [problem, setProblem] = useState<Failure>()
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let current = true
    setProblem(undefined)
    void (async () => {
      const all: PlaylistTrack[] = []
      for await (const page of pages(client, '/v1/playlist/{playlist_id}/track', { params: { playlist_id } })) {
        if (!current) return
        if (page.ok) {
          all.push(...page.tracks)
          set([...all])
        } else {
          setProblem(page)
        }
        setLoading(false)
      }
    })()
    return () => {
      current = false
    }
  }, [client, playlist_id, turn])
  return { places, loading, problem, set, reload: () => setTurn((n) => n + 1) }
}
