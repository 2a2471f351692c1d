import type { Failure, TonearmEvent } from '../api.ts'
import { useClient } from '../data/connection.ts'
import { eventsBefore } from '../data/events.ts'
import { useList } from '../data/list.ts'
import { usePages } from '../data/list.ts'
import { bytes, clock, exactTime, plural } from '../format.ts'
import { href } from '../route.ts'
import { More } from '../ui/more.tsx'
import { Empty } from '../ui/states.tsx'
import { REASONS, wordsOf } from './event.ts'

/** Pages of the studio that show what an event is about, by its subject's kind. */
const PAGES: Record<string, string> = {
  track: 'track',
  collection: 'collection',
  playlist: 'playlist',
  webhook_endpoint: 'webhook',
}

/** What of the feed is asked for. */
export interface Asked {
  type?: 'track.*'
  subject?: string
}

/** What has happened, newest first: when, what, to what, and who has done it. */
export function EventList({ asked, label }: { asked: Asked; label: string }) {
  const client = useClient()
  const list = usePages(['/v1/event', asked], (from: number | undefined) =>
    eventsBefore<Failure>((query) => client.get('/v1/event', { query: { ...asked, ...query } }), from),
  )
  const { entries: keys } = useList('/v1/api_key', ({ api_keys }) => api_keys)
  function nameOf(actor: string | null): string {
    if (actor === null) return 'Tonearm'
    if (actor === 'root') return 'The operator'
    const id = actor.replace('api_key:', '')
    return keys.find((key) => key.id === id)?.title ?? `Key ${id.slice(0, 8)}`
  }
  return (
    <More list={list} empty={<Empty title="Nothing yet">What happens is kept here for 30 days.</Empty>}>
      <div class="card table-box">
        <table class="stacked" aria-label={label}>
          <thead>
            <tr>
              <th>What</th>
              {!asked.subject && <th>Subject</th>}
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
                {!asked.subject && (
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

/** What an event is about, as far as it is known without asking: its kind, and the beginning of its id. */
export function Subject({ subject }: { subject: string }) {
  const [kind = '', id = ''] = subject.split(':')
  const text = `${kind.replace('api_key', 'key').replace('_endpoint', '')} ${id.slice(0, 8)}`
  return PAGES[kind] ? <a href={href(PAGES[kind], id)}>{text}</a> : <>{text}</>
}

/** What an event says beside its subject. */
function factsOf({ data }: TonearmEvent): string {
  const facts = data as Partial<Record<string, string | number | boolean | string[] | null>>
  const told: [string, string | number | boolean | string[] | null | undefined][] = [
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
  return told.flatMap(([label, value]) => (value ? [label + String(value)] : [])).join(' · ')
}

/** Returns the use of a quota, such as `16 GB of 20 GB`; an empty text if it has no limit. */
const useOf = (used: unknown, limit: unknown, format: (value: number) => string) =>
  typeof used === 'number' && typeof limit === 'number' ? `${format(used)} of ${format(limit)}` : ''
