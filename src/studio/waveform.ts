export interface Waveform {
  /** Heights from 0 to 1, as a play view's `levels`. */
  levels: readonly number[]
  /** What has been played, 0–1. */
  progress: number
  played: string
  rest: string
}

const BAR = 3
const GAP = 1.5

/** Draws levels as rounded bars, the played part in its own color: levels in, pixels out, no state. */
export function drawWaveform(
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
  waveform: Waveform,
): void {
  const { levels, progress, played, rest } = waveform
  const count = Math.max(1, Math.floor((width + GAP) / (BAR + GAP)))
  context.clearRect(0, 0, width, height)
  for (let i = 0; i < count; i++) {
    const bar = Math.max(BAR, loudest(levels, i / count, (i + 1) / count) * height)
    context.fillStyle = (i + 0.5) / count <= progress ? played : rest
    context.beginPath()
    context.roundRect(i * (BAR + GAP), (height - bar) / 2, BAR, bar, BAR / 2)
    context.fill()
  }
}

/** The loudest level between two fractions of the whole; silence when nothing is known yet. */
function loudest(levels: readonly number[], from: number, to: number): number {
  const start = Math.floor(from * levels.length)
  return Math.max(0, ...levels.slice(start, Math.max(start + 1, Math.ceil(to * levels.length))))
}
