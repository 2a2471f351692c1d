import { useState } from 'preact/hooks'

import { wordsOf } from '../activity/event.ts'
import { Subject } from '../activity/event_list.tsx'
import type { Failure, WebhookDelivery, WebhookDeliveryState, WebhookEndpoint } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { usePages } from '../data/list.ts'
import { useQuery, useRepeat } from '../data/query.ts'
import { dateTime, exactTime, explain, plural } from '../format.ts'
import { NewSecret } from '../keys/new_secret.tsx'
import { go, href, type PageProperties } from '../route.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { Menu } from '../ui/menu.tsx'
import { More } from '../ui/more.tsx'
import { Back, Tabs } from '../ui/page_head.tsx'
import { Empty, NotLoaded, NotRenewed } from '../ui/states.tsx'
import { useTitle } from '../ui/title.ts'
import { DayBar } from './day_bar.tsx'
import { outcomeOf, pauseOf, stateOf } from './webhook.ts'
import { WebhookForm } from './webhook_form.tsx'
import { Health } from './webhooks_page.tsx'

const TABS = [
  ['', 'All'],
  ['pending', 'Pending'],
  ['failed', 'Given up'],
  ['delivered', 'Delivered'],
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
  if (!endpoint) return <NotLoaded {...loaded} />
  // The other tabs are not polled while deliveries are pending.
  const showAll = () => tab && go('webhook', id)
  return (
    <>
      <NotRenewed {...loaded} />
      <Back href={href('webhooks')} label="Webhooks" />
      <div class="page-head">
        <div class="key-text">
          <h1>{endpoint.title}</h1>
          <code class="soft">{endpoint.url}</code>
          <p class="soft">
            <Health endpoint={endpoint} /> · {endpoint.events.map(wordsOf).join(', ')}
            {endpoint.is_ordered && ' · in order'}
            {endpoint.previous_secret_expires_at &&
              ` · old secret until ${dateTime(endpoint.previous_secret_expires_at)}`}
          </p>
        </div>
        <Actions endpoint={endpoint} reloadEndpoint={loaded.reload} reload={reload} showAll={showAll} />
      </div>
      <DayBar day={endpoint.day} />
      <Tabs page="webhook" id={id} current={tab} tabs={TABS} />
      <More list={list} empty={<Empty title="Nothing here">Deliveries are kept here for 30 days.</Empty>}>
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
    await finish(answer, 'A test event is being sent')
    if (answer.ok) showAll()
  }
  const resume = async () =>
    finish(await client.post('/v1/webhook_endpoint/{webhook_endpoint_id}/resume', { params }), 'Resumed')
  const pause = async () =>
    finish(
      await client.put('/v1/webhook_endpoint/{webhook_endpoint_id}', { params, body: { state: 'paused' } }),
      'Paused',
    )
  /** Sends all missed events since the endpoint was created. Events that arrived are not sent again. */
  async function recover() {
    const title = 'Send missed events?'
    const text = 'All events of the last 30 days that match this webhook, and have not arrived, are sent.'
    if (!(await confirmed({ title, text, action: 'Send', kind: 'primary' }))) return
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
    const sent = recovered === 0 ? 'no further events to send' : `${plural(recovered, 'missed event')} on the way`
    await finish({ ok: true }, isActive ? sent[0]!.toUpperCase() + sent.slice(1) : `Resumed, ${sent}`)
    showAll()
  }
  async function remove() {
    const text = `No more events are sent to ${endpoint.url}, and its deliveries are deleted.`
    if (!(await confirmed({ title: 'Delete this webhook?', text, action: 'Delete webhook' }))) return
    const answer = await client.delete('/v1/webhook_endpoint/{webhook_endpoint_id}', { params })
    if (!answer.ok) return announce(explain(answer))
    announce(`${endpoint.title} deleted`)
    go('webhooks')
  }
  return { test, resume, pause, recover, remove }
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
    announce(`${title} saved`)
    setDialog(null)
    void reloadEndpoint()
  }
  const close = () => setDialog(null)
  return (
    <>
      <div class="actions">
        {isActive ? (
          <Button kind="primary" onClick={test}>
            Send a test
          </Button>
        ) : (
          <>
            <Button onClick={resume}>Resume</Button>
            <Button kind="primary" onClick={recover}>
              Resume and send missed events …
            </Button>
          </>
        )}
        <Menu
          label={`More for ${endpoint.title}`}
          items={[
            { label: 'Edit …', onSelect: () => setDialog('edit') },
            { label: 'New secret …', onSelect: () => setDialog('secret') },
            ...(isActive
              ? [
                  { label: 'Send missed events …', onSelect: recover },
                  { label: 'Pause', onSelect: pause },
                ]
              : []),
            { label: 'Delete webhook …', danger: true, onSelect: remove },
          ]}
        />
      </div>
      {dialog === 'edit' && <WebhookForm endpoint={endpoint} onSaved={onSaved} onClose={close} />}
      {dialog === 'secret' && <NewSecret title={endpoint.title} rotate={rotate} onClose={close} />}
    </>
  )
}

const Deliveries = ({ deliveries }: { deliveries: WebhookDelivery[] }) => (
  <div class="card table-box">
    <table class="stacked" aria-label="Deliveries">
      <thead>
        <tr>
          <th>Event</th>
          <th>Subject</th>
          <th>State</th>
          <th>Last answer</th>
          <th>When</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => (
          <tr key={delivery.id}>
            <th scope="row">
              <a href={href('delivery', delivery.id)}>{wordsOf(delivery.type)}</a>
            </th>
            <td data-label="Subject">
              <Subject subject={delivery.subject} />
            </td>
            <td data-label="State" class={delivery.state === 'failed' ? 'error' : ''}>
              {stateOf(delivery)}
            </td>
            <td data-label="Last answer">
              {delivery.status === null && delivery.error === null ? '–' : outcomeOf(delivery)}
            </td>
            <td data-label="When">{exactTime(delivery.created_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
