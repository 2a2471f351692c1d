import { EVENT_WINDOW } from '../../../contract/facts.ts'
import type { AttemptError, WebhookDelivery, WebhookEndpoint } from '../../base/api.ts'
import { dateTime, length, listText } from '../../base/format.ts'
import { t, text, tn } from '../../base/text.ts'
import { REASONS } from '../activity/event.ts'

/** Returns the health of an endpoint as text. */
export function healthOf({ state, reason, failing_since, last_success_at }: WebhookEndpoint): string {
  if (state !== 'active') return t(reason ? REASONS[reason] : state)
  if (failing_since) return t('failing since {time}', { time: dateTime(failing_since) })
  return last_success_at ? t('works') : t('nothing sent yet')
}

/** Whether an endpoint needs attention. */
export const isUnwell = ({ state, reason, failing_since }: WebhookEndpoint) =>
  state === 'active' ? failing_since !== null : reason !== 'requested'

/** Returns the deliveries of 24 hours as text. The service counts only the newest: the more endpoints a response has, the fewer of each. */
export function dayText(day: NonNullable<WebhookEndpoint['day']>, endpointCount: number): string {
  const sum = (kind: 'delivered' | 'pending' | 'failed') => day.reduce((all, hour) => all + hour[kind], 0)
  const [delivered, pending, failed] = [sum('delivered'), sum('pending'), sum('failed')]
  const events = listText([
    tn({ one: '{n} event delivered', other: '{n} events delivered' }, delivered),
    ...(pending > 0 ? [tn({ one: '{n} pending', other: '{n} pending' }, pending)] : []),
    ...(failed > 0 ? [tn({ one: '{n} given up', other: '{n} given up' }, failed)] : []),
  ])
  const isAll = delivered + pending + failed < Math.floor(EVENT_WINDOW / endpointCount)
  return isAll ? t('{events} in 24 hours', { events }) : t('{events}; only the newest were counted', { events })
}

const ERRORS: Record<AttemptError, string> = {
  status: text('not accepted'),
  redirect: text('redirected, which is not followed'),
  timed_out: text('no answer in time'),
  unreachable: text('not reached'),
  url_refused: text('nothing is sent to such a URL'),
  secret_unreadable: text('its secret cannot be read; make a new one'),
}

/** Returns the outcome of an attempt. */
export function outcomeOf({ status, error }: Pick<WebhookDelivery, 'status' | 'error'>): string {
  const words = error ? t(ERRORS[error]) : t('arrived')
  return status === null ? words : `${status}, ${words}`
}

/** Returns the state of a delivery. */
export function stateOf({ state, next_attempt_at, attempt }: WebhookDelivery): string {
  if (state === 'delivered') return t('Delivered')
  if (state === 'failed') return t('Given up')
  if (state === 'sending') return t('Being sent')
  if (!next_attempt_at) return t('Waits for an earlier one')
  const seconds = (Date.parse(next_attempt_at) - Date.now()) / 1000
  if (seconds <= 0) return t('Being sent')
  const time = length(seconds)
  return attempt === 0 ? t('Will be sent in {time}', { time }) : t('Next try in {time}', { time })
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
