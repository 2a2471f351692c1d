/** The sizes of cards in a grid, in pixels, as in cards.css. */
const MIN_WIDTH = 190
const GAP = 20
const TEXT = 60
const ROW_GAP = 20
const LINE = 60
/** A phone has two columns, and smaller gaps. */
const PHONE = 480
const PHONE_GAP = 14

/** Returns the number of columns in a grid of covers of some width, and the height of a row of it with the gap below, in pixels. A list has one column. */
export function cardSize(width: number, isList: boolean): { columns: number; height: number } {
  if (isList) return { columns: 1, height: LINE }
  const gap = width < PHONE ? PHONE_GAP : GAP
  const columns = Math.max(2, Math.floor((width + gap) / (MIN_WIDTH + gap)))
  const cover = Math.max(0, (width - gap * (columns - 1)) / columns)
  return { columns, height: Math.round(cover) + TEXT + ROW_GAP }
}
