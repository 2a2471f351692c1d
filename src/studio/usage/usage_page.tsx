import { useClient } from '../data/connection.ts'
import { useQuery } from '../data/query.ts'
import { bytes, length } from '../format.ts'
import { Figures, NumberCell, NumberTable } from '../ui/figures.tsx'
import { Meter } from '../ui/meter.tsx'
import { NotLoaded } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'

/** The page Usage: the storage of the organization, its limit, and the size of each variant. */
export function UsagePage() {
  const client = useClient()
  const { answer, problem, reload } = useQuery({ key: ['/v1/usage'], load: () => client.get('/v1/usage') })
  useTitle('Usage')
  if (!answer) return <NotLoaded problem={problem} reload={reload} />
  const { usage, quota } = answer
  return (
    <>
      <div class="page-head">
        <div>
          <h1>Usage</h1>
          <p class="soft">What your organization stores.</p>
        </div>
      </div>
      <Figures
        figures={[
          ['Tracks', usage.tracks.toLocaleString('en')],
          ['Length', usage.tracks > 0 ? length(usage.duration) : '–'],
          ['Stored', bytes(usage.bytes.total)],
          ['Uploaded files', bytes(usage.bytes.original)],
        ]}
      />
      {quota.max_bytes !== null && (
        <section class="card storage" aria-labelledby="storage-title">
          <h2 id="storage-title">Storage limit</h2>
          <Meter label="Storage" used={quota.used_bytes} limit={quota.max_bytes} format={bytes} />
          <p class="soft">
            Includes tracks in the trash, files that are not processed yet, and uploads that are in progress. Uploads
            that do not fit are rejected. The operator of this service sets the limit.
          </p>
        </section>
      )}
      {usage.variants.length > 0 && (
        <section class="table-group" aria-labelledby="variants-title">
          <h2 id="variants-title">By variant</h2>
          <NumberTable head={['Variant', 'Files', 'Size']}>
            {usage.variants.map(({ variant, bytes: size, files }) => (
              <tr key={variant}>
                <th scope="row">{variant}</th>
                <NumberCell label="Files">{files.toLocaleString('en')}</NumberCell>
                <NumberCell label="Size">{bytes(size)}</NumberCell>
              </tr>
            ))}
          </NumberTable>
        </section>
      )}
    </>
  )
}
