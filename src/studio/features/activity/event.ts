import type { EventPattern, EventType, WebhookEndpoint } from '../../base/api.ts'
import { t, text, tn } from '../../base/text.ts'

/** The name of each type of event. */
const WORDS: Record<EventType, string> = {
  'track.created': text('Track created'),
  'track.uploaded': text('Track uploaded'),
  'track.playable': text('Track playable'),
  'track.ready': text('Track ready'),
  'track.incomplete': text('Track incomplete'),
  'track.failed': text('Track failed'),
  'track.updated': text('Track changed'),
  'track.deleted': text('Track deleted'),
  'cover.ready': text('Cover ready'),
  'cover.failed': text('Cover failed'),
  'collection.created': text('Collection created'),
  'collection.updated': text('Collection changed'),
  'collection.deleted': text('Collection deleted'),
  'collection.reprocess.finished': text('Collection processed again'),
  'playlist.created': text('Playlist created'),
  'playlist.updated': text('Playlist changed'),
  'playlist.deleted': text('Playlist deleted'),
  'api_key.created': text('Key created'),
  'api_key.updated': text('Key changed'),
  'api_key.rotated': text('Key rotated'),
  'api_key.revoked': text('Key revoked'),
  'share.created': text('Share created'),
  'share.updated': text('Share changed'),
  'share.revoked': text('Share revoked'),
  'quota.warning': text('80 % of a quota used'),
  'quota.reached': text('Quota used up'),
  'stats.day': text('Daily listening totals ready'),
  'webhook_endpoint.created': text('Webhook created'),
  'webhook_endpoint.updated': text('Webhook changed'),
  'webhook_endpoint.rotated': text('Webhook secret rotated'),
  'webhook_endpoint.paused': text('Webhook paused'),
  'webhook_endpoint.deleted': text('Webhook deleted'),
  'webhook.test': text('Webhook tested'),
}

/** Returns the group of a type, such as `track.*`. */
export const groupOf = (type: string) => `${type.split('.')[0]}.*`

type Group = Extract<EventPattern, `${string}.*`>
const GROUPS: Record<Group, string> = {
  'track.*': text('All track events'),
  'cover.*': text('All cover events'),
  'collection.*': text('All collection events'),
  'playlist.*': text('All playlist events'),
  'api_key.*': text('All key events'),
  'share.*': text('All share events'),
  'quota.*': text('All quota events'),
  'stats.*': text('All listening events'),
  'webhook_endpoint.*': text('All webhook events'),
  'webhook.*': text('All webhook tests'),
}

/** Returns the name of a type of event, of a group, or of all events. */
export const eventLabel = (pattern: string) =>
  pattern === '*' ? t('Everything') : t(GROUPS[pattern as Group] ?? WORDS[pattern as EventType] ?? pattern)

/** The patterns that users can choose: each group, followed by its types. A test event is only for one endpoint. */
export const PATTERNS = Object.keys(GROUPS)
  .filter((group) => group !== 'webhook.*')
  .flatMap((group) => [group, ...Object.keys(WORDS).filter((type) => groupOf(type) === group)])

/** The groups as filters. */
export const FILTERS: readonly (readonly [group: Group, label: string])[] = [
  ['track.*', text('Tracks')],
  ['cover.*', text('Covers')],
  ['collection.*', text('Collections')],
  ['playlist.*', text('Playlists')],
  ['share.*', text('Links')],
  ['api_key.*', text('Keys')],
  ['quota.*', text('Quotas')],
  ['stats.*', text('Listening')],
  ['webhook_endpoint.*', text('Webhooks')],
]

/** Returns the types of the group that contains a pattern. */
export const typesOf = (pattern: string) => Object.keys(WORDS).filter((type) => groupOf(type) === groupOf(pattern))

/** Several events of one type, for the types that often occur together. */
const MANY: Partial<Record<EventType, { one: string; other: string }>> = {
  'track.created': { one: '{n} track created', other: '{n} tracks created' },
  'track.uploaded': { one: '{n} track uploaded', other: '{n} tracks uploaded' },
  'track.playable': { one: '{n} track playable', other: '{n} tracks playable' },
  'track.ready': { one: '{n} track ready', other: '{n} tracks ready' },
  'track.incomplete': { one: '{n} track incomplete', other: '{n} tracks incomplete' },
  'track.failed': { one: '{n} track failed', other: '{n} tracks failed' },
  'track.updated': { one: '{n} track changed', other: '{n} tracks changed' },
  'track.deleted': { one: '{n} track deleted', other: '{n} tracks deleted' },
  'cover.ready': { one: '{n} cover ready', other: '{n} covers ready' },
  'cover.failed': { one: '{n} cover failed', other: '{n} covers failed' },
}

/** Returns the name of several events of one type: `12 tracks ready`. `subjects` is the number of different subjects. */
export function manyOf(type: EventType, events: number, subjects: number): string {
  const many = subjects > 1 ? MANY[type] : undefined
  if (many) return tn(many, subjects)
  return tn({ one: '{event}, {n} time', other: '{event}, {n} times' }, events, { event: eventLabel(type) })
}

/** Whether the patterns contain the group of a type. */
export const isWithin = (type: string, patterns: readonly string[]) =>
  type !== groupOf(type) && patterns.includes(groupOf(type))

/** Why a webhook is not active. */
export const REASONS: Record<NonNullable<WebhookEndpoint['reason']>, string> = {
  failing: text('paused, because nothing has arrived for three days'),
  gone: text('disabled, because it answered that it is gone (410)'),
  requested: text('paused by hand'),
  restored: text('paused, because the service was restored from a backup'),
}
