import type { Track } from '../../base/api.ts'
import { bytes } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { infoOf } from '../../data/track_text.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Loading, Problem } from '../../ui/page/states.tsx'
import { downloadFile, type TrackFiles } from './use_files.ts'

/** The files of a track, each with its size and a button that downloads it, and why a variant is missing. */
export function Files({ track, files, problem, reload, nameOf }: { track: Track } & TrackFiles) {
  const client = useClient()
  const { skipped_variants = [] } = infoOf(track)
  return (
    <section class="part" aria-labelledby="files-title">
      <h2 id="files-title">{t('Files')}</h2>
      {problem && <Problem failure={problem} retry={reload} />}
      {!files && !problem && <Loading />}
      {files?.length === 0 && <p class="soft">{t('No files yet.')}</p>}
      {files && files.length > 0 && (
        <table class="files">
          <thead class="visually-hidden">
            <tr>
              <th>{t('Variant')}</th>
              <th>{t('Format')}</th>
              <th>{t('Size')}</th>
              <th>{t('Download')}</th>
            </tr>
          </thead>
          <tbody>
            {files.map(({ index, name, format, bitrate, size }) => (
              <tr key={index}>
                <th scope="row">
                  {name} <code class="soft">{index}</code>
                </th>
                <td class="soft">{bitrate > 0 ? t('{format}, {n} kbit/s', { format, n: bitrate }) : format}</td>
                <td class="number">{bytes(size)}</td>
                <td>
                  <Button
                    kind="quiet"
                    icon="download"
                    label={t('Download {name}', { name })}
                    onClick={() => downloadFile(client, track.id, files, index)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {skipped_variants.map(({ index, reason }) => (
        <p key={index} class="hint">
          {t('{name} was not made: {reason}', { name: nameOf(index), reason })}
        </p>
      ))}
    </section>
  )
}
