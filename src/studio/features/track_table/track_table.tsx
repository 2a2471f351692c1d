import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'

import type { UploadItem } from '../../../client/upload/item.ts'
import { plural } from '../../base/format.ts'
import { type Route, setQuery } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { isPending } from '../../data/jobs.ts'
import { nowPlaying } from '../../data/now_playing.ts'
import { useStore } from '../../data/store.ts'
import type { TrackList, TrackRows } from '../../data/track_rows.ts'
import { nameOf } from '../../data/track_text.ts'
import { arrivals, itemFor, sentOf, uploadChanges, uploadsTo } from '../../data/uploads.ts'
import { Button } from '../../ui/controls/button.tsx'
import { useWindow } from '../../ui/lists/window.ts'
import { Loading, Problem } from '../../ui/page/states.tsx'
import { place } from './row_parts.tsx'
import { isSelected } from './selection.ts'
import { SelectionBar } from './selection_bar.tsx'
import { TableHead } from './table_head.tsx'
import { TableRow } from './table_row.tsx'
import { TableTools } from './table_tools.tsx'
import { COLUMNS, isInOrder, useColumns, useRowHeight } from './table_view.ts'
import { UploadRow } from './upload_row.tsx'
import { type Table, useTable } from './use_table.ts'

interface Properties {
  query: Route['query']
  list: TrackList
  tracks: TrackRows
  /** The subtitle of tracks that have none: that of their collection. */
  subtitle?: string | undefined
  /** Shown if the list has no tracks, without a search or filter. */
  empty: ComponentChildren
}

/** A table of tracks: those of a collection, with the files that are uploaded into it, or those of all collections. */
export function TrackTable(properties: Properties) {
  const { query, list, tracks, empty } = properties
  const [hidden, toggle] = useColumns(query)
  useStore(uploadChanges)
  useArrivals(list, tracks)
  const { collection_id, q, status } = list
  const inCollection = collection_id !== undefined
  const isFiltered = Boolean(q || status)
  const isEmpty = !tracks.loading && !tracks.problem && tracks.rows.length === 0
  if (isEmpty && !isFiltered && uploadsTo(collection_id ?? '').length === 0) return <>{empty}</>
  return (
    <>
      <TableTools
        query={query}
        label={inCollection ? t('Search in this collection') : t('Search tracks')}
        hidden={hidden}
        onToggle={toggle}
        columns={Object.keys(COLUMNS).filter((name) => !inCollection || name !== 'album')}
        sorts={
          inCollection
            ? ['order', 'title', 'duration', 'created_at', 'updated_at']
            : ['created_at', 'title', 'duration', 'updated_at']
        }
      >
        {/* The head of a collection has the number of all its tracks. */}
        {!tracks.loading && (!inCollection || isFiltered) && plural(tracks.rows.length, 'track', tracks.isCapped)}
      </TableTools>
      {tracks.problem && <Problem failure={tracks.problem} retry={tracks.retry} />}
      {tracks.loading && <Loading rows={8} />}
      {isEmpty && isFiltered && (
        <div class="nothing" role="status">
          <p>{t('No track matches.')}</p>
          <Button small onClick={() => setQuery({ q: '', status: '' })}>
            {t('Show all tracks')}
          </Button>
        </div>
      )}
      {!tracks.loading && !(isEmpty && isFiltered) && <Grid {...properties} hidden={hidden} />}
    </>
  )
}

/** Reads the list again when a file arrives, or when a track is created for one. */
function useArrivals({ collection_id }: TrackList, { reload, put, rows }: TrackRows): void {
  const arrival = useStore(arrivals)
  useEffect(() => {
    if (!arrival || (collection_id && arrival.collection_id !== collection_id)) return
    if (arrival.track && rows.some((row) => row?.id === arrival.track_id)) put(arrival.track)
    else reload()
  }, [arrival])
  const created = uploadsTo(collection_id ?? '').flatMap(({ target }) => target?.track_id ?? [])
  const isKnown = useMemo(() => {
    const ids = new Set(rows.map((row) => row?.id))
    return created.every((id) => ids.has(id))
  }, [rows, created.join()])
  const isComplete = rows.length === 0 || rows.at(-1) !== undefined
  useEffect(() => {
    if (isKnown || !isComplete) return
    const timer = setTimeout(reload, 300)
    return () => clearTimeout(timer)
  }, [isKnown, isComplete, created.length])
}

