import type { PlayScope } from './play.ts'

/** Width and heights in pixels of the frame in all embed snippets. test/e2e/embed.test.ts measures the player at these sizes. */
export const EMBED_WIDTH = 480
export const EMBED_HEIGHTS = { track: 176, compact: 120 }
/** Height in pixels of a list without its rows, and height of one row. */
const LIST = 320
const ROW = 40
/** Maximum number of rows that a frame shows without scrolling, unless its height can grow. */
export const EMBED_ROWS = 4
/**
 * Returns the height of the frame for a session with this many tracks. A list of one track has the height of a single track. An empty list has the
 * height of a full list, because tracks may be added later.
 */
export const embedHeight = (scope: PlayScope, tracks: number, rows = EMBED_ROWS) =>
  scope === 'track' || tracks === 1 ? EMBED_HEIGHTS.track : LIST + ROW * Math.min(tracks || rows, rows)
/** Minimum width of a frame with the full player. Narrower frames show the compact player. */
export const EMBED_MIN_WIDTH = 330
/** Minimum width and height of a frame with the layout `cover`. Smaller frames show the compact player. */
export const EMBED_MIN_SQUARE = 200
