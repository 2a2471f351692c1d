import type { WebhookEndpoint } from '../../base/api.ts'
import { date, dateTime, listText } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { eventLabel } from '../activity/event.ts'
import { DayBar } from './day_bar.tsx'
import { Health } from './health.tsx'

/** The webhooks of the organization, with their health and the deliveries of the last day. */
export const WebhookTable = ({ endpoints }: { endpoints: readonly WebhookEndpoint[] }) => (
  <div class="table-box">
    <table class="stacked key-table webhook-table" aria-label={t('Webhooks')}>
      <thead>
        <tr>
          <th>{t('Title')}</th>
          <th>{t('State')}</th>
          <th>{t('Events')}</th>
          <th>{t('Last success')}</th>
          <th>{t('Last 24 hours')}</th>
        </tr>
      </thead>
      <tbody>
        {endpoints.map((endpoint) => (
          <Row key={endpoint.id} endpoint={endpoint} count={endpoints.length} />
        ))}
      </tbody>
    </table>
  </div>
)

const Row = ({ endpoint, count }: { endpoint: WebhookEndpoint; count: number }) => {
  const { id, title, url, events, day, last_success_at } = endpoint
  return (
    <tr>
      <th scope="row">
        <span class="key-name">
          <a class="name" href={href('webhook', id)} dir="auto">
            {title}
          </a>
          <span class="hint">{url}</span>
        </span>
      </th>
      <td data-label={t('State')}>
        <Health endpoint={endpoint} />
      </td>
      <td data-label={t('Events')}>
        <span class="key-name">{listText(events.map(eventLabel))}</span>
      </td>
      <td data-label={t('Last success')}>
        <span title={last_success_at ? dateTime(last_success_at) : undefined}>
          {last_success_at ? date(last_success_at) : t('never')}
        </span>
      </td>
      <td data-label={t('Last 24 hours')}>
        <DayBar day={day} endpointCount={count} />
      </td>
    </tr>
  )
}
