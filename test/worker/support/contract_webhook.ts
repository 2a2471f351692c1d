import { HOUR } from './api.ts'
import { ENVELOPE } from './contract_keys.ts'
import { UNREACHABLE_URL } from './webhooks.ts'

const ENDPOINT =
  'id url title events is_ordered state reason failing_since last_success_at previous_secret_expires_at created_at'
const DELIVERY = 'id endpoint_id event_id type subject seq state attempt status error next_attempt_at created_at'
const endpointKeys = { '': `${ENVELOPE} webhook_endpoint_id webhook_endpoint`, webhook_endpoint: ENDPOINT }
const withSecret = { ...endpointKeys, '': `${endpointKeys['']} secret` }
const oneDelivery = { '': `${ENVELOPE} webhook_delivery_id webhook_delivery`, webhook_delivery: DELIVERY }

/** A valid call to each webhook operation (see contract_cases.ts). */
export const webhookCases = {
  listWebhookEndpoints: { keys: { '': `${ENVELOPE} count webhook_endpoints`, 'webhook_endpoints.0': ENDPOINT } },
  createWebhookEndpoint: { body: () => ({ url: UNREACHABLE_URL }), keys: withSecret },
  getWebhookEndpoint: { keys: endpointKeys },
  updateWebhookEndpoint: { body: () => ({ title: 'Changed' }), keys: endpointKeys },
  deleteWebhookEndpoint: {
    keys: { '': `${ENVELOPE} webhook_endpoint_id deleted_webhook_endpoint`, deleted_webhook_endpoint: ENDPOINT },
  },
  rotateWebhookEndpoint: { body: () => ({}), keys: withSecret },
  testWebhookEndpoint: { keys: oneDelivery },
  resumeWebhookEndpoint: { keys: endpointKeys },
  recoverWebhookEndpoint: {
    body: () => ({ since: new Date(Date.now() - HOUR).toISOString() }),
    keys: { ...endpointKeys, '': `${endpointKeys['']} recovered next_since` },
  },
  listWebhookDeliveries: { keys: { '': `${ENVELOPE} webhook_deliveries before`, 'webhook_deliveries.0': DELIVERY } },
  getWebhookDelivery: { keys: { ...oneDelivery, webhook_delivery: `${DELIVERY} attempts body` } },
  replayWebhookDelivery: { keys: oneDelivery },
}
