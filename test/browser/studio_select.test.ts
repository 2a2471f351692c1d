import { expect, test } from 'vitest'

import { matches, startingWith, step } from '../../src/studio/ui/controls/options.ts'

test('options are found by words without accents, by letters, and by keys', () => {
  const options = ['Étude', 'Nocturne', 'Night bus', 'Nothing'].map((label) => ({ value: label, label, group: '' }))
  const found = (words: string) => options.filter(({ label }) => matches(label, words)).map(({ label }) => label)
  expect(found('etude')).toEqual(['Étude'])
  expect(found('bus NIGHT')).toEqual(['Night bus'])
  expect(found(' ')).toHaveLength(4)
  expect([startingWith(options, 'n', -1), startingWith(options, 'n', 1), startingWith(options, 'nn', 3)]).toEqual([
    1, 2, 1,
  ])
  expect([startingWith(options, 'no', 1), startingWith(options, 'not', 1), startingWith(options, 'x', 0)]).toEqual([
    1, 3, -1,
  ])
  expect([step('ArrowDown', 3, 4, true), step('ArrowUp', 0, 4, true), step('End', 0, 4, true)]).toEqual([3, 0, 3])
  expect([step('Home', 2, 4, false), step('a', 2, 4, true)]).toEqual([null, null])
})
