import * as z from 'zod'

import { KeyType } from './api_key.ts'
import { Id, ok, Page, Timestamp } from './common.ts'
import { MAX_EVENT_WAIT } from './facts.ts'
import { defineOperations } from './operation.ts'
import { PlayScope } from './play.ts'
import { TrackStatus } from './track.ts'

const id = z.uuid()
/** What the caller calls it. */
const organization_index = z.string().nullable()
/** Names of the fields that a call has set. */
const changed = z.array(z.string())
const is_restored = z.boolean()
const is_trashed = z.boolean()
/** Why, as in docs/errors.md. */
const error = z.string().nullable()

const track = { track_id: id, collection_id: id, organization_index, status: TrackStatus }
const collection = { collection_id: id, organization_index }
const playlist = { playlist_id: id, organization_index, version: z.int() }
const cover = { scope: PlayScope, resource_id: id, organization_index }
const share = { share_id: id, scope: PlayScope, resource_id: id }
const apiKey = { api_key_id: id, type: KeyType }
const endpoint = { webhook_endpoint_id: id }

/**
 * Everything that is told of: what its `data` holds, and what it means. docs/events.md is made from this table. Data are ids and facts,
 * never URLs, titles or metadata: they are sent to other services and kept there.
 */
export const EVENTS = {
  'track.created': {
    data: { ...track, is_restored },
    meaning: 'There is a new track, or one came back from the trash.',
  },
  'track.uploaded': {
    data: { ...track, size: z.int() },
    meaning: 'A file has arrived and is in line to be processed.',
  },
  'track.playable': {
    data: { ...track, duration: z.number(), variant: z.string() },
    meaning: 'A first file can be played while the others are made.',
  },
  'track.ready': {
    data: { ...track, duration: z.number() },
    meaning: 'All files have been made, for the first time or anew.',
  },
  'track.incomplete': {
    data: { ...track, duration: z.number(), error, failed_variants: z.array(z.string()) },
    meaning: 'The track plays, but some files could not be made, or none of a new upload.',
  },
  'track.failed': {
    data: { ...track, error },
    meaning:
      'The file could not be processed, was refused, or never came. A track with another `status` still has its former file.',
  },
  'track.updated': {
    data: { ...track, changed },
    meaning: 'A call has changed the track: `collection_id` when it has moved, `upload` when another file is to come.',
  },
  'track.deleted': { data: { ...track, is_trashed }, meaning: 'The track is in the trash, or deleted for good.' },
  'cover.ready': { data: cover, meaning: 'A track, collection or playlist has a new cover.' },
  'cover.failed': { data: { ...cover, error }, meaning: 'An image could not be made into a cover.' },
  'collection.created': {
    data: { ...collection, is_restored },
    meaning: 'There is a new collection, or one came back from the trash with its tracks.',
  },
  'collection.updated': {
    data: { ...collection, changed },
    meaning: 'A call has changed the collection: `order` when it has put its tracks into an order.',
  },
  'collection.deleted': {
    data: { ...collection, is_trashed },
    meaning: 'The collection is in the trash with its tracks, or deleted for good; then each track follows.',
  },
  'collection.reprocess.finished': {
    data: { collection_id: id, total: z.int(), done: z.int(), failed: z.int() },
    meaning: 'All tracks of the collection have been processed again.',
  },
  'playlist.created': {
    data: { ...playlist, is_restored },
    meaning: 'There is a new playlist, or one came back from the trash.',
  },
  'playlist.updated': {
    data: { ...playlist, changed },
    meaning: 'The playlist has changed: `tracks` also when one of them was deleted or came back.',
  },
  'playlist.deleted': {
    data: { ...playlist, is_trashed },
    meaning: 'The playlist is in the trash, or deleted for good.',
  },
  'share.created': { data: share, meaning: 'There is a new link to a collection, a track or a playlist.' },
  'share.updated': {
    data: { ...share, changed },
    meaning: 'A link allows something else, or has another address, title or password.',
  },
  'share.revoked': { data: share, meaning: 'A link has been revoked.' },
  'api_key.created': { data: apiKey, meaning: 'There is a new key.' },
  'api_key.updated': { data: { ...apiKey, changed }, meaning: 'A key may do something else, or has another title.' },
  'api_key.rotated': { data: apiKey, meaning: 'A key has a new secret.' },
  'api_key.revoked': { data: apiKey, meaning: 'A key has been deleted.' },
  'webhook_endpoint.created': { data: endpoint, meaning: 'There is a new endpoint.' },
  'webhook_endpoint.updated': {
    data: { ...endpoint, changed },
    meaning: 'A call has changed an endpoint: `state` when it has been paused or resumed.',
  },
  'webhook_endpoint.rotated': { data: endpoint, meaning: 'An endpoint has a new secret.' },
  'webhook_endpoint.paused': {
    data: { ...endpoint, reason: z.string() },
    meaning: 'Nothing is sent to an endpoint any more, because all of its deliveries have failed, or it is gone.',
  },
  'webhook_endpoint.deleted': { data: endpoint, meaning: 'An endpoint has been deleted.' },
  'webhook.test': { data: endpoint, meaning: 'Somebody wants to see whether an endpoint answers.' },
} as const satisfies Record<string, { data: z.ZodRawShape; meaning: string }>