function Grid(properties: Properties & { hidden: ReadonlySet<string> }) {
  const { query, list, tracks, hidden } = properties
  const height = useRowHeight()
  const inCollection = list.collection_id !== undefined
  const items = useUnlisted(list, tracks)
  const table = useTable(list, tracks, height)
  const count = tracks.rows.length + items.length
  const isSelecting = table.selecting.size > 0
  const classes = [
    'track-table',
    ...[...hidden].map((name) => `no-${name}`),
    inCollection && 'in-collection',
    isSelecting && 'selecting',
  ]
  return (
    <>
      <div
        role="grid"
        class={classes.filter(Boolean).join(' ')}
        aria-label={t('Tracks')}
        aria-rowcount={tracks.isCapped ? -1 : count + 1}
        aria-multiselectable="true"
        {...table.press}
        onKeyDown={table.focus.onKeyDown}
        onFocusIn={table.focus.onFocus}
      >
        <TableHead query={query} isNumbered={inCollection} hasAlbum={!inCollection} selecting={table.selecting} />
        <div
          role="rowgroup"
          class="track-rows"
          ref={table.body}
          style={{ height: `${count * height}px`, '--row': `${height}px` }}
        >
          <Rows {...properties} table={table} items={items} height={height} />
        </div>
      </div>
      <SelectionBar list={list} tracks={tracks} selecting={table.selecting} />
      {table.menu.dialogs}
    </>
  )
}

/** Returns the files whose tracks the list does not contain yet. Their rows follow its last one. */
function useUnlisted(list: TrackList, { rows }: TrackRows): UploadItem[] {
  const listed = useMemo(() => new Set(rows.map((row) => row?.id)), [rows])
  const shown = useRef<readonly UploadItem[]>([])
  // If the end of the list was not read, it may contain the track.
  const isEndKnown = rows.length === 0 || rows.at(-1) !== undefined
  if (!isInOrder(list)) return []
  const items = uploadsTo(list.collection_id ?? '')
  // A file that has arrived leaves the queue before the list is read again.
  const hasArrived = ({ target }: UploadItem) => target !== null && isPending(target.track_id)
  const kept = shown.current.filter((item) => items.includes(item) || hasArrived(item))
  shown.current = [...kept, ...items.filter((item) => !kept.includes(item))]
  return shown.current.filter(({ target }) => !target || (isEndKnown && !listed.has(target.track_id)))
}

interface RowsProperties extends Properties {
  table: Table
  items: readonly UploadItem[]
  height: number
}

function Rows({ list, tracks: { rows, show }, subtitle, table, items, height }: RowsProperties) {
  const now = useStore(nowPlaying)
  const [from, to] = useWindow(table.body, rows.length + items.length, height)
  useEffect(() => show(from, Math.min(to, rows.length)), [from, to, rows])
  const { focus, menu, selecting, handle, lookOf, dragged, actions } = table
  const inCollection = list.collection_id !== undefined
  const inOrder = isInOrder(list)
  // The row with the focus and the row that is dragged stay in the page when they are scrolled out of view.
  const shown = new Set(Array.from({ length: to - from }, (_, at) => from + at))
  for (const at of [focus.active, dragged]) if (at !== undefined && at < rows.length) shown.add(at)

  /** Returns the number of a row. Files that were refused get none. */
  function numberOf(at: number): number | null {
    if (!inCollection) return null
    if (at < rows.length) return at + 1
    const until = items.slice(0, at - rows.length + 1)
    return isRefused(until.at(-1)!) ? null : rows.length + until.filter((item) => !isRefused(item)).length
  }
  function rowAt(at: number) {
    const row = rows[at]
    const item = row ? itemFor(row) : items[at - rows.length]
    if (item) {
      const collection_id = list.collection_id ?? row!.collection_id
      const parts = { item, row, at, height, collection_id, number: numberOf(at), hasAlbum: !inCollection }
      return <UploadRow key={item.id} {...parts} onChoose={menu.replace} />
    }
    if (!row) return <Hole key={`hole-${at}`} at={at} height={height} />
    return (
      <TableRow
        key={row.id}
        row={row}
        at={at}
        height={height}
        handle={inOrder ? handle(at, nameOf(row)) : null}
        isNumbered={inCollection}
        look={lookOf(at)}
        playing={now?.track_id === row.id ? (now.playing ? 'playing' : 'paused') : null}
        isStop={at === focus.active}
        isPicked={isSelected(selecting.selection, row.id)}
        sent={sentOf(row) ?? (row.status === 'initializing' && isPending(row.id) ? 1 : null)}
        subtitle={subtitle}
        hasAlbum={!inCollection}
        actions={actions}
      />
    )
  }
  return <>{[...shown].toSorted((a, b) => a - b).map(rowAt)}</>
}

const isRefused = ({ state }: UploadItem) => state === 'rejected' || state === 'cancelled'

/** A row that was not read yet. */
const Hole = ({ at, height }: { at: number; height: number }) => (
  <div role="row" class="track hole" style={place(at, height)} aria-rowindex={at + 2} aria-busy="true">
    <span role="gridcell" class="shape" />
  </div>
)
