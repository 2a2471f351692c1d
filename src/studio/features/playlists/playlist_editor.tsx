import { useMemo, useRef } from 'preact/hooks'

import { explain } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Empty, Loading, Problem } from '../../ui/page/states.tsx'
import { useRowHeight } from '../track_table/table_view.ts'
import { EntryBar, EntryList } from './entry_list.tsx'
import { Finder } from './finder.tsx'
import { type PaneDrag, usePaneDrag } from './pane_drag.ts'
import { useEdits } from './use_edits.ts'
import type { PlaylistEntries } from './use_entries.ts'

interface Properties {
  playlist_id: string
  list: PlaylistEntries
  /** Whether a narrow window shows the search instead of the tracks. */
  isAdding: boolean
}

/** The tracks of a playlist, and next to them a search that adds tracks. */
export function PlaylistEditor({ playlist_id, list, isAdding }: Properties) {
  const { entries } = list
  const [playlist, finder, body] = [useRef<HTMLElement>(null), useRef<HTMLElement>(null), useRef<HTMLDivElement>(null)]
  const height = useRowHeight()
  const edits = useEdits(list)
  const drag = usePaneDrag({
    body,
    playlist,
    finder,
    count: entries.length,
    height,
    onMove: (at, place) => edits.move(edits.keysAt(at), place),
    onAdd: edits.add,
    onRemove: (at) => edits.remove(edits.keysAt(at)),
  })
  const contained = useMemo(() => new Set(entries.map(({ track }) => track.id)), [entries])
  return (
    <div class={`playlist-editor ${isAdding ? 'adding' : ''} ${drag.drag ? 'dragging' : ''}`}>
      <section ref={playlist} class="playlist-pane" aria-label={t('Playlist')}>
        <Notices list={list} playlist_id={playlist_id} />
        {entries.length > 0 && (
          <EntryList
            playlist_id={playlist_id}
            entries={entries}
            edits={edits}
            body={body}
            height={height}
            drag={drag}
          />
        )}
      </section>
      <Finder pane={finder} drag={drag} contained={contained} onAdd={(tracks) => edits.add(tracks)} />
      {edits.picked.size > 0 && <EntryBar count={entries.length} edits={edits} />}
      {drag.drag && <DragLabel {...drag.drag} />}
    </div>
  )
}

/** The messages above the tracks, or instead of them. */
const Notices = ({ list, playlist_id }: Pick<Properties, 'list' | 'playlist_id'>) => (
  <>
    {list.unsaved && (
      <div class="problem" role="alert">
        <p>{t('Not saved yet, but it is sent again. {problem}', { problem: explain(list.unsaved) })}</p>
        <Button small onClick={list.save}>
          {t('Try again')}
        </Button>
      </div>
    )}
    {list.loading && <Loading rows={8} />}
    {list.problem && list.entries.length === 0 && <Problem failure={list.problem} retry={list.reload} />}
    {!list.loading && !list.problem && list.entries.length === 0 && (
      <Empty
        title={t('No tracks yet')}
        action={
          <a class="button narrow-only" href={href('playlist', playlist_id, 'add')}>
            {t('Add tracks')}
          </a>
        }
      >
        {t('Search for tracks and add them with +, or drag them here. A track can be added more than once.')}
      </Empty>
    )}
  </>
)

/** The name of the dragged track, next to the pointer. */
const DragLabel = ({ x, y, target: { isOut }, source }: PaneDrag) => (
  <div class="drag-label" style={{ transform: `translate(${x + 12}px, ${y + 8}px)` }}>
    {isOut && 'at' in source ? t('Remove {name}', { name: source.label }) : source.label}
  </div>
)