export type EventType = keyof typeof EVENTS
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[]
/** What is told of one type of event. */
export type EventData<T extends EventType> = z.infer<z.ZodObject<(typeof EVENTS)[T]['data']>>

/** An event of one type, as the feed and webhooks tell it. */
const eventOf = <T extends EventType>(type: T) =>
  z.object({
    /** The same on every delivery. */
    id,
    type: z.literal(type),
    timestamp: Timestamp,
    /** Rises from event to event of an organization, with gaps. */
    seq: z.int(),
    /** Rises from event to event of a subject, with gaps. */
    sequence: z.int(),
    /** `track:{id}`, `collection:{id}`, … */
    subject: z.string(),
    /** Who has done it: `api_key:{id}`, or `root`, the operator; null: the service. */
    actor: z.string().nullable(),
    data: z.object(EVENTS[type].data as (typeof EVENTS)[T]['data']),
  })
type EventSchema = { [T in EventType]: ReturnType<typeof eventOf<T>> }[EventType]

/** Something that happened (docs/events.md). */
export const TonearmEvent = z
  .discriminatedUnion('type', EVENT_TYPES.map(eventOf) as unknown as [EventSchema, ...EventSchema[]])
  .meta({ id: 'TonearmEvent' })
export type TonearmEvent = z.infer<typeof TonearmEvent>

type GroupOf<T> = T extends `${infer G}.${string}` ? G : never
const groups = [...new Set(EVENT_TYPES.map((type) => type.split('.')[0] as GroupOf<EventType>))]

/** A type of event, all of a group as `track.*`, or all: `*`. */
export const EventPattern = z.enum([...EVENT_TYPES, ...groups.map((group) => `${group}.*` as const), '*'])
export type EventPattern = z.infer<typeof EventPattern>

const SUBJECTS = ['track', 'collection', 'playlist', 'share', 'api_key', 'webhook_endpoint'] as const
/** What an event is about. */
export const EventSubject = z
  .string()
  .toLowerCase()
  .refine(
    (subject) => {
      const [scope, subject_id] = subject.split(':')
      return SUBJECTS.some((one) => one === scope) && Id.safeParse(subject_id).success
    },
    `must be one of ${SUBJECTS.join(', ')}, a colon, and an id`,
  )

const whole = (digits: number, most: number) =>
  z
    .string()
    .regex(new RegExp(`^\\d{1,${digits}}$`), 'must be a whole number')
    .transform(Number)
    .pipe(z.int().max(most))

export const eventOperations = defineOperations({
  listEvents: {
    method: 'get',
    path: '/v1/event',
    summary:
      'List what happened behind `after`, oldest first, and how to go on; with `wait` the answer comes when there is something, after so many seconds at the latest',
    tag: 'Events',
    access: ['server'],
    query: z.strictObject({
      /** The `seq` of an event, or milliseconds since 1970. */
      after: whole(15, Number.MAX_SAFE_INTEGER).default(0),
      type: EventPattern.optional(),
      subject: EventSubject.optional(),
      limit: Page.shape.limit,
      wait: whole(2, MAX_EVENT_WAIT).default(0),
    }),
    response: ok({ events: z.array(TonearmEvent), after: z.int(), has_more: z.boolean() }),
  },
})
