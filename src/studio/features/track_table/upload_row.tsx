import type { UploadItem } from '../../../client/upload/item.ts'
import { statusOf } from '../../../elements/shared/upload_status.ts'
import { fill } from '../../../elements/texts/texts.ts'
import { t, uploaderTexts } from '../../base/text.ts'
import { isPending } from '../../data/jobs.ts'
import type { TrackRow } from '../../data/track_rows.ts'
import { nameOf } from '../../data/track_text.ts'
import { queueOf, uploadLanguage } from '../../data/uploads.ts'
import { Ring } from '../../ui/charts/ring.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { Cell, place } from './row_parts.tsx'

interface Properties {
  item: UploadItem
  /** The track of the file, once the list contains it. */
  row: TrackRow | undefined
  at: number
  /** The place that the track will have; null if the file is not sent. */
  number: number | null
  height: number
  collection_id: string
  hasAlbum: boolean
  /** Lets the user choose another file. */
  onChoose: (track: { id: string; collection_id: string }) => unknown
}

const textOf = (item: UploadItem) =>
  item.target && isPending(item.target.track_id)
    ? { text: uploaderTexts().finishing }
    : statusOf(item, uploadLanguage())

/** A file that is being uploaded, with its progress and actions, in the cells of its track. */
export function UploadRow({ item, row, at, number, height, collection_id, hasAlbum, onChoose }: Properties) {
  const { text, isProblem } = textOf(item)
  const isSending = item.state !== 'paused' && (item.isUnsent || item.state === 'processing')
  return (
    <div
      role="row"
      class="track upload"
      style={place(at, height)}
      data-row
      data-status={isProblem ? 'failed' : 'uploading'}
      aria-rowindex={at + 2}
    >
      <Cell name="pick" />
      {!hasAlbum && <Cell name="number">{number}</Cell>}
      <Cell name="art">{row?.cover && <img src={row.cover} alt="" width="32" height="32" decoding="async" />}</Cell>
      <Cell name="track-text">
        <span class="name" dir="auto">
          {nameOf(row ?? { player_title: '', file_name: item.name, tags: {} })}
        </span>
        <span class={isProblem ? 'note failed' : 'note'} title={text}>
          {text}
        </span>
      </Cell>
      {hasAlbum && <Cell name="album" />}
      <Cell name="wave-cell">
        <UploadAction item={item} collection_id={collection_id} onChoose={onChoose} />
      </Cell>
      <Cell name="duration" />
      <Cell name="loudness" />
      <Cell name="added" />
      <Cell name="status">
        {isSending && <Ring value={item.fraction} label={fill(uploaderTexts().progressOf, { name: item.name })} />}
      </Cell>
      <Cell name="more">{item.state !== 'processing' && <Remove item={item} collection_id={collection_id} />}</Cell>
    </div>
  )
}

type ActionProperties = Pick<Properties, 'item' | 'collection_id'>

const labelOf = (action: string, { name }: UploadItem) => fill(uploaderTexts().actionOn, { action, name })

/** The button that pauses or continues the upload of a file, or sends it again. */
function UploadAction({ item, collection_id, onChoose }: ActionProperties & Pick<Properties, 'onChoose'>) {
  const texts = uploaderTexts()
  const queue = queueOf(collection_id)
  // The file can no longer be read, so a retry would fail.
  const lost = item.problem?.code === 'file_changed' ? item.target : null
  const action = (text: string, onClick: () => unknown) => (
    <Button small label={labelOf(text, item)} onClick={onClick}>
      {text}
    </Button>
  )
  if (item.state === 'uploading' || item.state === 'waiting') return action(texts.pause, () => queue?.pause(item))
  if (item.state === 'paused') return action(texts.resume, () => queue?.resume(item))
  if (lost) return action(t('Choose the file'), () => onChoose({ id: lost.track_id, collection_id }))
  if (item.retriable && (item.state === 'failed' || item.state === 'cancelled'))
    return action(texts.retry, () => queue?.retry(item))
  return null
}

function Remove({ item, collection_id }: ActionProperties) {
  const texts = uploaderTexts()
  return (
    <Button
      kind="quiet"
      icon="close"
      small
      label={labelOf(item.isUnsent ? texts.cancel : texts.remove, item)}
      onClick={() => queueOf(collection_id)?.remove(item)}
    />
  )
}
