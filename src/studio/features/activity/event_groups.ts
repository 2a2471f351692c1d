import type { TonearmEvent } from '../../base/api.ts'

/** Milliseconds between two events that belong to one group at most. */
const PAUSE = 15 * 60_000

/** Events of one type and one actor that happened together, the newest first: the tracks of a collection, or repeated changes of one thing. */
export interface EventGroup {
  /** Identifies the group while older events are added. */
  id: string
  events: TonearmEvent[]
  /** The collection of the tracks; null if the events are about one thing. */
  collection: TonearmEvent['collection'] | null
}

/** The groups of one day in the user's time zone, the newest first. */
export interface EventDay {
  date: string
  groups: EventGroup[]
}

const dayOf = (timestamp: string) => new Date(timestamp).toDateString()

/** Returns the events as days and groups. Events of other types may lie between those of a group. */
export function groupEvents(events: readonly TonearmEvent[]): EventDay[] {
  const collections = collectionsOf(events)
  const days: EventDay[] = []
  let open = new Map<string, EventGroup>()
  for (const event of events) {
    const { id, timestamp, subject, type, actor } = event
    let day = days.at(-1)
    if (!day || dayOf(day.date) !== dayOf(timestamp)) {
      day = { date: timestamp, groups: [] }
      days.push(day)
      open = new Map()
    }
    const collection = collections.get(subject)
    const key = [type, actor, collection?.id ?? subject].join(' ')
    const group = open.get(key)
    if (group && Date.parse(group.events.at(-1)!.timestamp) - Date.parse(timestamp) <= PAUSE) {
      group.events.push(event)
      continue
    }
    const made = { id, events: [event], collection: collection ?? null }
    open.set(key, made)
    day.groups.push(made)
  }
  return days
}

/** Returns the collections of the tracks. The event of a track's cover does not name it. */
function collectionsOf(events: readonly TonearmEvent[]) {
  const collections = new Map<string, NonNullable<TonearmEvent['collection']>>()
  for (const { subject, collection } of events) {
    if (collection && !collections.has(subject)) collections.set(subject, collection)
  }
  return collections
}

/** Returns the number of different subjects of events. */
export const subjectCount = (events: readonly TonearmEvent[]) => new Set(events.map(({ subject }) => subject)).size
