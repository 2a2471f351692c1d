import type { RefObject } from 'preact'
import { useRef, useState } from 'preact/hooks'

import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { nowPlaying, playTrack } from '../../data/now_playing.ts'
import { useStore } from '../../data/store.ts'
import { toRow, type TrackRow } from '../../data/track_rows.ts'
import { nameOf } from '../../data/track_text.ts'
import { isPlayable } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'
import { useWindow } from '../../ui/lists/window.ts'
import { type RowActions, TableRow } from '../track_table/table_row.tsx'
import type { Entry, FoundTrack } from './entries.ts'
import type { PaneDragging } from './pane_drag.ts'
import type { Edits } from './use_edits.ts'
import { useEntryKeys } from './use_entry_keys.ts'

interface Properties {
  playlist_id: string
  entries: readonly Entry[]
  edits: Edits
  body: RefObject<HTMLDivElement | null>
  height: number
  drag: PaneDragging
}

const rows = new WeakMap<FoundTrack, TrackRow>()
/** Returns the same row for the same track, so that rows that have not changed are not rendered again. */
function rowOf({ track }: Entry): TrackRow {
  const row = rows.get(track) ?? toRow(track)
  rows.set(track, row)
  return row
}

/** The tracks of a playlist in their order. */
export function EntryList({ playlist_id, entries, edits, body, height, drag }: Properties) {
  const client = useClient()
  const count = entries.length
  const now = useStore(nowPlaying)
  const [from, to] = useWindow(body, count, height)
  const play = (track: Pick<FoundTrack, 'id' | 'status' | 'duration'>) => {
    if (isPlayable(track)) void playTrack(client, 'playlist', playlist_id, track.id)
  }
  const { focus, pick, extend, menuOf } = useEntryKeys({ entries, edits, body, height, onPlay: play })
  const latest = useRef({ pick, extend, play, menuOf })
  latest.current = { pick, extend, play, menuOf }
  const [actions] = useState<RowActions>(() => ({
    play: (row) => latest.current.play(row),
    pick: (_, at, event) => (event.shiftKey ? latest.current.extend(at) : latest.current.pick(at)),
    menuOf: (_, at) => latest.current.menuOf(at),
    retry: () => {},
    replace: () => {},
  }))
  // The row with the focus and the row that is dragged stay in the page when they are scrolled out of view.
  const source = drag.drag?.source
  const others = [focus.active, source && 'at' in source ? source.at : 0]
  const shown = new Set([...Array.from({ length: to - from }, (_, at) => from + at), ...others])
  return (
    <div
      role="grid"
      class={`track-table in-playlist no-wave no-loudness no-added ${edits.picked.size > 0 ? 'selecting' : ''}`}
      aria-label={t('Tracks')}
      aria-rowcount={count}
      aria-multiselectable="true"
      onKeyDown={focus.onKeyDown}
      onFocusIn={focus.onFocus}
    >
      <div role="rowgroup" class="track-rows" ref={body} style={{ height: count * height, '--row': `${height}px` }}>
        {[...shown]
          // The range may be that of the longer list before a removal.
          .filter((at) => at < count)
          .toSorted((a, b) => a - b)
          .map((at) => {
            const entry = entries[at]!
            const row = rowOf(entry)
            return (
              <TableRow
                key={entry.key}
                row={row}
                at={at}
                height={height}
                handle={drag.handle(at, nameOf(row))}
                isNumbered
                look={drag.lookOf(at)}
                playing={now?.track_id === row.id ? (now.playing ? 'playing' : 'paused') : null}
                isStop={at === focus.active}
                isPicked={edits.picked.has(entry.key)}
                sent={null}
                subtitle={undefined}
                hasAlbum
                actions={actions}
              />
            )
          })}
      </div>
    </div>
  )
}

/** The actions on the selected entries. */
export const EntryBar = ({ count, edits: { picked, setPicked, move, remove } }: { count: number; edits: Edits }) => (
  <div class="selection-bar" role="toolbar" aria-label={t('Selected tracks')}>
    <strong>{tn({ one: '{n} selected', other: '{n} selected' }, picked.size)}</strong>
    <Button small onClick={() => move(picked, 0)}>
      {t('Move to the top')}
    </Button>
    <Button small onClick={() => move(picked, count)}>
      {t('Move to the end')}
    </Button>
    <Button small onClick={() => remove(picked)}>
      {t('Remove')}
    </Button>
    <Button small kind="quiet" icon="close" label={t('Clear the selection')} onClick={() => setPicked(new Set())} />
  </div>
)
