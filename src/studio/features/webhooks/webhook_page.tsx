import { useState } from 'preact/hooks'

import type { Failure, WebhookDelivery, WebhookDeliveryState, WebhookEndpoint } from '../../base/api.ts'
import { dateTime, exactTime, explain, listText } from '../../base/format.ts'
import { go, href, type PageProperties } from '../../base/route.ts'
import { t, text, tn } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { usePages } from '../../data/list.ts'
import { useQuery, useRepeat } from '../../data/query.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Menu } from '../../ui/controls/menu.tsx'
import { announce } from '../../ui/page/announce.ts'
import { confirmed } from '../../ui/page/dialog.tsx'
import { Head } from '../../ui/page/head.tsx'
import { More } from '../../ui/page/more.tsx'
import { Tabs } from '../../ui/page/page_head.tsx'
import { Empty, Loading, NotLoaded, NotRenewed } from '../../ui/page/states.tsx'
import { useTitle } from '../../ui/page/title.ts'
import { eventLabel } from '../activity/event.ts'
import { Subject } from '../activity/subject.tsx'
import { NewSecret } from '../keys/new_secret.tsx'
import { DayBar } from './day_bar.tsx'
import { Health } from './health.tsx'
import { outcomeOf, pauseOf, stateOf } from './webhook.ts'
import { WebhookForm } from './webhook_form.tsx'

const TABS = [
  ['', text('All')],
  ['pending', text('Pending')],
  ['failed', text('Given up')],
  ['delivered', text('Delivered')],
] as const
/** The size of a page. The list is polled only while it has one page, because a poll would remove the others. */
const FIRST = 50

/** The page of an endpoint: its health, its actions and its deliveries. */
export function WebhookPage({ id, tab }: PageProperties) {
  const client = useClient()
  const params = { webhook_endpoint_id: id }
  const loaded = useQuery({
    key: ['/v1/webhook_endpoint/{webhook_endpoint_id}', id],
    load: () => client.get('/v1/webhook_endpoint/{webhook_endpoint_id}', { params, query: { include: 'day' } }),
  })
  const endpoint = loaded.answer?.webhook_endpoint
  const list = usePages(['/v1/webhook_delivery', id, tab], async (before: string | undefined) => {
    const query = {
      endpoint_id: id,
      limit: FIRST,
      ...(tab && { state: tab as WebhookDeliveryState }),
      ...(before && { before }),
    }
    const answer = await client.get('/v1/webhook_delivery', { query })
    return answer.ok ? { ok: true as const, entries: answer.webhook_deliveries, next: answer.before } : answer
  })
  useTitle(endpoint?.title)
  const reload = () => Promise.all([loaded.reload(), list.reload()])
  useRepeat(reload, list.entries.length <= FIRST ? pauseOf(list.entries) : null)
  if (!endpoint)
    return (
      <NotLoaded {...loaded}>
        <Loading kind="table" rows={6} />
      </NotLoaded>
    )
  // The other tabs are not polled while deliveries are pending.
  const showAll = () => tab && go('webhook', id)
  return (
    <>
      <NotRenewed {...loaded} />
      <Head
        title={endpoint.title}
        back={{ href: href('webhooks'), label: t('Webhooks') }}
        note={
          <>
            <code>{endpoint.url}</code>
            <br />
            <Health endpoint={endpoint} /> · {listText(endpoint.events.map(eventLabel))}
            {endpoint.is_ordered && ` · ${t('in order')}`}
            {endpoint.previous_secret_expires_at &&
              ` · ${t('old secret until {time}', { time: dateTime(endpoint.previous_secret_expires_at) })}`}
          </>
        }
      >
        <Actions endpoint={endpoint} reloadEndpoint={loaded.reload} reload={reload} showAll={showAll} />
      </Head>
      <DayBar day={endpoint.day} />
      <Tabs page="webhook" id={id} current={tab} tabs={TABS.map(([state, label]) => [state, t(label)] as const)} />
      <More list={list} empty={<Empty title={t('Nothing here')}>{t('Deliveries are kept here for 30 days.')}</Empty>}>
        <Deliveries deliveries={list.entries} />
      </More>
    </>
  )
}

interface ActionProperties {
  endpoint: WebhookEndpoint
  reloadEndpoint: () => Promise<void>
  /** Reads the endpoint and its deliveries again. */
  reload: () => Promise<unknown>
  /** Shows all deliveries. */
  showAll: () => unknown
}

