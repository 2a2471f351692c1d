import type { Failure, TonearmEvent } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { eventsBefore } from '../data/events.ts'
import { useList, usePages } from '../data/list.ts'
import { bytes, clock, exactTime, plural } from '../format.ts'
import { href } from '../route.ts'
import { More } from '../ui/more.tsx'
import { Empty } from '../ui/states.tsx'
import { REASONS, wordsOf } from './event.ts'

/** The page of the studio that shows the subject of an event, by the kind of the subject. */
const PAGES: Record<string, string> = {
  track: 'track',
  collection: 'collection',
  playlist: 'playlist',
  webhook_endpoint: 'webhook',
}

/** The filter of the events. */
export interface EventFilter {
  type?: 'track.*'
  subject?: string
}

/** A table of events, newest first. */
export function EventList({ filter, label }: { filter: EventFilter; label: string }) {
  const client = useClient()
  const list = usePages(['/v1/event', filter], (from: number | undefined) =>
    eventsBefore<Failure>((query) => client.get('/v1/event', { query: { ...filter, ...query } }), from),
  )
  const { entries: keys } = useList('/v1/api_key', ({ api_keys }) => api_keys)
  function nameOf(actor: string | null): string {
    if (actor === null) return 'Tonearm'
    if (actor === 'root') return 'The operator'
    const id = actor.replace('api_key:', '')
    return keys.find((key) => key.id === id)?.title ?? `Key ${id.slice(0, 8)}`
  }
  return (
    <More list={list} empty={<Empty title="Nothing yet">Events are kept here for 30 days.</Empty>}>
      <div class="card table-box">
        <table class="stacked" aria-label={label}>
          <thead>
            <tr>
              <th>Event</th>
              {!filter.subject && <th>Subject</th>}
              <th>By</th>
              <th>When</th>
            </tr>
          </thead>
          <tbody>
            {list.entries.map((event) => (
              <tr key={event.id}>
                <th scope="row" class="reason">
                  {wordsOf(event.type)}
                  <span class="soft">{factsOf(event)}</span>
                </th>
                {!filter.subject && (
                  <td data-label="Subject">
                    <Subject subject={event.subject} />
                  </td>
                )}
                <td data-label="By">{nameOf(event.actor)}</td>
                <td data-label="When">
                  <time dateTime={event.timestamp}>{exactTime(event.timestamp)}</time>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </More>
  )
}

/** The subject of an event: its kind and the start of its id, which are known without a request. */
export function Subject({ subject }: { subject: string }) {
  const [kind = '', id = ''] = subject.split(':')
  const text = `${kind.replace('api_key', 'key').replace('_endpoint', '')} ${id.slice(0, 8)}`
  return PAGES[kind] ? <a href={href(PAGES[kind], id)}>{text}</a> : <>{text}</>
}

/** Returns the details of an event as text. */
function factsOf({ data }: TonearmEvent): string {
  const facts = data as Partial<Record<string, string | number | boolean | string[] | null>>
  const details: [string, string | number | boolean | string[] | null | undefined][] = [
    ['', facts.organization_index],
    ['', Array.isArray(facts.changed) && facts.changed.join(', ')],
    ['', facts.error],
    ['', REASONS[facts.reason as keyof typeof REASONS]],
    ['lacks ', Array.isArray(facts.failed_variants) && facts.failed_variants.join(', ')],
    ['', typeof facts.duration === 'number' && clock(facts.duration)],
    ['', facts.is_restored && 'from the trash'],
    ['', facts.is_trashed && 'into the trash'],
    ['', useOf(facts.used_bytes, facts.max_bytes, bytes)],
    ['', useOf(facts.used_tracks, facts.max_tracks, (tracks) => plural(tracks, 'track'))],
  ]
  return details.flatMap(([label, value]) => (value ? [label + String(value)] : [])).join(' · ')
}

/** Returns the use of a quota, such as `16 GB of 20 GB`; an empty text if it has no limit. */
const useOf = (used: unknown, limit: unknown, format: (value: number) => string) =>
  typeof used === 'number' && typeof limit === 'number' ? `${format(used)} of ${format(limit)}` : ''
