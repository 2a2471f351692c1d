import type { WebhookAttempt } from '../../base/api.ts'
import { exactTime, explain, length } from '../../base/format.ts'
import { href, type PageProperties } from '../../base/route.ts'
import { t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { useQuery } from '../../data/query.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Fold } from '../../ui/controls/fold.tsx'
import { announce } from '../../ui/page/announce.ts'
import { Copyable } from '../../ui/page/copyable.tsx'
import { Head } from '../../ui/page/head.tsx'
import { NotLoaded, NotRenewed } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { eventLabel } from '../activity/event.ts'
import { Subject } from '../activity/subject.tsx'
import { outcomeOf, pauseOf, stateOf } from './webhook.ts'

/** The page of a delivery: each attempt with its request and response. */
export function DeliveryPage({ id }: PageProperties) {
  const client = useClient()
  const params = { webhook_delivery_id: id }
  const loaded = useQuery({
    key: ['/v1/webhook_delivery/{webhook_delivery_id}', id],
    load: () => client.get('/v1/webhook_delivery/{webhook_delivery_id}', { params }),
    every: ({ webhook_delivery }) => pauseOf([webhook_delivery]),
  })
  const delivery = loaded.answer?.webhook_delivery
  useTitle(delivery && eventLabel(delivery.type))
  if (!delivery) return <NotLoaded {...loaded} />

  async function sendAgain() {
    const answer = await client.post('/v1/webhook_delivery/{webhook_delivery_id}/replay', { params })
    announce(answer.ok ? t('Sending again') : explain(answer))
    await loaded.reload()
  }
  return (
    <>
      <NotRenewed {...loaded} />
      <Head
        title={eventLabel(delivery.type)}
        back={{ href: href('webhook', delivery.endpoint_id), label: t('Webhook') }}
        note={
          <>
            <Subject subject={delivery.subject} /> · {exactTime(delivery.created_at)}
          </>
        }
      >
        <Button kind="primary" disabled={delivery.state === 'sending'} onClick={sendAgain}>
          {t('Send again')}
        </Button>
      </Head>
      <section class="card timeline" aria-labelledby="attempts-title">
        <h2 id="attempts-title">{t('Attempts')}</h2>
        <ol>
          {delivery.attempts.map((attempt, at) => (
            <Attempt key={at} attempt={attempt} />
          ))}
          <li class={delivery.state}>
            <strong role="status">{stateOf(delivery)}</strong>
            {delivery.next_attempt_at && <span class="soft">{exactTime(delivery.next_attempt_at)}</span>}
          </li>
        </ol>
      </section>
      <section class="card sent" aria-labelledby="sent-title">
        <h2 id="sent-title">{t('Request')}</h2>
        <Copyable label="webhook-id" value={delivery.event_id} />
        <Copyable label={t('Body')} value={delivery.body} />
      </section>
    </>
  )
}

const Attempt = ({ attempt }: { attempt: WebhookAttempt }) => (
  <li class={attempt.error ? 'failed' : 'delivered'}>
    <strong>{outcomeOf(attempt)}</strong>
    <span class="soft">
      {exactTime(attempt.at)} ·{' '}
      {attempt.duration_ms < 1000 ? t('{n} ms', { n: attempt.duration_ms }) : length(attempt.duration_ms / 1000)}
    </span>
    {attempt.answer && (
      <pre tabIndex={0} aria-label={t('Answer')}>
        {attempt.answer}
      </pre>
    )}
    {Object.keys(attempt.headers).length > 0 && (
      <Fold title={t('Headers')}>
        <pre tabIndex={0} aria-label={t('Headers')}>
          {Object.entries(attempt.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </pre>
      </Fold>
    )}
  </li>
)
