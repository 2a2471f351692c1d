import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { createKeyCache } from '../../../src/adapters/cache/key_cache.ts'
import type { KeyHolder } from '../../../src/core/principal.ts'

const principal = (api_key_id: string): KeyHolder => ({
  kind: 'server',
  organization_id: 'org',
  api_key_id,
  may: null,
  binding: null,
  variants: null,
  is_downloadable: false,
  allowed_origins: null,
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('the key cache stores a key for 30 seconds, so that no isolate accepts a revoked key for longer', () => {
  const keys = createKeyCache()
  keys.set('hash', principal('a'), Infinity)
  vi.advanceTimersByTime(29_999)
  expect(keys.get('hash')?.api_key_id).toBe('a')
  vi.advanceTimersByTime(1)
  expect(keys.get('hash')).toBeUndefined()
})

it('the key cache stores no key beyond its expiry', () => {
  const keys = createKeyCache()
  keys.set('hash', principal('a'), Date.now() + 5000)
  vi.advanceTimersByTime(5000)
  expect(keys.get('hash')).toBeUndefined()
})

it('the key cache evicts all entries of a key id at once, and no other entries', () => {
  const keys = createKeyCache()
  for (const id of ['a', 'b']) keys.set(`${id} new`, principal(id), Infinity)
  keys.set('a old', principal('a'), Infinity)
  keys.evict('a')
  expect(['a new', 'a old', 'b new'].map((hash) => keys.get(hash)?.api_key_id)).toEqual([undefined, undefined, 'b'])
})

it('the key cache keeps a key that is in use, however many other keys are read', () => {
  const keys = createKeyCache()
  keys.set('used', principal('used'), Infinity)
  keys.set('unused', principal('unused'), Infinity)
  for (let i = 0; i < 2000; i++) {
    keys.set(`${i}`, principal(`${i}`), Infinity)
    expect(keys.get('used')?.api_key_id).toBe('used')
  }
  expect(keys.get('unused')).toBeUndefined()
})
