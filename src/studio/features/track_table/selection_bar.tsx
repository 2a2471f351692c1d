import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

import { MAX_BATCH, MAX_ZIP_SELECTION } from '../../../contract/facts.ts'
import type { TrackChange } from '../../../contract/track_batch.ts'
import type { Client } from '../../base/api.ts'
import { explain } from '../../base/format.ts'
import { t, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { playAll } from '../../data/now_playing.ts'
import type { TrackList, TrackRow, TrackRows } from '../../data/track_rows.ts'
import { endSending } from '../../data/uploads.ts'
import { isPlayable } from '../../data/views.ts'
import { Button } from '../../ui/controls/button.tsx'
import { downloadUrl } from '../../ui/controls/download.ts'
import { FIELDS } from '../../ui/controls/fields.ts'
import { Menu } from '../../ui/controls/menu.tsx'
import { useOnce } from '../../ui/controls/once.ts'
import { announce } from '../../ui/page/announce.ts'
import { lazyPage } from '../../ui/page/lazy_page.tsx'
import { useMedia } from '../../ui/page/media.ts'
import { AddToPlaylist } from './add_to_playlist.tsx'
import { ChooseCollection } from './choose_collection.tsx'
import { type Batch, batchText, useBatch } from './use_batch.ts'
import type { TableSelection } from './use_selection.ts'

interface Properties {
  list: TrackList
  tracks: TrackRows
  selecting: TableSelection
}

const EditTracks = lazyPage(async () => (await import('./edit_tracks.tsx')).EditTracks, null)

/** The text of a number of selected tracks. */
const SELECTED = { one: '{n} selected', other: '{n} selected' }

/** The actions on the selected tracks, at the bottom of the window, and the progress of the last one. */
export function SelectionBar({ list, tracks, selecting }: Properties) {
  const client = useClient()
  const { size, clear, pickAll, readSelected } = selecting
  const shown = useShown()
  const [dialog, setDialog] = useState<{ name: 'playlist' | 'move' | 'edit'; rows: TrackRow[] } | null>(null)
  const batch = useBatch(({ requests }) => {
    selecting.without(new Set(requests.flat().map(({ track_id }) => track_id)))
    tracks.reload()
  })

  /** Calls an action with the selected tracks, once those that were not read yet are. */
  const withRows = (act: (rows: TrackRow[]) => unknown) => async () => {
    const rows = await readSelected()
    if (rows && rows.length > 0) await act(rows)
  }
  const open = (name: 'playlist' | 'move' | 'edit') => withRows((rows) => setDialog({ name, rows }))
  const { change, remove, reprocess } = changesIn({ tracks, selecting, batch })
  const isRunning = batch.running !== null && !batch.running.isOver
  useKeys(size > 0 && !dialog && !isRunning, { e: open('edit'), Delete: withRows(remove) })
  useFocusAfter(size > 0)
  if (size === 0 && !batch.running) return null
  const play = (rows: TrackRow[]) =>
    playAll(
      client,
      rows.filter(isPlayable).map(({ id }) => id),
    )
  const actions: { label: string; run: () => unknown }[] = [
    { label: t('Play'), run: withRows(play) },
    { label: t('Edit'), run: open('edit') },
    { label: t('Move'), run: open('move') },
    { label: t('Add to playlist'), run: open('playlist') },
    { label: t('Download ZIP'), run: withRows((rows) => downloadZip(client, rows)) },
    { label: t('Reprocess'), run: withRows(reprocess) },
    // On a phone, the head of the table is hidden.
    ...(size < tracks.rows.length ? [{ label: t('Select all'), run: pickAll }] : []),
  ]
  return (
    <>
      <div class="selection-bar" role="toolbar" aria-label={t('Selected tracks')}>
        {batch.running && <BatchStatus batch={batch} />}
        {!isRunning && size > 0 && (
          <>
            <Button small kind="quiet" icon="close" label={t('Clear the selection')} onClick={clear} />
            <strong>{tn(SELECTED, size)}</strong>
            {actions.slice(0, shown).map(({ label, run }) => (
              <Button key={label} small onClick={run}>
                {label}
              </Button>
            ))}
            <Menu
              label={t('More for the selection')}
              items={actions.slice(shown).map(({ label, run }) => ({ label, onSelect: run }))}
            />
            <Button small kind="danger" onClick={withRows(remove)}>
              {t('Delete')}
            </Button>
          </>
        )}
      </div>
      {dialog?.name === 'edit' && (
        <EditTracks tracks={dialog.rows} onChange={() => tracks.reload()} onClose={() => setDialog(null)} />
      )}
      {dialog && dialog.name !== 'edit' && (
        <SelectionDialog
          name={dialog.name}
          rows={dialog.rows}
          except={list.collection_id}
          onMove={({ id }) => {
            setDialog(null)
            void change(dialog.rows, (row) => ({ action: 'move', track_id: row.id, collection_id: id }))
          }}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  )
}

/** Returns functions that change rows of a table. Each call is one batch. */
function changesIn({ tracks, selecting, batch }: Pick<Properties, 'tracks' | 'selecting'> & { batch: Batch }) {
  async function change(rows: TrackRow[], changeOf: (row: TrackRow) => TrackChange) {
    await batch.run(rows.map(changeOf))
    if (selecting.selection.isAll) selecting.clear()
  }
  async function remove(rows: TrackRow[]) {
    for (const row of rows) endSending(row)
    // With more tracks, the list is read between the requests.
    if (rows.length <= MAX_BATCH) {
      const ids = new Set(rows.map(({ id }) => id))
      tracks.drop(ids)
      selecting.without(ids)
    }
    await change(rows, ({ id }) => ({ action: 'delete', track_id: id, trash: true }))
  }
  const reprocess = (rows: TrackRow[]) => change(rows, ({ id }) => ({ action: 'reprocess', track_id: id }))
  return { change, remove, reprocess }
}

/**
 * Runs an action on the selection when its key is pressed, also outside of the table. It ignores keys until the action is done: before a batch
 * runs, the rows are read. `isActive` is false during a batch, which may also be started by a button or by Undo.
 */
function useKeys(isActive: boolean, actions: Record<string, () => unknown>): void {
  const latest = useRef(actions)
  latest.current = isActive ? actions : {}
  const [, once] = useOnce()
  useEffect(() => {
    function press(event: KeyboardEvent) {
      const { key, target, ctrlKey, metaKey, altKey } = event
      const action = latest.current[key]
      if (!action || event.defaultPrevented || event.repeat || ctrlKey || metaKey || altKey) return
      if ((target as Element).closest(`${FIELDS}, [role=menu]`) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      void once(action)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

/** Focuses the active row if the focus was lost with the selection, whose bar or rows disappear. */
function useFocusAfter(isSelected: boolean): void {
  const wasSelected = useRef(false)
  useLayoutEffect(() => {
    if (wasSelected.current && !isSelected && document.activeElement === document.body)
      document.querySelector<HTMLElement>('[data-at][tabindex="0"]')?.focus({ preventScroll: true })
    wasSelected.current = isSelected
  }, [isSelected])
}

/** Returns the number of actions for which the bar has room besides its menu. */
function useShown(): number {
  const isPhone = useMedia('(width < 720px)')
  const isNarrow = useMedia('(width < 1100px)')
  return isPhone ? 1 : isNarrow ? 3 : 5
}

/** Downloads the tracks as one file. */
async function downloadZip(client: Client, rows: readonly TrackRow[]) {
  if (rows.length > MAX_ZIP_SELECTION) {
    return announce(t('A ZIP takes at most {n} tracks. Select fewer.', { n: MAX_ZIP_SELECTION }))
  }
  const answer = await client.post('/v1/zip', { body: { track_ids: rows.map(({ id }) => id) } })
  if (answer.ok) downloadUrl(answer.url)
  else announce(explain(answer))
}

interface DialogProperties {
  name: 'playlist' | 'move'
  rows: readonly TrackRow[]
  /** The collection of the list, to which the tracks cannot be moved. */
  except: string | undefined
  onMove: (collection: { id: string }) => void
  onClose: () => void
}

const SelectionDialog = ({ name, rows, except, onMove, onClose }: DialogProperties) =>
  name === 'playlist' ? (
    <AddToPlaylist
      title={tn({ one: 'Add {n} track to a playlist', other: 'Add {n} tracks to a playlist' }, rows.length)}
      track_ids={rows.map(({ id }) => id)}
      onClose={onClose}
    />
  ) : (
    <ChooseCollection
      title={tn({ one: 'Move {n} track', other: 'Move {n} tracks' }, rows.length)}
      except={except}
      onChoose={onMove}
      onClose={onClose}
    />
  )

/** The progress of a batch, or what it could not do. */
function BatchStatus({ batch: { running, stop, retry, dismiss } }: { batch: Batch }) {
  if (!running) return null
  const { done, refused, total, isOver } = running
  const reasons = [...new Set(refused.map(({ message }) => message))]
  return (
    <div class="batch-status" role="status">
      <span>{batchText(running)}</span>
      {isOver ? (
        <>
          <span class="error">
            {tn({ one: '{n} track was refused:', other: '{n} tracks were refused:' }, refused.length)}
          </span>
          <ul>
            {reasons.slice(0, 3).map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
          <Button small onClick={() => void retry()}>
            {t('Try again')}
          </Button>
          <Button small kind="quiet" icon="close" label={t('Close')} onClick={dismiss} />
        </>
      ) : (
        <>
          <progress max={total} value={done + refused.length} aria-label={t('Progress')} />
          <Button small onClick={stop}>
            {t('Stop')}
          </Button>
        </>
      )}
    </div>
  )
}
