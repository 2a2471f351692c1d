import { expect, it } from 'vitest'

import { createLru } from '../../src/adapters/lru.ts'

it('is bounded, however much is asked for, and what is asked for stays', () => {
  const kept = createLru<string>({ entries: 1000, bytes: 100_000 })
  for (let i = 0; i < 100_000; i++) {
    kept.set(`${i}`, 'value', { organization_id: `${i % 7}`, bytes: 1 + (i % 200), until: Infinity })
    expect(kept.get('0', 0)).toBe('value')
  }
  const { entries, bytes } = kept.size()
  expect([entries <= 1000, bytes <= 100_000, bytes > 90_000]).toEqual([true, true, true])
  for (let i = 0; i < 7; i++) kept.forget(`${i}`)
  expect(kept.size()).toEqual({ entries: 0, bytes: 0 })
})

it('holds nothing that is bigger than a part of it, and a value once', () => {
  const kept = createLru<string>({ entries: 10, bytes: 800 })
  const entry = { organization_id: 'a', bytes: 100, until: 10 }
  kept.set('a', 'one', entry)
  kept.set('a', 'two', entry)
  kept.set('b', 'big', { ...entry, bytes: 101 })
  expect([kept.get('a', 9), kept.get('b', 9), kept.size()]).toEqual(['two', undefined, { entries: 1, bytes: 100 }])
  expect([kept.get('a', 10), kept.size()]).toEqual([undefined, { entries: 0, bytes: 0 }])
})
