import { expect, test } from 'vitest'

import { countryName, filterOf, partsOf, placeOf, reasonText } from '../../src/studio/features/listening/listening.ts'
import { linksOf, type ListedLink } from '../../src/studio/features/sharing/link.ts'
import { dropOffsOf } from '../../src/studio/features/track/drop_offs.ts'

/** Tests the logic of the listening statistics in the studio. */

const ID = '00000000-0000-4000-8000-000000000001'

test('an address selects a resource, and everything else in it selects the organization', () => {
  expect(filterOf({ scope: 'playlist', id: ID })).toEqual({ scope: 'playlist', id: ID })
  const others: Record<string, string>[] = [
    {},
    { scope: 'track' },
    { id: ID },
    { scope: 'organization', id: ID },
    { scope: 'track', id: '1' },
  ]
  for (const query of others) expect(filterOf(query)).toBeNull()
})

test('an address limits the numbers to one country or one source', () => {
  expect(placeOf({ country: 'DE', source: 'blog.example' })).toEqual({ country: 'DE' })
  expect(placeOf({ source: 'blog.example' })).toEqual({ source: 'blog.example' })
  expect([placeOf({ country: 'germany' }), placeOf({})]).toEqual([{}, {}])
})

test('plays by country have the largest first, and the others and those without a country in the last part', () => {
  const rows = [
    { key: null, plays: 50 },
    { key: 'JP', plays: 2 },
    { key: 'DE', plays: 7 },
    { key: 'US', plays: 9 },
    { key: 'FR', plays: 0 },
  ]
  expect(partsOf(rows, countryName, 'Others', 2)).toEqual([
    { key: 'US', name: 'United States', value: 9 },
    { key: 'DE', name: 'Germany', value: 7 },
    { key: null, name: 'Others', value: 52 },
  ])
  expect(partsOf([{ key: 'DE', plays: 1 }], countryName, 'Others')).toEqual([{ key: 'DE', name: 'Germany', value: 1 }])
})

test('unknown country codes and unknown reasons are shown unchanged', () => {
  expect(['T1', 'ZZZZ', 'EU'].map(countryName)).toEqual(['Tor', 'ZZZZ', 'European Union'])
  expect(['late', 'toString', 'new'].map(reasonText)).toEqual(['arrived too late', 'toString', 'new'])
})

/** Returns the curve of 100 visits to a track, which `losses` of them leave before the given seconds. */
function curveOf(duration: number, losses: Record<number, number>, step = 1, visits = 100) {
  const heard = Array.from({ length: Math.ceil(duration / step) }, (_, at) =>
    Object.entries(losses).reduce((left, [second, lost]) => (at * step >= Number(second) ? left - lost : left), visits),
  )
  return { step, visits, heard }
}

test('the three largest drop-offs are found in the order of the track, where most visits stop', () => {
  const drops = dropOffsOf(curveOf(200, { 20: 6, 60: 10, 61: 2, 120: 20, 150: 8 }))
  expect(drops.map(({ at }) => at)).toEqual([60, 120, 150])
  expect(drops[0]).toMatchObject({ before: 0.94, after: 0.82 })
  expect(drops[1]).toMatchObject({ before: 0.82, after: 0.62 })
})

test('a drop-off of a long track has the time of its step', () => {
  const [drop, ...others] = dropOffsOf(curveOf(3600, { 1800: 30 }, 3.6))
  expect(others).toEqual([])
  expect(drop!.at * 3.6).toBeCloseTo(1800)
})

test('neither the end of a track, nor small or slow losses, nor few visits are drop-offs', () => {
  expect(dropOffsOf(curveOf(200, { 196: 60 }))).toEqual([])
  expect(dropOffsOf(curveOf(200, { 100: 4 }))).toEqual([])
  expect(dropOffsOf(curveOf(200, { 100: 4 }, 1, 20))).toEqual([])
  const slow = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [at * 2 + 1, 1]))
  expect(dropOffsOf(curveOf(200, slow))).toEqual([])
  expect(dropOffsOf(curveOf(200, { 100: 5 }, 1, 9))).toEqual([])
  expect(dropOffsOf(curveOf(200, { 100: 5 }, 1, 10))).toHaveLength(1)
  expect(dropOffsOf(curveOf(2, { 1: 50 }))).toEqual([])
})

test('links can be ordered by their plays', () => {
  const links = [{ slug: 'a', plays: 1 }, { slug: 'b' }, { slug: 'c', plays: 3 }] as ListedLink[]
  expect(linksOf(links, { sort: 'plays' }).map(({ slug }) => slug)).toEqual(['c', 'a', 'b'])
})
