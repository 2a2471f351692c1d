import { Loading, Problem } from '../parts/states.tsx'
import { formatOf } from '../parts/track_details.tsx'
import { useAll } from '../state/all.ts'
import { useTitle } from '../title.ts'

const USES: Record<string, string> = {
  transcode: 'Listening',
  preview: 'Preview',
  waveform: 'Waveform',
  analysis: 'Analysis',
  original: 'Original',
}

/** What every track is made into. */
export function VariantsPage() {
  const { entries, loading, problem, reload } = useAll('/v1/variant', ({ variants }) => variants)
  useTitle('Variants')
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Variants</h1>
          <p class="soft">What every track is made into. Nothing is made better than its source.</p>
        </div>
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading rows={6} />}
      {entries.length > 0 && (
        <div class="card table-box">
          <table class="variants">
            <thead>
              <tr>
                <th>Name</th>
                <th>Index</th>
                <th>For</th>
                <th>Format</th>
                <th class="number">Bitrate</th>
              </tr>
            </thead>
            <tbody>
              {entries.map(({ id, name, index, type, format, bitrate }) => (
                <tr key={id}>
                  <td>{name}</td>
                  <td>
                    <code>{index}</code>
                  </td>
                  <td>{USES[type] ?? type}</td>
                  <td>{formatOf(format)}</td>
                  <td class="number">{bitrate > 0 ? `${bitrate} kbit/s` : '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}
