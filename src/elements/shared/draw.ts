/** Levels in, pixels out, no state. All measures are device pixels. */

export interface Picture {
  width: number
  height: number
  /** Heights of the bars, 0–1, as `barHeights` gives them. */
  heights: readonly number[]
  bar: number
  gap: number
  /** What has been played, 0–1. */
  progress: number
  /** Colors of the bars that were played, of the others, and of the line between them. */
  played: string
  rest: string
  head: string
  /** Width of that line; 0 for none. */
  line: number
}

type Context = Pick<
  CanvasRenderingContext2D,
  'save' | 'restore' | 'beginPath' | 'rect' | 'clip' | 'clearRect' | 'roundRect' | 'fill' | 'fillRect' | 'fillStyle'
>

/** How many bars fit into a width. */
export const barCount = (width: number, bar: number, gap: number) =>
  Math.max(1, Math.floor((width + gap) / (bar + gap)))

/** The heights of `count` bars: each the loudest of the levels it stands for; silence when nothing is known yet. */
export function barHeights(levels: readonly number[], count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const from = Math.floor((i / count) * levels.length)
    const to = Math.max(from + 1, Math.floor(((i + 1) / count) * levels.length))
    let loudest = 0
    for (let at = from; at < to; at++) loudest = Math.max(loudest, levels[at] ?? 0)
    return Math.min(1, loudest)
  })
}

/** The column that a progress from 0 to 1 has reached: a whole one, so that parts drawn apart meet exactly. */
export const column = (progress: number, width: number) => Math.round(Math.min(1, Math.max(0, progress)) * width)

/** Draws what lies between two columns, the whole picture without them; what lies beside stays untouched. */
export function drawWaveform(context: Context, picture: Picture, from = 0, to = picture.width): void {
  const { width, height, progress, played, rest, head, line } = picture
  const at = column(progress, width)
  drawPart(context, picture, played, from, Math.min(at, to))
  drawPart(context, picture, rest, Math.max(at, from), to)
  if (line === 0 || progress <= 0) return
  context.fillStyle = head
  context.fillRect(Math.min(Math.max(0, Math.round(at - line / 2)), width - line), 0, line, height)
}

/**
 * The columns that change when progress goes from one value to another. Only whole bars: where a clip cuts through a round end, its
 * smoothed pixels come out differently.
 */
export function changedColumns(before: number, after: number, picture: Picture): [number, number] {
  const { width, line, bar, gap } = picture
  const [low, high] = [column(before, width), column(after, width)].toSorted((a, b) => a - b)
  const [pitch, start] = [bar + gap, startOf(picture)]
  const first = start + Math.floor((low! - line - start) / pitch) * pitch
  const last = start + Math.ceil((high! + line - start) / pitch) * pitch
  return [Math.max(0, first), Math.min(width, last)]
}

/** Where the first bar begins: the bars stand in the middle of the width. */
const startOf = ({ width, heights, bar, gap }: Picture) =>
  Math.floor((width - (heights.length * (bar + gap) - gap)) / 2)

function drawPart(context: Context, picture: Picture, color: string, from: number, to: number): void {
  if (to <= from) return
  const { height, heights, bar, gap } = picture
  const pitch = bar + gap
  const start = startOf(picture)
  context.save()
  context.beginPath()
  context.rect(from, 0, to - from, height)
  context.clip()
  context.clearRect(from, 0, to - from, height)
  context.fillStyle = color
  const first = Math.max(0, Math.floor((from - start - bar) / pitch) + 1)
  const end = Math.min(heights.length, Math.ceil((to - start) / pitch))
  for (let i = first; i < end; i++) {
    const tall = Math.max(bar, Math.round(heights[i]! * height))
    // A path for each, so that its edges are the same pixels whatever is drawn beside it.
    context.beginPath()
    context.roundRect(start + i * pitch, Math.round((height - tall) / 2), bar, tall, bar / 2)
    context.fill()
  }
  context.restore()
}
