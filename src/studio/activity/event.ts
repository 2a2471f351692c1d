import type { EventPattern, EventType, WebhookEndpoint } from '../api.ts'

/** The name of each type of event. */
const WORDS: Record<EventType, string> = {
  'track.created': 'Track created',
  'track.uploaded': 'Track uploaded',
  'track.playable': 'Track playable',
  'track.ready': 'Track ready',
  'track.incomplete': 'Track incomplete',
  'track.failed': 'Track failed',
  'track.updated': 'Track changed',
  'track.deleted': 'Track deleted',
  'cover.ready': 'Cover ready',
  'cover.failed': 'Cover failed',
  'collection.created': 'Collection created',
  'collection.updated': 'Collection changed',
  'collection.deleted': 'Collection deleted',
  'collection.reprocess.finished': 'Collection processed again',
  'playlist.created': 'Playlist created',
  'playlist.updated': 'Playlist changed',
  'playlist.deleted': 'Playlist deleted',
  'api_key.created': 'Key created',
  'api_key.updated': 'Key changed',
  'api_key.rotated': 'Key rotated',
  'api_key.revoked': 'Key revoked',
  'share.created': 'Share created',
  'share.updated': 'Share changed',
  'share.revoked': 'Share revoked',
  'quota.warning': '80 % of a quota used',
  'quota.reached': 'Quota used up',
  'webhook_endpoint.created': 'Webhook created',
  'webhook_endpoint.updated': 'Webhook changed',
  'webhook_endpoint.rotated': 'Webhook secret rotated',
  'webhook_endpoint.paused': 'Webhook paused',
  'webhook_endpoint.deleted': 'Webhook deleted',
  'webhook.test': 'Webhook tested',
}

const groupOf = (type: string) => `${type.split('.')[0]}.*`

type Group = Extract<EventPattern, `${string}.*`>
const GROUPS: Record<Group, string> = {
  'track.*': 'All track events',
  'cover.*': 'All cover events',
  'collection.*': 'All collection events',
  'playlist.*': 'All playlist events',
  'api_key.*': 'All key events',
  'share.*': 'All share events',
  'quota.*': 'All quota events',
  'webhook_endpoint.*': 'All webhook events',
  'webhook.*': 'All webhook tests',
}

/** Returns the name of a type of event, of a group, or of all events. */
export const wordsOf = (pattern: string) =>
  pattern === '*' ? 'Everything' : (GROUPS[pattern as Group] ?? WORDS[pattern as EventType] ?? pattern)

/** The patterns that users can choose: each group, followed by its types. A test event is only for one endpoint. */
export const PATTERNS = Object.keys(GROUPS)
  .filter((group) => group !== 'webhook.*')
  .flatMap((group) => [group, ...Object.keys(WORDS).filter((type) => groupOf(type) === group)])

/** Whether the patterns contain the group of a type. */
export const isWithin = (type: string, patterns: readonly string[]) =>
  type !== groupOf(type) && patterns.includes(groupOf(type))

/** Why a webhook is not active. */
export const REASONS: Record<NonNullable<WebhookEndpoint['reason']>, string> = {
  failing: 'paused, because nothing has arrived for three days',
  gone: 'disabled, because it answered that it is gone (410)',
  requested: 'paused by hand',
  restored: 'paused, because the service was restored from a backup',
}
