/** Which rows of the tables an export of one organization has, and what it leaves out (docs/decisions/0128). The commands read it too. */

/** The condition of most tables; `?1` is the id of the organization. */
export const OWN = 'organization_id = ?1'
const OWN_TRACK = `track_id in (select id from tracks where ${OWN} union all select id from trash where ${OWN} and scope = 'track')`

/**
 * The tables that an export of one organization contains (docs/decisions/0128), with a condition for its rows, in which `?1` is its id. An import inserts
 * them in this order: the rows to which a row refers come before it, because the sweep may find it at once. The organization makes all of them
 * visible, so it is the last.
 */
export const OF_ORGANIZATION: Record<string, string> = {
  collections: OWN,
  playlists: OWN,
  tracks: OWN,
  trash: OWN,
  playlist_tracks: OWN_TRACK,
  variants: OWN,
  upload_sessions: OWN,
  upload_handles: OWN_TRACK,
  reservations: OWN,
  reprocesses: OWN,
  usage_days: OWN,
  events: OWN,
  webhook_endpoints: `${OWN} and state <> 'deleted'`,
  api_keys: OWN,
  shares: OWN,
  retired_slugs: `share_id in (select id from shares where ${OWN})`,
  organizations: 'id = ?1',
}

/** The tables of a backup that an export does not contain, with the reason. */
export const NOT_EXPORTED: Record<string, string> = {
  jobs: 'the import queues transcodes again; purges belong to this bucket',
  idempotency_keys: 'responses of this service to requests',
  play_sessions: 'end within a day, and their URLs are those of this service',
  webhook_deliveries: 'sent by this service',
  usage_cursors: 'positions in the play sessions of this service',
}

/** The columns that an export leaves out, because they are secrets or depend on those of the service. */
export const SECRETS: Record<string, string[]> = {
  api_keys: ['hash', 'previous_hash', 'previous_expires_at'],
  webhook_endpoints: ['secret', 'previous_secret', 'previous_secret_expires_at'],
}
