import type { WebhookEndpoint } from '../../base/api.ts'
import { healthOf, isUnwell } from './webhook.ts'

/** The health of an endpoint, in red if it needs attention. */
export const Health = ({ endpoint }: { endpoint: WebhookEndpoint }) => (
  <span class={isUnwell(endpoint) ? 'error' : ''}>{healthOf(endpoint)}</span>
)
