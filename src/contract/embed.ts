import type { PlayScope } from './play.ts'

/** Size in pixels of the frame in every embed snippet. test/e2e/embed.test.ts measures the player at this size. */
export const EMBED_WIDTH = 480
export const EMBED_HEIGHTS = { track: 176, compact: 120 }
/** Pixels of a list without its rows, and of one row. */
const LIST = 320
const ROW = 40
/** Most rows that a frame shows without scrolling, unless its height can grow. */
export const EMBED_ROWS = 4
/**
 * The height for a session with this many tracks. A list of one track looks like a single track; an empty list gets full height, as it may be filled
 * later.
 */
export const embedHeight = (scope: PlayScope, tracks: number, rows = EMBED_ROWS) =>
  scope === 'track' || tracks === 1 ? EMBED_HEIGHTS.track : LIST + ROW * Math.min(tracks || rows, rows)
/** A narrower frame gets the compact player. */
export const EMBED_MIN_WIDTH = 330
