import type { ApiKey } from '../../base/api.ts'
import { bytes, explain, number, time } from '../../base/format.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { Meter } from '../../ui/charts/meter.tsx'

/** Shows what an uploader key has added today, and its limits. */
export function KeyUse({ api_key: { id } }: { api_key: ApiKey }) {
  const client = useClient()
  const { answer, problem } = useQuery({
    key: ['/v1/api_key/{api_key_id}', id],
    load: () => client.get('/v1/api_key/{api_key_id}', { params: { api_key_id: id } }),
  })
  if (problem)
    return <span class="soft">{t('Its use could not be loaded: {reason}', { reason: explain(problem) })}</span>
  const quota = answer?.quota
  const note = quota?.resets_at ? t('resets at {time}', { time: time(quota.resets_at) }) : undefined
  return (
    <div class="key-use">
      {quota && (
        <>
          <Meter label={t('Data today')} used={quota.used_bytes} limit={quota.max_bytes} format={bytes} note={note} />
          <Meter label={t('Tracks today')} used={quota.used_tracks} limit={quota.max_tracks} format={number} />
        </>
      )}
    </div>
  )
}
