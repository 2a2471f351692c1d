import type { UploadItem } from '../../../client/upload/item.ts'
import { statusOf } from '../../../elements/shared/upload_status.ts'
import { fill } from '../../../elements/texts/texts.ts'
import { t, uploaderTexts } from '../../base/text.ts'
import { queueOf, uploadLanguage } from '../../data/uploads.ts'
import { Ring } from '../../ui/charts/ring.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { place } from './table_row.tsx'

interface Properties {
  item: UploadItem
  at: number
  height: number
  collection_id: string
  /** Lets the user choose another file. */
  onChoose: (track: { id: string; collection_id: string }) => unknown
}

/** A file that is being uploaded, with its progress and actions. */
export function UploadRow({ item, at, height, collection_id, onChoose }: Properties) {
  const { text, isProblem } = statusOf(item, uploadLanguage())
  const texts = uploaderTexts()
  const { name } = item
  const isSending = item.state === 'uploading' || item.state === 'waiting' || item.state === 'queued'
  return (
    <div
      role="row"
      class="track upload"
      style={place(at, height)}
      data-row
      data-status={isProblem ? 'failed' : 'uploading'}
      aria-rowindex={at + 2}
    >
      <span role="gridcell" class="track-text">
        <span class="name">{name}</span>
        <span class={isProblem ? 'note failed' : 'note'} title={text}>
          {text}
        </span>
      </span>
      <span role="gridcell" class="actions">
        {isSending && <Ring value={item.fraction} label={fill(texts.progressOf, { name })} />}
        <UploadActions item={item} collection_id={collection_id} onChoose={onChoose} />
      </span>
    </div>
  )
}

function UploadActions({ item, collection_id, onChoose }: Omit<Properties, 'at' | 'height'>) {
  const texts = uploaderTexts()
  const queue = queueOf(collection_id)
  const labelOf = (action: string) => fill(texts.actionOn, { action, name: item.name })
  // The file can no longer be read, so a retry would fail.
  const lost = item.problem?.code === 'file_changed' ? item.target : null
  const action = (text: string, onClick: () => unknown) => (
    <Button small label={labelOf(text)} onClick={onClick}>
      {text}
    </Button>
  )
  return (
    <>
      {(item.state === 'uploading' || item.state === 'waiting') && action(texts.pause, () => queue?.pause(item))}
      {item.state === 'paused' && action(texts.resume, () => queue?.resume(item))}
      {lost && action(t('Choose the file'), () => onChoose({ id: lost.track_id, collection_id }))}
      {item.retriable &&
        !lost &&
        (item.state === 'failed' || item.state === 'cancelled') &&
        action(texts.retry, () => queue?.retry(item))}
      <Button
        kind="quiet"
        icon="close"
        small
        label={labelOf(item.isUnsent ? texts.cancel : texts.remove)}
        onClick={() => queue?.remove(item)}
      />
    </>
  )
}
