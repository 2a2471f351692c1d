/**
 * The tables that are WITHOUT ROWID: a single B-tree in the order of the primary key, so that a new row is one row written. drizzle-kit cannot write
 * this; `npm run migration` adds it.
 */
export const WITHOUT_ROWID = [
  'events',
  'heartbeats',
  'list_counts',
  'listening_folds',
  'play_sessions',
  'reservations',
  'retired_slugs',
  'source_urls',
  'upload_handles',
  'usage_cursors',
  'usage_days',
  'webhook_deliveries',
  'webhook_endpoints',
]
