import { expect, it } from 'vitest'

import { createLru } from '../../../src/adapters/cache/lru.ts'

it('an LRU cache stays within its limit after any number of insertions, and keeps an entry that is requested often', () => {
  const cache = createLru<string>({ entries: 1000, bytes: 100_000 })
  for (let i = 0; i < 100_000; i++) {
    cache.set(`${i}`, 'value', { organization_id: `${i % 7}`, bytes: 1 + (i % 200), until: Infinity })
    expect(cache.get('0', 0)).toBe('value')
  }
  const { entries, bytes } = cache.size()
  expect([entries <= 1000, bytes <= 100_000, bytes > 90_000]).toEqual([true, true, true])
  for (let i = 0; i < 7; i++) cache.evict(`${i}`)
  expect(cache.size()).toEqual({ entries: 0, bytes: 0 })
})

it('an LRU cache rejects an entry larger than the maximum share, and stores each key once', () => {
  const cache = createLru<string>({ entries: 10, bytes: 800 })
  const entry = { organization_id: 'a', bytes: 100, until: 10 }
  cache.set('a', 'one', entry)
  cache.set('a', 'two', entry)
  cache.set('b', 'big', { ...entry, bytes: 101 })
  expect([cache.get('a', 9), cache.get('b', 9), cache.size()]).toEqual(['two', undefined, { entries: 1, bytes: 100 }])
  expect([cache.get('a', 10), cache.size()]).toEqual([undefined, { entries: 0, bytes: 0 }])
})
