import * as z from 'zod'

import { KeyType } from './api_key.ts'
import { digits, Id, including, named, ok, Page, Timestamp } from './common.ts'
import { MAX_EVENT_WAIT } from './facts.ts'
import { CoverImage } from './media.ts'
import { defineOperations } from './operation.ts'
import { PlayScope } from './play.ts'
import { ListeningCounts } from './stats.ts'
import { TrackStatus } from './track.ts'

const id = z.uuid()
/** Your own identifier of the resource; null if none is set. */
const organization_index = z.string().nullable()
/** Names of the fields that were in the request. */
const changed = z.array(z.string())
/** True if it came from the trash, false if it is new. */
const is_restored = z.boolean()
/** True if it can be restored from the trash, false if it is gone. */
const is_trashed = z.boolean()
/** Why, as a code in docs/errors.md; null if unknown. */
const error = z.string().nullable()

/** Identifies the track in the API. */
const track_id = z.uuid()
/** Identifies the collection in the API. */
const collection_id = z.uuid()
/** Identifies the resource in the API. */
const resource_id = z.uuid()
/** Length of the audio in seconds. */
const duration = z.number()
const track = {
  track_id,
  collection_id,
  organization_index,
  /** After the event. */
  status: TrackStatus,
}
const collection = { collection_id, organization_index }
const playlist = {
  /** Identifies the playlist in the API. */
  playlist_id: id,
  organization_index,
  /** Increases with every change to the tracks. */
  version: z.int(),
}
const cover = { scope: PlayScope, resource_id, organization_index }
const share = {
  /** Identifies the share in the API. */
  share_id: id,
  scope: PlayScope,
  resource_id,
}
const apiKey = {
  /** Identifies the key in the API. */
  api_key_id: id,
  /** Determines the permissions of the key. */
  type: KeyType,
}
// The use of a limit that is null is not counted.
const quota = {
  /** The owner of the quota. */
  scope: z.enum(['api_key', 'organization']),
  /** Id of the API key or the organization. */
  resource_id: id,
  /** Bytes that the quota allows; null allows any number. */
  max_bytes: z.int().nullable(),
  /** Bytes that are used; null if `max_bytes` is. */
  used_bytes: z.int().nullable(),
  /** Number of tracks that the quota allows; null allows any. */
  max_tracks: z.int().nullable(),
  /** Number of tracks that are used; null if `max_tracks` is. */
  used_tracks: z.int().nullable(),
}
const endpoint = {
  /** Identifies the endpoint in the API. */
  webhook_endpoint_id: id,
}

/**
 * All event types, with their meaning and the fields of their `data`. docs/events.md is generated from this table. The data has ids and facts, but
 * never URLs, titles or metadata, because other services receive and store it.
 */
