import { describe, expect, test } from 'vitest'

import { playableFiles, effectiveVolume, gainOf } from '../../src/client/playback/policy.ts'
import { neighbor, playingOrder } from '../../src/client/playback/state.ts'
import { loopOf, seconds } from '../../src/elements/player/attributes.ts'
import { trackColor, palette } from '../../src/elements/player/theme.ts'
import { contrast } from '../../src/elements/shared/color.ts'
import { randomColors, randomFrom } from '../support/random.ts'

/** Player logic without a browser: colors, files, order, loudness, attributes. */

describe('colors', () => {
  const colors = randomColors(200).map((color, i, all) => [color, all.at(-1 - i)!] as const)
  const edges = ['#000000', '#ffffff', '#ffff00', '#0000ff', '#808080', '#777777'].map((hex) => [hex, hex] as const)

  test('have the contrast ratio that WCAG defines', () => {
    expect(contrast('#000000', '#FFFFFF')).toBeCloseTo(21, 5)
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.478, 2)
  })

  test.each(['light', 'dark'])('keep 4.5:1 for text and 3:1 for controls with 200 random colors, %s', (theme) => {
    for (const [color, tint] of [...colors, ...edges]) {
      const { surface, raised, text, muted, accent, button, ink, rest } = palette(color, tint, theme === 'dark')
      for (const ground of [surface, raised]) {
        for (const ink_of_text of [text, muted, accent])
          expect(contrast(ink_of_text, ground), `${color} on ${tint}`).toBeGreaterThanOrEqual(4.5)
        for (const control of [button, rest])
          expect(contrast(control, ground), `${color} on ${tint}`).toBeGreaterThanOrEqual(3)
      }
      expect(contrast(ink, button), `${color} on ${tint}`).toBeGreaterThanOrEqual(3)
    }
  })

  test('are kept if they are readable and replaced if they are invalid', () => {
    expect(palette('#1b4d8a', '#1b4d8a', false).button).toBe('#1b4d8a')
    expect(palette('red; --x: y', null, false)).toEqual(palette(null, null, false))
  })
})

describe('the color of a player', () => {
  const gray = { hex: '#808080', area: 0.7, lightness: 0.5, saturation: 0 }
  const dull = { hex: '#6B5B4B', area: 0.2, lightness: 0.36, saturation: 0.18 }
  const red = { hex: '#C81E1E', area: 0.06, lightness: 0.45, saturation: 0.74 }
  const black = { hex: '#120303', area: 0.04, lightness: 0.04, saturation: 0.7 }

  test('is the configured one', () => expect(trackColor('#1B4D8A', [red])).toBe('#1B4D8A'))
  test('is the strongest color of the cover when none is configured', () => {
    expect(trackColor('#2B3440', [gray, dull, red, black])).toBe('#C81E1E')
    expect(trackColor(null, [{ ...dull, hex: '#5A6E9B', saturation: 0.3 }, red])).toBe('#C81E1E')
  })
  test('is the default if the cover is gray or missing', () => {
    expect(trackColor(null, [gray, dull, black])).toBe('#2B3440')
    expect(trackColor('#2B3440')).toBe('#2B3440')
  })
})

describe('variants', () => {
  const entry = (index: string, path: string) => ({ path, url: `https://r2/${path}`, variant: { index } })
  const all = [
    entry('early', 'a/early.mp3'),
    entry('aac-160', 'a/aac-160.m4a'),
    entry('mp3-128', 'a/mp3-128.mp3'),
    entry('opus-96', 'a/opus-96.webm'),
    entry('analysis', 'a/analysis.json'),
    entry('original', 'uploads/o/c/t'),
  ]
  const chosen = (wanted: string[], canPlay = (_type: string) => true) =>
    playableFiles(all, wanted, canPlay).map(({ variant }) => variant.index)

  test('are tried in the order of the play view, with a preliminary file last', () =>
    expect(chosen([])).toEqual(['aac-160', 'mp3-128', 'opus-96', 'early']))
  test('that the page names are tried first, in the order given', () =>
    expect(chosen(['opus-96', 'early', 'mp3-128'])).toEqual(['opus-96', 'mp3-128', 'aac-160', 'early']))
  test('are skipped if the browser cannot play them', () =>
    expect(chosen([], (type) => type.includes('mpeg'))).toEqual(['mp3-128', 'early']))
  test('include the uploaded file only if the page names it', () => expect(chosen(['original'])[0]).toBe('original'))
})

describe('order', () => {
  test('ends or wraps around after the last track, and can go backward', () => {
    const order = playingOrder(3, false, 0)
    expect([neighbor(order, 0, 1, 'none'), neighbor(order, 2, 1, 'none')]).toEqual([1, undefined])
    expect([neighbor(order, 2, 1, 'all'), neighbor(order, 0, -1, 'all')]).toEqual([0, 2])
    expect(neighbor(order, 0, -1, 'none')).toBeUndefined()
  })
  test('contains every track once if it is shuffled, and starts with the current one', () => {
    const order = playingOrder(50, true, 7, randomFrom(1))
    expect(order[0]).toBe(7)
    expect(order.toSorted((a, b) => a - b)).toEqual(playingOrder(50, false, 7))
    expect(order).not.toEqual([7, ...playingOrder(50, false, 7).filter((place) => place !== 7)])
  })
  test.each([
    [null, 'none'],
    ['', 'all'],
    ['all', 'all'],
    ['one', 'one'],
    ['none', 'none'],
  ])('loop=%s is %s', (value, loop) => expect(loopOf(value)).toBe(loop))
})

describe('loudness normalization', () => {
  const decibels = (loudness: object) => 20 * Math.log10(gainOf(loudness))
  test('reduces the volume of a loud track to -18 LUFS', () =>
    expect(decibels({ integrated_lufs: -8, true_peak_dbtp: 0.5 })).toBeCloseTo(-10))
  test('raises the volume of a quiet track only as far as its true peak allows', () => {
    expect(decibels({ integrated_lufs: -30, true_peak_dbtp: -20 })).toBeCloseTo(12)
    expect(decibels({ integrated_lufs: -30, true_peak_dbtp: -3 })).toBeCloseTo(2)
    expect(decibels({ integrated_lufs: -18, true_peak_dbtp: 0 })).toBeCloseTo(-1)
    expect(decibels({ integrated_lufs: -30, true_peak_dbtp: null })).toBeCloseTo(0)
  })
  test('leaves silence and unmeasured tracks unchanged', () =>
    expect([gainOf({}), gainOf({ integrated_lufs: null })]).toEqual([1, 1]))
  test('limits the volume to 0 and 1', () =>
    expect([effectiveVolume(1, 4), effectiveVolume(0.25, 2), effectiveVolume(0, 9)]).toEqual([1, 0.5, 0]))
})

test('start times are parsed in common notations', () =>
  expect(['90', '1:30', '1:02:03', '', 'x', '-5'].map(seconds)).toEqual([90, 90, 3723, 0, 0, 0]))
