import { useState } from 'preact/hooks'

import { wordsOf } from '../activity/event.ts'
import type { WebhookEndpoint } from '../api.ts'
import { useList } from '../data/list.ts'
import { listText, plural } from '../format.ts'
import { href } from '../route.ts'
import { t } from '../text.ts'
import { Button } from '../ui/button.tsx'
import { Empty, Loading, Problem } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'
import { DayBar } from './day_bar.tsx'
import { healthOf, isUnwell } from './webhook.ts'
import { WebhookForm } from './webhook_form.tsx'

/** The page Webhooks: all endpoints and their health. */
export function WebhooksPage() {
  const { entries, count, loading, problem, reload } = useList(
    '/v1/webhook_endpoint',
    ({ webhook_endpoints }) => webhook_endpoints,
    { query: { include: 'day' } },
  )
  const [making, setMaking] = useState(false)
  useTitle(t('Webhooks'))
  const isEmpty = !loading && !problem && entries.length === 0
  const button = (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      {t('New webhook')}
    </Button>
  )
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t('Webhooks')}</h1>
          {entries.length > 0 && <p class="soft">{plural(count, 'webhook')}</p>}
        </div>
        {!isEmpty && button}
      </div>
      {problem && <Problem failure={problem} retry={reload} />}
      {loading && <Loading rows={3} />}
      {isEmpty && (
        <Empty title={t('No webhooks yet')} action={button}>
          {t('A webhook is a URL of your server that receives events, for example when a track is ready.')}
        </Empty>
      )}
      <ul class="keys" aria-label={t('Webhooks')}>
        {entries.map((endpoint) => (
          <EndpointRow key={endpoint.id} endpoint={endpoint} endpointCount={entries.length} />
        ))}
      </ul>
      {making && <WebhookForm endpoint={null} onSaved={reload} onClose={() => setMaking(false)} />}
    </>
  )
}

const EndpointRow = ({ endpoint, endpointCount }: { endpoint: WebhookEndpoint; endpointCount: number }) => (
  <li class="card webhook">
    <div class="key-text">
      <a class="name" href={href('webhook', endpoint.id)}>
        {endpoint.title}
      </a>
      <span class="soft">{endpoint.url}</span>
      <span class="soft">
        <Health endpoint={endpoint} /> · {listText(endpoint.events.map(wordsOf))}
      </span>
    </div>
    <DayBar day={endpoint.day} endpointCount={endpointCount} />
  </li>
)

/** The health of an endpoint, in red if it needs attention. */
export const Health = ({ endpoint }: { endpoint: WebhookEndpoint }) => (
  <span class={isUnwell(endpoint) ? 'error' : ''}>{healthOf(endpoint)}</span>
)
