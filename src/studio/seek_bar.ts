import { element } from './dom.ts'
import { clock } from './format.ts'
import { drawWaveform } from './waveform.ts'

const HEIGHT = 72
/** Seconds per arrow key. */
const STEP = 5

export interface SeekBar {
  root: HTMLElement
  redraw: () => void
}

/** The waveform as a slider: click, drag or use the arrow keys to seek. */
export function seekBar(audio: HTMLAudioElement, duration: number, levels: readonly number[]): SeekBar {
  const canvas = element('canvas', { attributes: { 'aria-hidden': 'true' } })
  const root = element(
    'div',
    {
      class: 'seek-bar',
      attributes: { role: 'slider', tabindex: '0', 'aria-label': 'Position', 'aria-valuemin': '0' },
    },
    canvas,
  )
  root.setAttribute('aria-valuemax', String(Math.round(duration)))

  function redraw() {
    const position = audio.currentTime
    root.setAttribute('aria-valuenow', String(Math.round(position)))
    root.setAttribute('aria-valuetext', `${clock(position)} of ${clock(duration)}`)
    const width = root.clientWidth
    const context = canvas.getContext('2d')
    if (!context || width === 0) return
    // Setting the size clears the canvas, so only when it changes.
    if (canvas.width !== Math.round(width * devicePixelRatio)) {
      canvas.width = Math.round(width * devicePixelRatio)
      canvas.height = HEIGHT * devicePixelRatio
    }
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    // As properties of the element, because a custom property is not resolved to a color.
    const { fill: played, stroke: rest } = getComputedStyle(root)
    drawWaveform(context, width, HEIGHT, { levels, progress: duration ? position / duration : 0, played, rest })
  }

  function seek(seconds: number) {
    // A little before the end, so that a click at the right edge does not end the track.
    audio.currentTime = Math.min(Math.max(0, seconds), Math.max(0, duration - 0.05))
    redraw()
  }

  const seekTo = (event: PointerEvent) => {
    const box = root.getBoundingClientRect()
    seek(((event.clientX - box.left) / box.width) * duration)
  }
  root.addEventListener('pointerdown', (event) => {
    root.setPointerCapture(event.pointerId)
    seekTo(event)
  })
  root.addEventListener('pointermove', (event) => {
    if (root.hasPointerCapture(event.pointerId)) seekTo(event)
  })
  root.addEventListener('keydown', (event) => {
    const target = keyTarget(event.key, audio.currentTime, duration)
    if (target === undefined) return
    event.preventDefault()
    seek(target)
  })
  new ResizeObserver(redraw).observe(root)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
  return { root, redraw }
}

function keyTarget(key: string, position: number, duration: number): number | undefined {
  if (key === 'ArrowRight' || key === 'ArrowUp') return position + STEP
  if (key === 'ArrowLeft' || key === 'ArrowDown') return position - STEP
  if (key === 'PageUp') return position + duration / 10
  if (key === 'PageDown') return position - duration / 10
  if (key === 'Home') return 0
  if (key === 'End') return duration
  return undefined
}
