import type { PlayScope } from './play.ts'

/** Pixels of a frame with the embed page, wherever one is handed out. What a player fills at that size is measured in test/e2e/embed.test.ts. */
export const EMBED_WIDTH = 480
export const EMBED_HEIGHTS = { track: 176, compact: 120 }
/** Pixels of a list without its rows, and of a row. */
const LIST = 320
const ROW = 40
/** Rows that a frame shows at most, unless it may grow; the others are scrolled to. */
export const EMBED_ROWS = 4
/** The height for a session that lists so many tracks: a list of one looks like a track, and one that is empty may be filled. */
export const embedHeight = (scope: PlayScope, tracks: number, rows = EMBED_ROWS) =>
  scope === 'track' || tracks === 1 ? EMBED_HEIGHTS.track : LIST + ROW * Math.min(tracks || rows, rows)
/** In a frame that is narrower, the player is compact. */
export const EMBED_LEAST_WIDTH = 330
