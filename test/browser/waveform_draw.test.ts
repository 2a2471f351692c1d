import { describe, expect, test } from 'vitest'

import { barCount, barHeights, changedColumns, drawWaveform, type Picture } from '../../src/elements/shared/draw.ts'

/** Waveform drawing without a browser. */

test.each([320, 5000])('redraws at most four bars per frame while the progress moves, with %i levels', (count) => {
  const levels = Array.from({ length: count }, (_, i) => Math.abs(Math.sin(i)))
  const width = 1200
  const [bar, gap] = [6, 3]
  const heights = barHeights(levels, barCount(width, bar, gap))
  const colors = { played: '#ff0000', rest: '#0000ff', head: '#00ff00' }
  const still = { width, height: 120, heights, bar, gap, line: 2, ...colors }
  let bars = 0
  const nothing = () => {}
  const counting = {
    save: nothing,
    restore: nothing,
    beginPath: nothing,
    rect: nothing,
    clip: nothing,
    clearRect: nothing,
    fill: nothing,
    fillRect: nothing,
    fillStyle: '',
    globalAlpha: 1,
    roundRect: () => void bars++,
  }
  // Three minutes at 60 frames per second.
  const frames = 180 * 60
  let most = 0
  for (let frame = 1; frame <= frames; frame++) {
    const picture: Picture = { ...still, progress: frame / frames }
    const [from, to] = changedColumns((frame - 1) / frames, picture.progress, picture)
    bars = 0
    drawWaveform(counting, picture, from, to)
    most = Math.max(most, bars)
  }
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(4)
})

describe('bars', () => {
  test('fill the width, and there is always at least one', () => {
    expect([barCount(50, 6, 5), barCount(49, 6, 5), barCount(1, 6, 5)]).toEqual([5, 4, 1])
  })

  test('show the loudest of their levels, so that no peak is lost', () => {
    const levels = Array.from({ length: 5000 }, (_, i) => (i === 2490 || i === 4990 ? 0.9 : 0.1))
    const heights = barHeights(levels, 320)
    expect(heights).toHaveLength(320)
    expect(heights.flatMap((height, i) => (height === 0.9 ? [i] : []))).toEqual([159, 319])
    expect(barHeights([0.2, 0.8], 4)).toEqual([0.2, 0.2, 0.8, 0.8])
  })

  test('show silence if there are no levels, and are no taller than the picture', () => {
    expect(barHeights([], 3)).toEqual([0, 0, 0])
    expect(barHeights([2, 0.5], 2)).toEqual([1, 0.5])
  })
})