/** Returns the requests that change an endpoint or send events to it. */
function useActions({ endpoint, reload, showAll }: ActionProperties) {
  const client = useClient()
  const params = { webhook_endpoint_id: endpoint.id }
  const isActive = endpoint.state === 'active'

  async function finish(answer: { ok: true } | Failure, done: string) {
    announce(answer.ok ? done : explain(answer))
    await reload()
  }
  async function test() {
    const answer = await client.post('/v1/webhook_endpoint/{webhook_endpoint_id}/test', { params })
    await finish(answer, t('A test event is being sent'))
    if (answer.ok) showAll()
  }
  const resume = async () =>
    finish(await client.post('/v1/webhook_endpoint/{webhook_endpoint_id}/resume', { params }), t('Resumed'))
  const pause = async () =>
    finish(
      await client.put('/v1/webhook_endpoint/{webhook_endpoint_id}', { params, body: { state: 'paused' } }),
      t('Paused'),
    )
  /** Sends all missed events since the endpoint was created. Events that arrived are not sent again. */
  async function recover() {
    const question = {
      title: t('Send missed events?'),
      text: t('All events of the last 30 days that match this webhook, and have not arrived, are sent.'),
      action: t('Send'),
      kind: 'primary',
    } as const
    if (!(await confirmed(question))) return
    let [since, recovered]: [string | null, number] = [endpoint.created_at, 0]
    while (since !== null) {
      const answer: { ok: true; next_since: string | null; recovered: number } | Failure = await client.post(
        '/v1/webhook_endpoint/{webhook_endpoint_id}/recover',
        { params, body: { since } },
      )
      if (!answer.ok) return finish(answer, '')
      since = answer.next_since
      recovered += answer.recovered
    }
    await finish({ ok: true }, recoveredText(recovered, isActive))
    showAll()
  }
  async function remove() {
    const question = {
      title: t('Delete this webhook?'),
      text: t('No more events are sent to {url}, and its deliveries are deleted.', { url: endpoint.url }),
      action: t('Delete webhook'),
    }
    if (!(await confirmed(question))) return
    const answer = await client.delete('/v1/webhook_endpoint/{webhook_endpoint_id}', { params })
    if (!answer.ok) return announce(explain(answer))
    announce(t('{title} deleted', { title: endpoint.title }))
    go('webhooks')
  }
  return { test, resume, pause, recover, remove }
}

function recoveredText(n: number, wasActive: boolean): string {
  if (n === 0) return wasActive ? t('No further events to send') : t('Resumed, no further events to send')
  return tn(
    wasActive
      ? { one: '{n} missed event on the way', other: '{n} missed events on the way' }
      : { one: 'Resumed, {n} missed event on the way', other: 'Resumed, {n} missed events on the way' },
    n,
  )
}

/** The buttons and the menu of an endpoint, with their dialogs. */
function Actions(properties: ActionProperties) {
  const { endpoint, reloadEndpoint } = properties
  const client = useClient()
  const [dialog, setDialog] = useState<'edit' | 'secret' | null>(null)
  const { test, resume, pause, recover, remove } = useActions(properties)
  const isActive = endpoint.state === 'active'
  async function rotate(grace_seconds: number) {
    const params = { webhook_endpoint_id: endpoint.id }
    const body = { grace_seconds }
    const answer = await client.post('/v1/webhook_endpoint/{webhook_endpoint_id}/rotate', { params, body })
    void reloadEndpoint()
    return answer
  }
  function onSaved(title: string) {
    announce(t('{title} saved', { title }))
    setDialog(null)
    void reloadEndpoint()
  }
  const close = () => setDialog(null)
  return (
    <>
      {isActive ? (
        <Button kind="primary" onClick={test}>
          {t('Send a test')}
        </Button>
      ) : (
        <>
          <Button onClick={resume}>{t('Resume')}</Button>
          <Button kind="primary" onClick={recover}>
            {t('Resume and send missed events …')}
          </Button>
        </>
      )}
      <Menu
        label={t('More for {title}', { title: endpoint.title })}
        items={[
          { label: t('Edit …'), onSelect: () => setDialog('edit') },
          { label: t('New secret …'), onSelect: () => setDialog('secret') },
          ...(isActive
            ? [
                { label: t('Send missed events …'), onSelect: recover },
                { label: t('Pause'), onSelect: pause },
              ]
            : []),
          { label: t('Delete webhook …'), danger: true, onSelect: remove },
        ]}
      />
      {dialog === 'edit' && <WebhookForm endpoint={endpoint} onSaved={onSaved} onClose={close} />}
      {dialog === 'secret' && (
        <NewSecret
          title={endpoint.title}
          owner={{ webhook_endpoint_id: endpoint.id }}
          rotate={rotate}
          onClose={close}
        />
      )}
    </>
  )
}

const Deliveries = ({ deliveries }: { deliveries: WebhookDelivery[] }) => (
  <div class="card table-box">
    <table class="stacked" aria-label={t('Deliveries')}>
      <thead>
        <tr>
          <th>{t('Event')}</th>
          <th>{t('Subject')}</th>
          <th>{t('State')}</th>
          <th>{t('Last answer')}</th>
          <th>{t('When')}</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => (
          <tr key={delivery.id}>
            <th scope="row">
              <a href={href('delivery', delivery.id)}>{eventLabel(delivery.type)}</a>
            </th>
            <td data-label={t('Subject')}>
              <Subject subject={delivery.subject} />
            </td>
            <td data-label={t('State')} class={delivery.state === 'failed' ? 'error' : ''}>
              {stateOf(delivery)}
            </td>
            <td data-label={t('Last answer')}>
              {delivery.status === null && delivery.error === null ? '–' : outcomeOf(delivery)}
            </td>
            <td data-label={t('When')}>{exactTime(delivery.created_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
