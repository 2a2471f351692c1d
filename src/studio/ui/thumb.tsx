import { useEffect, useRef } from 'preact/hooks'

import { barCount, barHeights, drawWaveform } from '../../elements/shared/draw.ts'

/** Size in CSS pixels. */
const BAR = 2
const GAP = 1

/** A small waveform. Screen readers skip it. */
export function Thumb({ levels, current }: { levels: readonly number[]; current: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const element = canvas.current
    if (!element) return
    const draw = () => {
      const context = element.getContext('2d')
      const { clientWidth, clientHeight } = element
      if (!context || clientWidth === 0) return
      const ratio = devicePixelRatio || 1
      const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)]
      Object.assign(element, { width, height })
      const [bar, gap] = [Math.round(BAR * ratio), Math.max(1, Math.round(GAP * ratio))]
      const rest = getComputedStyle(element).color
      const heights = barHeights(levels, barCount(width, bar, gap))
      drawWaveform(context, { width, height, heights, bar, gap, progress: 0, played: rest, rest, head: rest, line: 0 })
    }
    draw()
    const resized = new ResizeObserver(draw)
    resized.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    const theme = new MutationObserver(draw)
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      theme.disconnect()
      resized.disconnect()
      scheme.removeEventListener('change', draw)
    }
  }, [levels, current])
  return <canvas ref={canvas} class="thumb" aria-hidden="true" />
}
