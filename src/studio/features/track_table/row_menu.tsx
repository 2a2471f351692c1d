import { useState } from 'preact/hooks'

import type { Listed } from '../../base/api.ts'
import { number } from '../../base/format.ts'
import { go } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import type { TrackList, TrackRow, TrackRows } from '../../data/track_rows.ts'
import { nameOf } from '../../data/track_text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { NumberField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import type { MenuItem } from '../../ui/controls/menu.tsx'
import { Cancel, Dialog } from '../../ui/page/dialog.tsx'
import { openShare } from '../sharing/open_share.ts'
import { AddToPlaylist } from './add_to_playlist.tsx'
import { isInOrder } from './table_view.ts'
import { useTrackActions } from './track_actions.ts'

interface Properties {
  list: TrackList
  tracks: TrackRows
  moveTo: (from: number, to: number) => void
}

/** Returns the items of a row's menu, and the dialogs that they open. */
export function useRowMenu({ list, tracks, moveTo }: Properties) {
  const [adding, setAdding] = useState<TrackRow | null>(null)
  const [moving, setMoving] = useState<number | null>(null)
  const { reprocess, replace, remove } = useTrackActions({
    onChange: tracks.put,
    onDelete: ({ id }) => tracks.drop(new Set([id])),
    onRestore: tracks.reload,
  })
  const count = tracks.rows.length
  const itemsOf = (row: TrackRow, at: number): MenuItem[] => [
    { label: t('Details'), onSelect: () => go('track', row.id) },
    ...(list.collection_id
      ? []
      : [{ label: t('Go to its collection'), onSelect: () => go('collection', row.collection_id) }]),
    { label: t('Edit look'), onSelect: () => go('track', row.id, 'look') },
    { label: t('Share'), onSelect: () => openShare({ scope: 'track', id: row.id, title: nameOf(row) }) },
    { label: t('Add to a playlist …'), onSelect: () => setAdding(row) },
    ...(isInOrder(list) ? orderItems(at) : []),
    { label: t('Process again'), onSelect: () => reprocess(row) },
    { label: t('Replace the file …'), onSelect: () => replace(row) },
    { label: t('Delete track'), danger: true, onSelect: () => remove(row) },
  ]
  const orderItems = (at: number): MenuItem[] => [
    ...(at > 0 ? [{ label: t('Move up'), onSelect: () => moveTo(at, at - 1) }] : []),
    ...(at < count - 1 ? [{ label: t('Move down'), onSelect: () => moveTo(at, at + 1) }] : []),
    ...(count > 2 ? [{ label: t('Move to place …'), onSelect: () => setMoving(at) }] : []),
  ]
  const dialogs = (
    <>
      {adding && (
        <AddToPlaylist
          title={t('Add “{name}” to a playlist', { name: nameOf(adding) })}
          track_ids={[adding.id]}
          onClose={() => setAdding(null)}
        />
      )}
      {moving !== null && (
        <MoveToPlace
          at={moving}
          count={count}
          onMove={(to) => {
            setMoving(null)
            moveTo(moving, to)
          }}
          onClose={() => setMoving(null)}
        />
      )}
    </>
  )
  return {
    itemsOf,
    dialogs,
    reprocess,
    remove: (row: TrackRow) => void remove(row),
    replace: (track: Pick<Listed, 'id' | 'collection_id'>) => replace(track),
  }
}

interface PlaceProperties {
  at: number
  count: number
  onMove: (to: number) => void
  onClose: () => void
}

function MoveToPlace({ at, count, onMove, onClose }: PlaceProperties) {
  const [place, setPlace] = useState(String(at + 1))
  const wanted = Number(place)
  const isPlace = Number.isInteger(wanted) && wanted >= 1 && wanted <= count
  return (
    <Dialog title={t('Move to place')} onClose={onClose}>
      <Form onSubmit={async () => isPlace && onMove(wanted - 1)}>
        <NumberField
          label={t('Place')}
          value={place}
          onInput={setPlace}
          error={isPlace ? undefined : t('Enter a number from 1 to {count}.', { count: number(count) })}
        />
        <div class="actions end">
          <Cancel />
          <Button type="submit" kind="primary" disabled={!isPlace}>
            {t('Move')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
