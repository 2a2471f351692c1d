import { fractionOf, isUnsent, type Item } from '../../elements/uploader/item.ts'
import { statusOf } from '../../elements/uploader/status.ts'
import { queueOf, texts } from '../state/uploads.ts'
import { Button } from './button.tsx'

/** A file on its way into a collection: its progress, and what can be done about it. */
export function UploadRow({ item, collection_id }: { item: Item; collection_id: string }) {
  const { text, isProblem } = statusOf(item, texts)
  const { name } = item.file
  const queue = queueOf(collection_id)
  const bar = item.state === 'uploading' || item.state === 'waiting' || item.state === 'queued'
  return (
    <li class="track upload" data-status={isProblem ? 'failed' : 'uploading'}>
      <span class="track-text">
        <span class="name">{name}</span>
        <span class={isProblem ? 'note failed' : 'note'}>{text}</span>
      </span>
      {bar && <progress max="1" value={fractionOf(item)} aria-label={texts.progressOf(name)} />}
      <span class="actions">
        {(item.state === 'uploading' || item.state === 'waiting') && (
          <Button small label={texts.of(texts.pause, name)} onClick={() => queue?.pause(item)}>
            {texts.pause}
          </Button>
        )}
        {item.state === 'paused' && (
          <Button small label={texts.of(texts.resume, name)} onClick={() => queue?.resume(item)}>
            {texts.resume}
          </Button>
        )}
        {item.retriable && (item.state === 'failed' || item.state === 'cancelled') && (
          <Button small label={texts.of(texts.retry, name)} onClick={() => queue?.retry(item)}>
            {texts.retry}
          </Button>
        )}
        <Button
          kind="quiet"
          icon="close"
          small
          label={texts.of(isUnsent(item) ? texts.cancel : texts.remove, name)}
          onClick={() => queue?.remove(item)}
        />
      </span>
    </li>
  )
}
