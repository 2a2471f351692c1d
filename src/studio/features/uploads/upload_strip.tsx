import { joined, length } from '../../base/format.ts'
import { t, tn } from '../../base/text.ts'
import { useCollectionSummary } from './use_summary.ts'

/** One line above the tracks of a collection while files are uploaded into it and processed. */
export function UploadStrip({ id }: { id: string }) {
  const { working, waiting, failed, ready, left, seconds } = useCollectionSummary(id)
  const total = working + waiting + failed + ready
  if (working + waiting === 0) return null
  const fraction = Math.max(0, 1 - left / (2 * total))
  const parts = [
    t('{ready} of {total} ready', { ready, total }),
    failed > 0 && tn({ one: '{n} failed', other: '{n} failed' }, failed),
    seconds !== null && t('about {time} left', { time: length(seconds) }),
  ]
  return (
    <div class="upload-strip" role="group" aria-label={t('Uploads')}>
      <p>{joined(parts)}</p>
      <progress value={fraction} aria-label={t('Progress of the uploads')} />
    </div>
  )
}
