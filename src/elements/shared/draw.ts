/** Draws waveforms. The functions have no state, and all lengths are in device pixels. */

export interface Picture {
  width: number
  height: number
  /** Heights of the bars from `barHeights`, 0–1. */
  heights: readonly number[]
  bar: number
  gap: number
  /** Fraction of the track that has been played, 0–1. */
  progress: number
  /** Fraction of the track up to which the audio is loaded, 0–1; without it, all of the track. */
  loaded?: number
  /** Colors of the played bars, the unplayed bars, and the line between them. */
  played: string
  rest: string
  head: string
  /** Width of the line between the played and the unplayed bars; 0 for no line. */
  line: number
}

type Context = Pick<
  CanvasRenderingContext2D,
  | 'save'
  | 'restore'
  | 'beginPath'
  | 'rect'
  | 'clip'
  | 'clearRect'
  | 'roundRect'
  | 'fill'
  | 'fillRect'
  | 'fillStyle'
  | 'globalAlpha'
>

/** Height of the unplayed bars, relative to the played ones: the shape of the waveform shows the position, not only its colors. */
const REST_HEIGHT = 0.8
/** Opacity of the bars whose audio is not loaded. */
const NOT_LOADED = 0.6

/** Returns the number of bars that fit into a width; at least 1. */
export const barCount = (width: number, bar: number, gap: number) =>
  Math.max(1, Math.floor((width + gap) / (bar + gap)))

/** Returns the heights of `count` bars. The height of a bar is the maximum of its levels, or 0 if there are no levels. */
export function barHeights(levels: readonly number[], count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const from = Math.floor((i / count) * levels.length)
    const to = Math.max(from + 1, Math.floor(((i + 1) / count) * levels.length))
    let loudest = 0
    for (let at = from; at < to; at++) loudest = Math.max(loudest, levels[at] ?? 0)
    return Math.min(1, loudest)
  })
}

/** Returns the column that corresponds to a progress from 0 to 1. It is an integer, so that parts that are drawn separately meet exactly. */
export const column = (progress: number, width: number) => Math.round(Math.min(1, Math.max(0, progress)) * width)

/** Draws the columns between `from` and `to`, by default the whole picture. Other columns remain unchanged. */
export function drawWaveform(context: Context, picture: Picture, from = 0, to = picture.width): void {
  const { width, height, progress, loaded = 1, played, rest, head, line } = picture
  const at = column(progress, width)
  const loadedTo = Math.max(at, column(loaded, width))
  const part = (color: string, scale: number, alpha: number, start: number, end: number) =>
    drawPart(context, picture, { color, scale, alpha }, Math.max(start, from), Math.min(end, to))
  part(played, 1, 1, 0, at)
  part(rest, REST_HEIGHT, 1, at, loadedTo)
  part(rest, REST_HEIGHT, NOT_LOADED, loadedTo, width)
  if (line === 0 || progress <= 0) return
  context.fillStyle = head
  context.fillRect(Math.min(Math.max(0, Math.round(at - line / 2)), width - line), 0, line, height)
}

/**
 * Returns the range of columns that a change in progress affects. The range contains only whole bars, because clipping a bar at its rounded
 * end would change its antialiased pixels.
 */
export function changedColumns(before: number, after: number, picture: Picture): [number, number] {
  const { width, line, bar, gap } = picture
  const [low, high] = [column(before, width), column(after, width)].toSorted((a, b) => a - b)
  const [pitch, start] = [bar + gap, startOf(picture)]
  const first = start + Math.floor((low! - line - start) / pitch) * pitch
  const last = start + Math.ceil((high! + line - start) / pitch) * pitch
  return [Math.max(0, first), Math.min(width, last)]
}

/** Returns the column at which the first bar starts. The bars are centered. */
const startOf = ({ width, heights, bar, gap }: Picture) =>
  Math.floor((width - (heights.length * (bar + gap) - gap)) / 2)

/** How the bars of a part look. `scale` multiplies their heights. */
interface Style {
  color: string
  scale: number
  alpha: number
}

function drawPart(context: Context, picture: Picture, { color, scale, alpha }: Style, from: number, to: number): void {
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
  context.globalAlpha = alpha
  const first = Math.max(0, Math.floor((from - start - bar) / pitch) + 1)
  const end = Math.min(heights.length, Math.ceil((to - start) / pitch))
  for (let i = first; i < end; i++) {
    const barHeight = Math.max(bar, Math.round(heights[i]! * scale * height))
    // Each bar has its own path, so that the pixels at its edges do not depend on the other bars.
    context.beginPath()
    context.roundRect(start + i * pitch, Math.round((height - barHeight) / 2), bar, barHeight, bar / 2)
    context.fill()
  }
  context.restore()
}
