import { useState } from 'preact/hooks'

import { DAY } from '../../../contract/time.ts'
import type { Failure, TonearmEvent } from '../../base/api.ts'
import { exactTime, time } from '../../base/format.ts'
import { href } from '../../base/route.ts'
import { localeOf, t } from '../../base/text.ts'
import { useClient } from '../../data/connection.ts'
import { eventsBefore } from '../../data/events.ts'
import { useList, usePages } from '../../data/list.ts'
import { More } from '../../ui/page/more.tsx'
import { Empty } from '../../ui/page/states.tsx'
import { manyOf, eventLabel } from './event.ts'
import { factsOf } from './event_facts.ts'
import { type EventGroup, groupEvents, subjectCount } from './event_groups.ts'
import { Subject, SubjectPicture } from './subject.tsx'

/** The filter of the events. */
export interface EventFilter {
  type?: 'track.*'
  subject?: string
}

/** The events by day, newest first. Those that belong together are one line that opens. */
export function EventList({ filter, label }: { filter: EventFilter; label: string }) {
  const client = useClient()
  const include = ['titles', 'collection', 'artwork'] as const
  const list = usePages(['/v1/event', filter], (from: number | undefined) =>
    eventsBefore<Failure>((query) => client.get('/v1/event', { query: { ...filter, ...query, include } }), from),
  )
  const { entries: keys } = useList('/v1/api_key', ({ api_keys }) => api_keys)
  /** Returns who made a change; an empty text if it was the service itself. */
  function byOf(actor: string | null): string {
    if (actor === null) return ''
    if (actor === 'root') return t('by the operator')
    const id = actor.replace('api_key:', '')
    return t('by {name}', { name: keys.find((key) => key.id === id)?.title ?? t('Key {id}', { id: id.slice(0, 8) }) })
  }
  const showsSubject = filter.subject === undefined
  return (
    <More list={list} empty={<Empty title={t('Nothing yet')}>{t('Events are kept here for 30 days.')}</Empty>}>
      <div class="events" role="group" aria-label={label}>
        {groupEvents(list.entries).map(({ date, groups }) => (
          <section key={date}>
            <h2>{dayName(date)}</h2>
            <ul>
              {groups.map((group) => (
                <Group key={group.id} group={group} byOf={byOf} showsSubject={showsSubject} />
              ))}
            </ul>
          </section>
        ))}
      </div>
    </More>
  )
}

/** Returns a date as `Today`, `Yesterday` or `Monday, November 23`. */
function dayName(timestamp: string): string {
  const isDay = (other: number) => new Date(other).toDateString() === new Date(timestamp).toDateString()
  if (isDay(Date.now())) return t('Today')
  if (isDay(Date.now() - DAY)) return t('Yesterday')
  return new Date(timestamp).toLocaleDateString(localeOf(), { weekday: 'long', day: 'numeric', month: 'long' })
}

interface GroupProperties {
  group: EventGroup
  byOf: (actor: string | null) => string
  showsSubject: boolean
}

/** A group of events, which opens. A group of one event is that event. */
function Group({ group: { events, collection }, byOf, showsSubject }: GroupProperties) {
  const [isOpen, open] = useState(false)
  const [first] = events
  if (events.length === 1) return <Line event={first!} actor={byOf(first!.actor)} showsSubject={showsSubject} />
  const { artwork, subject, title, type, actor } = first!
  const subjects = subjectCount(events)
  return (
    <li class="event-group">
      <div class="event">
        {showsSubject && <SubjectPicture subject={subject} url={artwork?.icon.url} />}
        <div class="event-text">
          {showsSubject && (
            <span class="name">
              {subjects > 1 && collection ? (
                <a href={href('collection', collection.id)}>{collection.title}</a>
              ) : (
                <Subject subject={subject} title={title} />
              )}
            </span>
          )}
          <button type="button" class="event-open" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
            {manyOf(type, events.length, subjects)}
          </button>
        </div>
        <About actor={byOf(actor)} timestamp={first!.timestamp} />
      </div>
      {isOpen && (
        <ul>
          {events.map((event) => (
            <Line key={event.id} event={event} actor="" showsSubject={subjects > 1} />
          ))}
        </ul>
      )}
    </li>
  )
}

interface LineProperties {
  event: TonearmEvent
  actor: string
  showsSubject: boolean
}

function Line({ event, actor, showsSubject }: LineProperties) {
  const { subject, title, artwork, type, timestamp } = event
  return (
    <li class="event">
      {showsSubject && <SubjectPicture subject={subject} url={artwork?.icon.url} />}
      <div class="event-text">
        {showsSubject && (
          <span class="name">
            <Subject subject={subject} title={title} />
          </span>
        )}
        <span class={showsSubject ? 'soft' : undefined}>
          {[eventLabel(type), factsOf(event)].filter(Boolean).join(' · ')}
        </span>
      </div>
      <About actor={actor} timestamp={timestamp} />
    </li>
  )
}

const About = ({ actor, timestamp }: { actor: string; timestamp: string }) => (
  <span class="event-about soft">
    {actor && <span>{actor}</span>}
    <time dateTime={timestamp} title={exactTime(timestamp)}>
      {time(timestamp)}
    </time>
  </span>
)
