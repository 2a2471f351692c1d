import type { UploadItem } from '../../client/upload/item.ts'
import { statusOf } from '../../elements/shared/upload_status.ts'
import { fill } from '../../elements/texts/texts.ts'
import { language, queueOf } from '../data/uploads.ts'
import { Button } from '../ui/button.tsx'

interface Properties {
  item: UploadItem
  collection_id: string
  /** The class of the row during a drag; undefined if its track is not in the list yet. */
  look: string | undefined
  /** Lets the user choose another file. */
  onChoose: (track_id: string) => unknown
}

/** A file that is being uploaded, with its progress and actions. */
export function UploadRow({ item, collection_id, look, onChoose }: Properties) {
  const { text, isProblem } = statusOf(item, language)
  const { texts } = language
  const { name } = item
  const labelOf = (action: string) => fill(texts.actionOn, { action, name })
  const queue = queueOf(collection_id)
  const bar = item.state === 'uploading' || item.state === 'waiting' || item.state === 'queued'
  // The file can no longer be read, so a retry would fail.
  const lost = item.problem?.code === 'file_changed' ? item.target : null
  return (
    <li
      class={`track upload ${look ?? ''}`}
      data-row={look === undefined ? undefined : ''}
      data-status={isProblem ? 'failed' : 'uploading'}
    >
      <span class="track-text">
        <span class="name">{name}</span>
        <span class={isProblem ? 'note failed' : 'note'}>{text}</span>
      </span>
      {bar && <progress max="1" value={item.fraction} aria-label={fill(texts.progressOf, { name })} />}
      <span class="actions">
        {(item.state === 'uploading' || item.state === 'waiting') && (
          <Button small label={labelOf(texts.pause)} onClick={() => queue?.pause(item)}>
            {texts.pause}
          </Button>
        )}
        {item.state === 'paused' && (
          <Button small label={labelOf(texts.resume)} onClick={() => queue?.resume(item)}>
            {texts.resume}
          </Button>
        )}
        {lost && (
          <Button small label={labelOf('Choose the file')} onClick={() => onChoose(lost.track_id)}>
            Choose the file
          </Button>
        )}
        {item.retriable && !lost && (item.state === 'failed' || item.state === 'cancelled') && (
          <Button small label={labelOf(texts.retry)} onClick={() => queue?.retry(item)}>
            {texts.retry}
          </Button>
        )}
        <Button
          kind="quiet"
          icon="close"
          small
          label={labelOf(item.isUnsent ? texts.cancel : texts.remove)}
          onClick={() => queue?.remove(item)}
        />
      </span>
    </li>
  )
}
