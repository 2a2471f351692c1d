import { expect, test } from 'vitest'

import { Estimate, placeOf, summaryOf } from '../../src/studio/features/uploads/estimate.ts'

/** Tests the numbers in the tray of uploads. */

const item = (state: string, fraction = 0) => ({
  state,
  fraction,
  isUnsent: ['queued', 'uploading', 'waiting', 'paused'].includes(state),
})
const track = (progress: number) => ({ state: { progress, error: null, warnings: 0 } })

test('files count as working, waiting, failed or ready, and the work that is left is added up', () => {
  const items = [item('uploading', 0.5), item('queued'), item('paused', 0.25), item('failed'), item('rejected')]
  const ended = [{ status: 'ready' }, { status: 'incomplete' }, { status: 'failed' }] as const
  expect(summaryOf(items, [track(0.5), track(0)], ended)).toEqual({
    working: 2,
    waiting: 3,
    failed: 3,
    ready: 2,
    left: 1.5 + 2 + 1.75 + 0.5 + 1,
  })
})

test('the estimate follows the speed of the last half minute, and starts over with more work', () => {
  const estimate = new Estimate()
  expect(estimate.next(10, 0)).toBeNull()
  expect(estimate.next(9.5, 2000)).toBeNull()
  expect(estimate.next(9, 4000)).toBe(36)
  expect(estimate.next(9, 34_500)).toBeNull()
  expect(estimate.next(6, 40_000)).toBeCloseTo(11)
  expect(estimate.next(6.5, 40_500)).not.toBeNull()
  expect(estimate.next(12, 41_000)).toBeNull()
})

test('the place of a waiting track is counted from that of the last one', () => {
  expect([0, 1, 2].map((at) => placeOf(at, 3, 7))).toEqual([5, 6, 7])
  expect([0, 1].map((at) => placeOf(at, 2, undefined))).toEqual([0, 1])
})