export const EVENTS = {
  'track.created': {
    data: { ...track, is_restored },
    meaning: 'A track was created, or restored from the trash.',
  },
  'track.uploaded': {
    data: {
      ...track,
      /** Bytes of the file. */
      size: z.int(),
    },
    meaning: 'A file was uploaded and is waiting to be processed.',
  },
  'track.playable': {
    data: {
      ...track,
      duration,
      /** Index of the variant that plays now. */
      variant: z.string(),
    },
    meaning: 'A first file can be played while the others are being made.',
  },
  'track.ready': {
    data: { ...track, duration },
    meaning: 'All files have been made, for the first time or again.',
  },
  'track.incomplete': {
    data: {
      ...track,
      duration,
      error,
      /** Indexes of those that are missing. */
      failed_variants: z.array(z.string()),
    },
    meaning: 'The track plays, but some files could not be made, or none from a new upload.',
  },
  'track.failed': {
    data: { ...track, error },
    meaning:
      'The file could not be processed, was refused, or never arrived. If `status` is not `failed`, the track still plays its previous file.',
  },
  'track.updated': {
    data: { ...track, changed },
    meaning:
      'A request changed the track. `changed` has `collection_id` if the track moved, and `upload` if it waits for a new file.',
  },
  'track.deleted': {
    data: { ...track, is_trashed },
    meaning: 'The track was moved to the trash, or deleted permanently.',
  },
  'cover.ready': { data: cover, meaning: 'A track, collection or playlist has a new cover.' },
  'cover.failed': { data: { ...cover, error }, meaning: 'An image could not be made into a cover.' },
  'collection.created': {
    data: { ...collection, is_restored },
    meaning: 'A collection was created, or restored from the trash with its tracks.',
  },
  'collection.updated': {
    data: { ...collection, changed },
    meaning: 'A request changed the collection. `changed` has `order` if its tracks were reordered.',
  },
  'collection.deleted': {
    data: { ...collection, is_trashed },
    meaning:
      'The collection was moved to the trash with its tracks, or deleted permanently; then an event for each track follows.',
  },
  'collection.reprocess.finished': {
    data: {
      collection_id,
      /** Number of tracks. */
      total: z.int(),
      /** Number of tracks that are up to date. */
      done: z.int(),
      /** Number of tracks with a variant that could not be made. */
      failed: z.int(),
    },
    meaning: 'All tracks of the collection have been reprocessed.',
  },
  'playlist.created': {
    data: { ...playlist, is_restored },
    meaning: 'A playlist was created, or restored from the trash.',
  },
  'playlist.updated': {
    data: { ...playlist, changed },
    meaning: 'The playlist changed. `changed` has `tracks` also if one of them was deleted or restored.',
  },
  'playlist.deleted': {
    data: { ...playlist, is_trashed },
    meaning: 'The playlist was moved to the trash, or deleted permanently.',
  },
  'share.created': { data: share, meaning: 'A link to a collection, a track or a playlist was created.' },
  'share.updated': {
    data: { ...share, changed },
    meaning: 'A link has other permissions, or another address, title or password.',
  },
  'share.revoked': { data: share, meaning: 'A link was revoked.' },
  'api_key.created': { data: apiKey, meaning: 'A key was created, and can be used at once.' },
  'api_key.updated': { data: { ...apiKey, changed }, meaning: 'A key has other permissions, or another title.' },
  'api_key.rotated': { data: apiKey, meaning: 'A key has a new secret.' },
  'api_key.revoked': { data: apiKey, meaning: 'A key was deleted.' },
  'quota.warning': { data: quota, meaning: '80 % of a quota is used.' },
  'quota.reached': {
    data: quota,
    meaning: 'A quota is used up, or of the last 20 % less was left than an upload needed.',
  },
  'stats.day': {
    data: {
      /** The day that is over, in UTC. */
      date: z.iso.date(),
      ...ListeningCounts.shape,
      /** Number of reports of players that were not counted. */
      refused: z.int(),
    },
    meaning:
      'A day (UTC) with listening or downloads is over; these are its sums. `refused` is the number of reports that were not counted.',
  },
  'webhook_endpoint.created': {
    data: endpoint,
    meaning: 'An endpoint was created, which receives the events that follow.',
  },
  'webhook_endpoint.updated': {
    data: { ...endpoint, changed },
    meaning: 'A request changed an endpoint. `changed` has `state` if it was paused or resumed.',
  },
  'webhook_endpoint.rotated': { data: endpoint, meaning: 'An endpoint has a new secret.' },
  'webhook_endpoint.paused': {
    data: {
      ...endpoint,
      /** `failing`, `gone` or `requested`. */
      reason: z.string(),
    },
    meaning: 'Deliveries to an endpoint stopped: all of them failed for three days, or it answered 410 (gone).',
  },
  'webhook_endpoint.deleted': { data: endpoint, meaning: 'An endpoint was deleted with its deliveries.' },
  'webhook.test': {
    data: endpoint,
    meaning: 'A test of whether an endpoint answers. Only that endpoint receives it.',
  },
} as const satisfies Record<string, { data: z.ZodRawShape; meaning: string }>

export type EventType = keyof typeof EVENTS
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[]
/** The `data` of one event type. */
export type EventData<T extends EventType> = z.infer<z.ZodObject<(typeof EVENTS)[T]['data']>>

/** Returns the name of an event's schema, e.g. `TrackReadyEvent`. */
export const eventName = (type: EventType) =>
  `${type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`

