import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { changedColumns, type drawWaveform, type Picture } from '../../src/elements/shared/draw.ts'
import { setUp, type Waveforms } from './waveform_setup.ts'

/** Tests the drawing of a waveform pixel by pixel, as Chromium paints it. */

let waveforms: Waveforms
let page: Page
beforeAll(async () => {
  waveforms = await setUp()
  page = await waveforms.open('')
  // The code is a string, because the test runner would rewrite its import().
  await page.evaluate(`import('/elements/waveform.js').then((drawing) => Object.assign(window, { drawing }))`)
})
afterAll(() => waveforms?.dispose())

const PICTURE: Picture = {
  width: 50,
  height: 40,
  heights: [1, 0.5, 0.25, 0, 1],
  bar: 6,
  gap: 5,
  progress: 0,
  played: '#ff0000',
  rest: '#0000ff',
  head: '#00ff00',
  line: 2,
}

/**
 * Draws pictures one after the other on one canvas, with the module that pages load, and returns the pixels of the last
 * picture. Each step is [picture, from, to].
 */
const draw = (...steps: [Picture, number?, number?][]): Promise<number[]> =>
  page.evaluate((all) => {
    const { drawing } = window as unknown as { drawing: { drawWaveform: typeof drawWaveform } }
    const { width, height } = all[0]![0]
    const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')!
    for (const [picture, from, to] of all) drawing.drawWaveform(context, picture, from ?? 0, to ?? picture.width)
    return Array.from(context.getImageData(0, 0, width, height).data)
  }, steps)

const NAMES: Record<string, string> = { '255,0,0': 'played', '0,0,255': 'rest', '0,255,0': 'head' }
/** Returns the name of a pixel's color. It is empty for a transparent pixel, and `edge` for a partly covered pixel of a rounded corner. */
function at(pixels: number[], x: number, y: number): string {
  const [r, g, b, alpha] = pixels.slice((y * PICTURE.width + x) * 4)
  return alpha === 0 ? '' : alpha === 255 ? (NAMES[`${r},${g},${b}`] ?? 'other') : 'edge'
}
/** Returns the first and the last row that are not empty in a column. */
function rows(pixels: number[], x: number): [number, number] {
  const filled = Array.from({ length: PICTURE.height }, (_, y) => y).filter((y) => at(pixels, x, y) !== '')
  return [filled[0]!, filled.at(-1)!]
}
const column = (pixels: number[], x: number) => at(pixels, x, PICTURE.height / 2)

describe('a picture', () => {
  test('has played bars as tall as their levels and lower unplayed bars, centered, with empty gaps', async () => {
    const pixels = await draw([PICTURE])
    // Five bars of six pixels and four gaps of five pixels fill the width of 50 exactly.
    expect([2, 13, 24, 35, 46].map((x) => rows(pixels, x))).toEqual([
      [4, 35],
      [12, 27],
      [16, 23],
      // A silent bar is a dot that is as high as a bar is wide.
      [17, 22],
      [4, 35],
    ])
    const played = await draw([{ ...PICTURE, progress: 1, line: 0 }])
    expect([2, 13, 24, 35, 46].map((x) => rows(played, x))).toEqual([
      [0, 39],
      [10, 29],
      [15, 24],
      [17, 22],
      [0, 39],
    ])
    expect([0, 5, 6, 10, 11, 16, 17, 43, 44, 49].map((x) => column(pixels, x))).toEqual([
      'rest',
      'rest',
      '',
      '',
      'rest',
      'rest',
      '',
      '',
      'rest',
      'rest',
    ])
    // The ends of the bars are rounded, so their corners are not filled.
    expect([at(played, 0, 0), at(played, 5, 39)].every((corner) => corner === '' || corner === 'edge')).toBe(true)
  })

  test('changes color at the progress, even within a bar, and marks it with a line', async () => {
    const pixels = await draw([{ ...PICTURE, progress: 14 / 50 }])
    expect([0, 5, 6, 11, 12, 13, 14, 15, 16, 17, 22].map((x) => column(pixels, x))).toEqual([
      'played',
      'played',
      '',
      'played',
      'played',
      'head',
      'head',
      'rest',
      'rest',
      '',
      'rest',
    ])
    expect(rows(pixels, 13)).toEqual([0, 39])
    expect(rows(pixels, 11)).toEqual([10, 29])
    expect(rows(pixels, 15)).toEqual([12, 27])
  })

  test('is paler where the audio is not loaded, but not where it has been played', async () => {
    const pixels = await draw([{ ...PICTURE, progress: 3 / 50, loaded: 14 / 50 }])
    const alphaOf = (x: number) => pixels[(20 * PICTURE.width + x) * 4 + 3]
    expect([0, 5, 11, 13, 15, 24, 46].map(alphaOf)).toEqual([255, 255, 255, 255, 153, 153, 153])
    const played = await draw([{ ...PICTURE, progress: 1, loaded: 0 }])
    expect(played).toEqual(await draw([{ ...PICTURE, progress: 1 }]))
  })

  test('is completely played at the end, and consists only of bars if the line has no width', async () => {
    const complete = await draw([{ ...PICTURE, progress: 1 }])
    expect([0, 13, 47, 48, 49].map((x) => column(complete, x))).toEqual(['played', 'played', 'played', 'head', 'head'])
    const plain = await draw([{ ...PICTURE, progress: 1, line: 0 }])
    expect([47, 48, 49].map((x) => column(plain, x))).toEqual(['played', 'played', 'played'])
    // A progress that is out of range is clamped.
    expect(await draw([{ ...PICTURE, progress: 7 }])).toEqual(complete)
    expect(await draw([{ ...PICTURE, progress: -7 }])).toEqual(await draw([PICTURE]))
  })
})

describe('a moving progress', () => {
  const steps = [0, 0.13, 0.14, 0.22, 0.24, 0.5, 0.93, 1, 0.97, 0.2, 0.02, 0]

  test('results in the same picture whether only the changed columns or all columns are redrawn', async () => {
    for (let i = 1; i < steps.length; i++) {
      const [before, after] = [steps[i - 1]!, steps[i]!].map((progress) => ({ ...PICTURE, progress }))
      const parts = changedColumns(before!.progress, after!.progress, PICTURE)
      expect(await draw([before!], [after!, ...parts]), `${before!.progress} → ${after!.progress}`).toEqual(
        await draw([after!]),
      )
    }
  })
})
