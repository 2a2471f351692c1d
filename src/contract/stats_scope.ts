/** The kinds of resources that have statistics of listening. The Durable Object stores their positions in this list. */
export const STATS_SCOPES = ['organization', 'collection', 'track', 'playlist', 'share'] as const
export type StatsScope = (typeof STATS_SCOPES)[number]
