import { useCallback } from 'preact/hooks'

import { isFinal } from '../../client/index.ts'
import type { TrackStatus } from '../../contract/track.ts'
import type { ListedTrack } from '../../contract/track_list.ts'
import { barHeights } from '../../elements/shared/draw.ts'
import type { Failure, Track } from '../base/api.ts'
import { useClient } from './connection.ts'
import { type PageRead, type ReadPage, useRows } from './rows.ts'

/** A track in a table, with a path instead of its levels and one image instead of its cover, because a long table has many rows. */
export interface TrackRow extends Omit<ListedTrack, 'levels' | 'artwork' | 'image_colors' | 'metadata'> {
  /** The waveform as an SVG path in a box of `WAVE`; empty before the levels are known. */
  wave: string
  cover: string | undefined
}

/** The size of a waveform in a table, and the distance between two of its bars. */
export const WAVE = { width: 160, height: 28, pitch: 3 }

/** Returns the path of a waveform: one line for each bar. */
export function wavePath(levels: readonly number[]): string {
  if (levels.length === 0) return ''
  const heights = barHeights(levels, Math.floor(WAVE.width / WAVE.pitch))
  return heights
    .map((height, at) => {
      const length = Math.max(0, Math.round(height * (WAVE.height - 2)))
      return `M${at * WAVE.pitch + 1} ${(WAVE.height - length) / 2}v${length}`
    })
    .join('')
}

export function toRow(entry: ListedTrack): TrackRow {
  const { levels, artwork, image_colors: _colors, metadata: _metadata, ...track } = entry
  return { ...track, wave: wavePath(levels?.levels ?? []), cover: artwork?.icon.url }
}

/** The list that a table shows. */
export interface TrackList {
  /** Without it, the tracks of all collections. */
  collection_id: string | undefined
  q: string
  /** One or more statuses with commas between; empty for all. */
  status: string
  /** Empty for the order of the list itself: a collection's own, or the newest first. */
  sort: string
}

const INCLUDE = ['artwork', 'levels', 'loudness', 'state', 'collection'] as const

/** Returns the function that reads a page of a list of tracks. */
export function usePageOf({ collection_id, q, status, sort }: TrackList, include: typeof INCLUDE | null = INCLUDE) {
  const client = useClient()
  return useCallback(
    async ({ signal, ...page }: PageRead): Promise<ReadPage<ListedTrack> | Failure> => {
      const query = {
        ...page,
        ...(include && { include }),
        ...(q && { q }),
        ...(status && { status: status.split(',') as TrackStatus[] }),
        ...(sort && { sort: sort as 'title' }),
      }
      const answer = collection_id
        ? await client.get('/v1/collection/{collection_id}/track', { params: { collection_id }, query, signal })
        : await client.get('/v1/track', { query, signal })
      if (!answer.ok) return answer
      return {
        ok: true,
        entries: answer.tracks,
        count: answer.count,
        isCapped: answer.is_count_exact === false,
      }
    },
    [client, collection_id, q, status, sort, include],
  )
}

/** Reads the tracks that a table shows. */
export function useTrackRows(list: TrackList) {
  const readPage = usePageOf(list)
  const { change, ...rows } = useRows<TrackRow>({
    key: ['tracks', list],
    isChanging: (row) => !isFinal(row),
    async read(page) {
      const answer = await readPage(page)
      return answer.ok ? { ...answer, entries: answer.entries.map(toRow) } : answer
    },
  })
  /** Shows the new state of a track, for example while it is processed again. */
  const put = useCallback(
    (track: Track) =>
      change((all) =>
        all.map((row) => (row?.id === track.id ? { ...row, ...track, state: stateOf(track), cover: row.cover } : row)),
      ),
    [change],
  )
  /** Shows the list without some of its tracks. */
  const drop = useCallback(
    (ids: ReadonlySet<string>) => change((all) => all.filter((row) => !row || !ids.has(row.id))),
    [change],
  )
  return { ...rows, change, put, drop }
}
export type TrackRows = ReturnType<typeof useTrackRows>

const stateOf = ({ info }: Track): NonNullable<TrackRow['state']> => ({
  progress: info.progress ?? 0,
  error: info.error ?? null,
  warnings: (info.warnings?.length ?? 0) + (info.failed_variants?.length ?? 0),
})
