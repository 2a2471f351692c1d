import type { PlayScope } from './play.ts'

/** Pixels of a frame with the embed page, wherever one is handed out. What a player fills at that size is measured in test/e2e/embed.test.ts. */
export const EMBED_WIDTH = 480
export const EMBED_HEIGHTS: Record<PlayScope | 'compact', number> = {
  track: 260,
  collection: 480,
  playlist: 480,
  compact: 120,
}
/** The height for a session that lists so many tracks: a list of one looks like a track. */
export const embedHeight = (scope: PlayScope, tracks: number) => EMBED_HEIGHTS[tracks === 1 ? 'track' : scope]
/** In a frame that is narrower, the player is compact. */
export const EMBED_LEAST_WIDTH = 330
