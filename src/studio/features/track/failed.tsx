import type { Track } from '../../base/api.ts'
import { t, text } from '../../base/text.ts'
import { failureOf, infoOf, remedyFor } from '../../data/track_text.ts'
import { wasInterrupted } from '../../data/uploads.ts'
import { Button } from '../../ui/controls/button.tsx'

/** The formats of docs/processing.md#accepted-files that people know. */
const FORMATS = [
  text('Lossless: WAV, AIFF, FLAC, ALAC, WavPack, Monkey’s Audio'),
  text('Lossy: MP3, AAC (M4A), Ogg Vorbis, Opus, WMA, AC-3'),
  text('Videos with sound: MP4, MOV, WebM, Matroska, AVI'),
]

interface Properties {
  track: Track
  onRetry: () => unknown
  onReplace: () => unknown
}

/** Shown instead of the details of a track that has no audio: the cause, the remedy, and the button for it. */
export function FailedCard({ track, onRetry, onReplace }: Properties) {
  const remedy = track.status === 'initializing' ? 'send' : remedyFor(infoOf(track))
  const cause = track.status === 'failed' ? failureOf(infoOf(track)) : ''
  const remedies = {
    retry: t('The file itself is probably fine. Process it again; if that fails as well, ask the operator.'),
    replace: t('Choose another file. The track keeps its place, its title and its links.'),
    send: t('Choose {file} again. If a part of it has arrived already, only the rest is sent.', {
      file: track.file_name,
    }),
  }
  return (
    <section class="failed-card" aria-labelledby="failed-title">
      <h2 id="failed-title">{titleOf(track)}</h2>
      {cause && <p>{cause}</p>}
      <p>{remedies[remedy]}</p>
      <div class="actions">
        {remedy === 'retry' ? (
          <Button kind="primary" onClick={onRetry}>
            {t('Process again')}
          </Button>
        ) : (
          <Button kind="primary" icon="upload" onClick={onReplace}>
            {remedy === 'send' ? t('Choose the file') : t('Replace file')}
          </Button>
        )}
      </div>
      {remedy === 'replace' && (
        <div class="soft">
          <p>{t('These formats work:')}</p>
          <ul>
            {FORMATS.map((format) => (
              <li key={format}>{t(format)}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

function titleOf({ status, id, file_name }: Track): string {
  if (status === 'failed') return t('{file} could not be used', { file: file_name })
  return wasInterrupted(id) ? t('The upload was interrupted') : t('The file has not arrived yet')
}
