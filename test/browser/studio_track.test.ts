import { expect, test } from 'vitest'

import { albumLoudness } from '../../src/studio/features/library/album_loudness.ts'
import { gainsFor, loudnessNote } from '../../src/studio/features/track/loudness.ts'

/** Tests the logic of the page of a track without a browser. */

test('of two files, only the louder one is turned down, by the difference', () => {
  expect(gainsFor(0)).toEqual([1, 1])
  const [a, b] = gainsFor(6)
  expect([a, 20 * Math.log10(b)]).toEqual([1, expect.closeTo(-6)])
  expect(gainsFor(-6)).toEqual([b, a])
})

test('a loudness is compared with that of streaming services', () => {
  expect([-14.4, -9, -20.5].map(loudnessNote)).toEqual([
    'At the usual level of streaming services, −14 LUFS',
    '5.0 LU above the usual level of streaming services',
    '6.5 LU below the usual level of streaming services',
  ])
})

test('the loudness of an album is the mean energy of its tracks, and unknown until that of all is known', () => {
  const aRow = (duration: number, integrated_lufs: number | null) => ({ duration, loudness: { integrated_lufs } })
  expect(albumLoudness([aRow(60, -10), aRow(60, -10), aRow(0, null)])).toBeCloseTo(-10)
  expect(albumLoudness([aRow(30, -10), aRow(30, -70)])).toBeCloseTo(-13.01, 1)
  expect([albumLoudness([]), albumLoudness([aRow(9, -10), undefined]), albumLoudness([aRow(9, null)])]).toEqual([
    null,
    null,
    null,
  ])
})
