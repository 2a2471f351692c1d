import { EVENT_WINDOW } from '../../contract/facts.ts'
import { REASONS } from '../activity/event.ts'
import type { AttemptError, WebhookDelivery, WebhookEndpoint } from '../api.ts'
import { dateTime, length, plural } from '../format.ts'

/** Returns the health of an endpoint as text. */
export function healthOf({ state, reason, failing_since, last_success_at }: WebhookEndpoint): string {
  if (state !== 'active') return reason ? REASONS[reason] : state
  if (failing_since) return `failing since ${dateTime(failing_since)}`
  return last_success_at ? 'works' : 'nothing sent yet'
}

/** Whether an endpoint needs attention. */
export const isUnwell = ({ state, reason, failing_since }: WebhookEndpoint) =>
  state === 'active' ? failing_since !== null : reason !== 'requested'

/** Returns the deliveries of 24 hours as text. The service counts only the newest: the more endpoints a response has, the fewer of each. */
export function dayText(day: NonNullable<WebhookEndpoint['day']>, endpointCount: number): string {
  const sum = (kind: 'delivered' | 'pending' | 'failed') => day.reduce((all, hour) => all + hour[kind], 0)
  const [delivered, pending, failed] = [sum('delivered'), sum('pending'), sum('failed')]
  const text = [
    `${plural(delivered, 'event')} delivered`,
    ...(pending > 0 ? [`${pending.toLocaleString('en')} pending`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} given up`] : []),
  ].join(', ')
  const isAll = delivered + pending + failed < Math.floor(EVENT_WINDOW / endpointCount)
  return isAll ? `${text} in 24 hours` : `${text}; only the newest were counted`
}

const ERRORS: Record<AttemptError, string> = {
  status: 'not accepted',
  redirect: 'redirected, which is not followed',
  timed_out: 'no answer in time',
  unreachable: 'not reached',
  url_refused: 'nothing is sent to such a URL',
  secret_unreadable: 'its secret cannot be read; make a new one',
}

/** Returns the outcome of an attempt. */
export function outcomeOf({ status, error }: Pick<WebhookDelivery, 'status' | 'error'>): string {
  const words = error ? ERRORS[error] : 'arrived'
  return status === null ? words : `${status}, ${words}`
}

/** Returns the state of a delivery. */
export function stateOf({ state, next_attempt_at, attempt }: WebhookDelivery): string {
  if (state === 'delivered') return 'Delivered'
  if (state === 'failed') return 'Given up'
  if (state === 'sending') return 'Being sent'
  if (!next_attempt_at) return 'Waits for an earlier one'
  const seconds = (Date.parse(next_attempt_at) - Date.now()) / 1000
  if (seconds <= 0) return 'Being sent'
  return `${attempt === 0 ? 'Will be sent' : 'Next try'} in ${length(seconds)}`
}

const SOON = 1500
const LATER = 30_000

/** Returns the milliseconds until the next poll; null if no delivery is pending. */
export function pauseOf(deliveries: Pick<WebhookDelivery, 'state' | 'next_attempt_at'>[]): number | null {
  const until = Date.now() + LATER
  const isSoon = ({ state, next_attempt_at }: (typeof deliveries)[number]) =>
    state === 'sending' || (state === 'pending' && next_attempt_at !== null && Date.parse(next_attempt_at) < until)
  if (deliveries.some(isSoon)) return SOON
  return deliveries.some(({ state }) => state === 'pending') ? LATER : null
}
