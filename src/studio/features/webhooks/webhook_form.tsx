import { useState } from 'preact/hooks'

import { MAX_WEBHOOK_URL } from '../../../contract/facts.ts'
import type { WebhookEndpoint } from '../../base/api.ts'
import { type Faults, faultsOf } from '../../base/format.ts'
import { t, text } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Check, TextField } from '../../ui/controls/field.tsx'
import { Form } from '../../ui/controls/form.tsx'
import { SelectField } from '../../ui/controls/select.tsx'
import { Cancel, Dialog, DISCARD } from '../../ui/page/dialog.tsx'
import { Message } from '../../ui/page/states.tsx'
import { isWithin, PATTERNS, eventLabel } from '../activity/event.ts'
import { LOSES_SECRET, Secret } from '../keys/secret.tsx'

const SCOPES = [
  ['all', text('Everything')],
  ['some', text('Only chosen events')],
] as const

interface Properties {
  /** Null to create one. */
  endpoint: WebhookEndpoint | null
  onSaved: (title: string) => void
  onClose: () => void
}

/** A new endpoint with its secret. */
interface Made {
  secret: string
  webhook_endpoint_id: string
}

/** A dialog that creates an endpoint and shows its secret once, or changes an endpoint. */
export function WebhookForm({ endpoint, onSaved, onClose }: Properties) {
  const client = useClient()
  const before = endpoint ?? { url: '', title: '', events: ['*'], is_ordered: false }
  const [url, setUrl] = useState(before.url)
  const [title, setTitle] = useState(before.title)
  const [events, setEvents] = useState<string[]>(before.events)
  const [ordered, setOrdered] = useState(before.is_ordered)
  const [made, setMade] = useState<Made | null>(null)
  const [faults, setFaults] = useState<Faults>({})
  const changed =
    url !== before.url ||
    title !== before.title ||
    ordered !== before.is_ordered ||
    events.join() !== before.events.join()

  async function save() {
    if (events.length === 0) return setFaults({ events: t('Choose at least one.') })
    const body = { url: url.trim(), events: events as ['*'], is_ordered: ordered }
    // The service derives a title from the host only for a new endpoint.
    const name = title.trim() || (endpoint && URL.parse(body.url)?.hostname)
    const titled = name ? { title: name } : {}
    const answer = endpoint
      ? await client.put('/v1/webhook_endpoint/{webhook_endpoint_id}', {
          params: { webhook_endpoint_id: endpoint.id },
          body: differing(endpoint, { ...body, ...titled }),
        })
      : await client.post('/v1/webhook_endpoint', { body: { ...body, ...titled } })
    if (!answer.ok) return setFaults(faultsOf(answer, ['url', 'title', 'events']))
    if ('secret' in answer) setMade(answer as Made)
    onSaved(answer.webhook_endpoint.title)
  }
  if (made)
    return (
      <Dialog title={t('The secret of this webhook')} asks={LOSES_SECRET} onClose={onClose}>
        <Secret secret={made.secret} owner={made} onClose={onClose} />
      </Dialog>
    )
  return (
    <Dialog
      title={endpoint ? t('Edit {name}', { name: endpoint.title }) : t('New webhook')}
      asks={changed && DISCARD}
      onClose={onClose}
    >
      <Form noValidate onSubmit={save}>
        <TextField
          label={t('URL')}
          value={url}
          onInput={setUrl}
          error={faults.url}
          required
          maxLength={MAX_WEBHOOK_URL}
          placeholder="https://hooks.example.com/tonearm"
          hint={t('An https address on your server. Events are sent to it with POST.')}
        />
        <TextField
          label={t('Title')}
          value={title}
          onInput={setTitle}
          error={faults.title}
          placeholder={t('Derived from the URL if empty')}
        />
        <EventsField before={before.events} events={events} onChange={setEvents} error={faults.events} />
        <Check
          label={t(
            'In order: an event waits until the earlier ones of the same track, collection or playlist have arrived',
          )}
          checked={ordered}
          onChange={setOrdered}
        />
        <Message>{faults.other}</Message>
        <div class="actions end">
          <Cancel />
          <Button type="submit" kind="primary" disabled={url.trim() === ''}>
            {endpoint ? t('Save') : t('Create webhook')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

interface EventsProperties {
  /** The patterns before the dialog was opened. */
  before: string[]
  events: string[]
  onChange: (events: string[]) => void
  error: string | undefined
}

/** The field for the events that an endpoint receives: all events, or the chosen groups and types. */
function EventsField({ before, events, onChange, error }: EventsProperties) {
  const all = events.includes('*')
  // Patterns that were chosen with the API, and are not offered here, are kept.
  const others = before.filter((pattern) => pattern !== '*' && !PATTERNS.includes(pattern))
  function choose(pattern: string, wanted: boolean) {
    const chosen = wanted ? [...events, pattern] : events.filter((one) => one !== pattern)
    // A group includes its types.
    onChange(chosen.filter((one) => !isWithin(one, chosen)))
  }
  return (
    <>
      <SelectField
        label={t('Events')}
        value={all ? 'all' : 'some'}
        options={SCOPES.map(([scope, label]) => [scope, t(label)] as const)}
        onChange={(value) => onChange(value === 'all' ? ['*'] : before.filter((one) => one !== '*'))}
        error={error}
      />
      {!all && (
        <fieldset class="choices checks">
          <legend class="visually-hidden">{t('Events')}</legend>
          {[...PATTERNS, ...others]
            .filter((pattern) => !isWithin(pattern, events))
            .map((pattern) => (
              <Check
                key={pattern}
                label={
                  <>
                    {eventLabel(pattern)} <code class="soft">{pattern}</code>
                  </>
                }
                checked={events.includes(pattern)}
                onChange={(wanted) => choose(pattern, wanted)}
              />
            ))}
        </fieldset>
      )}
    </>
  )
}

/** Returns only the changed fields, because someone else may have changed the others in the meantime. */
const differing = <T extends object>(before: Record<keyof T, unknown>, after: T) =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => String(value) !== String(before[name as keyof T])),
  ) as Partial<T>