/** The schema of an event of one type, as it appears in the feed and in webhooks. */
const eventOf = <T extends EventType>(type: T) =>
  named(eventName(type), {
    /** The same in all deliveries of the event, so that receivers can ignore repetitions. */
    id,
    /** Names the change, such as `track.ready`. */
    type: z.literal(type),
    /** When it happened. */
    timestamp: Timestamp,
    /** Increases with every event of an organization; there are gaps. */
    seq: z.int(),
    /** Increases with every event of the same subject; there are gaps. */
    sequence: z.int(),
    /** The resource: `track:{id}`, `collection:{id}`, … */
    subject: z.string(),
    /** Cause of the change: `api_key:{id}`, or `root` for the operator; null for the service itself. */
    actor: z.string().nullable(),
    /** Ids and facts, as they were at the time of the event. */
    data: z.object(EVENTS[type].data as (typeof EVENTS)[T]['data']),
    /** The current title of the subject, or its title in the trash; null if it does not exist anymore. Only with `include=titles`, never in webhooks. */
    title: z.string().nullable().optional(),
    /** The collection of an event about a track; null for other events, and if it does not exist anymore. Only with `include=collection`. */
    collection: z
      .object({
        /** The same as `data.collection_id`. */
        id,
        /** As it is now. */
        title: z.string(),
      })
      .nullable()
      .optional(),
    /** The cover of a track, a collection or a playlist. Only with `include=artwork`. */
    artwork: CoverImage.optional(),
  })
type EventSchema = { [T in EventType]: ReturnType<typeof eventOf<T>> }[EventType]

/** Something that happened in an organization (docs/events.md). `data` depends on `type`. */
export const TonearmEvent = z
  .discriminatedUnion('type', EVENT_TYPES.map(eventOf) as unknown as [EventSchema, ...EventSchema[]])
  .meta({ id: 'TonearmEvent' })
export type TonearmEvent = z.infer<typeof TonearmEvent>

type GroupOf<T> = T extends `${infer G}.${string}` ? G : never
const groups = [...new Set(EVENT_TYPES.map((type) => type.split('.')[0] as GroupOf<EventType>))]

/** An event type, a group such as `track.*`, or `*` for all types. */
export const EventPattern = z.enum(
  [...EVENT_TYPES, ...groups.map((group) => `${group}.*` as const), '*'],
  'must be a type of event, a group such as track.*, or *',
)
export type EventPattern = z.infer<typeof EventPattern>

const SUBJECTS = ['track', 'collection', 'playlist', 'share', 'api_key', 'webhook_endpoint', 'organization'] as const
/** A subject: the resource of an event, such as `track:{id}`. */
export const EventSubject = z
  .string()
  .toLowerCase()
  .refine(
    (subject) => {
      const [scope, subject_id] = subject.split(':')
      return SUBJECTS.some((prefix) => prefix === scope) && Id.safeParse(subject_id).success
    },
    `must be one of ${SUBJECTS.join(', ')}, a colon, and an id`,
  )

export const eventOperations = defineOperations({
  listEvents: {
    method: 'get',
    path: '/v1/event',
    summary:
      'List events after `after`, oldest first. With `wait`, the response comes as soon as there is an event, or after that many seconds',
    tag: 'Events',
    access: ['server'],
    effect: 'read',
    guide: 'events',
    limits: ['event_days', 'event_window', 'event_wait'],
    query: z.strictObject({
      /** `after` of the previous response, `seq` of an event, or a time in milliseconds since 1970. Only later events are returned. */
      after: digits(0, 999_999_999_999_999).default(0),
      /** Only events of this type, of a group such as `track.*`, or all (`*`). */
      type: EventPattern.optional(),
      /** Only events of this resource, such as `track:{id}`. */
      subject: EventSubject.optional(),
      limit: Page.shape.limit,
      /** Optional parts of the events. */
      include: including('titles', 'collection', 'artwork'),
      /** Seconds to wait for the next event; 0 by default. */
      wait: digits(0, MAX_EVENT_WAIT, 'seconds').default(0),
    }),
    response: ok({
      /** The oldest first. */
      events: z.array(TonearmEvent),
      /** Send it as `after` of the next request. */
      after: z.int(),
      /** Whether there are later events already. */
      has_more: z.boolean(),
    }),
  },
})
