import { vi } from 'vitest'

import type { UploadQueue } from '../../src/client/upload/queue.ts'

/** Fakes of IndexedDB and Web Locks, limited to the functions that the upload ledger uses. All tabs of a test share them. */

const answer = <T>(read: () => T) => {
  const request = { result: undefined as T | undefined, error: null, onsuccess: () => {}, onupgradeneeded: () => {} }
  queueMicrotask(() => {
    request.result = read()
    request.onupgradeneeded()
    request.onsuccess()
  })
  return request
}

/** Stubs IndexedDB and returns the entries that all tabs have written, by key. */
export function stubIndexedDb(): Map<string, unknown> {
  const entries = new Map<string, unknown>()
  const store = {
    getAll: () => answer(() => structuredClone([...entries.values()])),
    put(entry: { key: string }) {
      const copy = structuredClone(entry)
      return answer(() => entries.set(entry.key, copy))
    },
    delete: (key: string) => answer(() => entries.delete(key)),
  }
  const database = { createObjectStore: () => store, transaction: () => ({ objectStore: () => store }) }
  vi.stubGlobal('indexedDB', { open: () => answer(() => database) })
  return entries
}

type Use = (lock: object | null) => Promise<unknown> | null

/** Stubs Web Locks. `end` releases all held locks, as when their tab crashes. */
export function stubLocks() {
  const held = new Map<string, () => void>()
  const waiting: { name: string; take: () => void }[] = []

  function release(name: string): void {
    held.delete(name)
    const next = waiting.findIndex((waiter) => waiter.name === name)
    if (next >= 0) waiting.splice(next, 1)[0]!.take()
  }

  async function request(
    name: string,
    { signal, ifAvailable }: { signal?: AbortSignal; ifAvailable?: true },
    use: Use,
  ) {
    await Promise.resolve()
    if (held.has(name) && ifAvailable) return use(null)
    if (held.has(name)) {
      await new Promise<void>((take, fail) => {
        waiting.push({ name, take })
        signal?.addEventListener('abort', () => fail(new Error('aborted')))
      })
    }
    const crash = Promise.withResolvers<void>()
    held.set(name, crash.resolve)
    const ended = await Promise.race([Promise.resolve(use({ name })).then(() => 'used'), crash.promise])
    if (ended === 'used') release(name)
    return undefined
  }

  vi.stubGlobal('navigator', {
    locks: { request, query: async () => ({ held: [...held.keys()].map((name) => ({ name })) }) },
  })
  return {
    held,
    end() {
      for (const [name, crash] of held) {
        crash()
        release(name)
      }
    },
  }
}

/** Loads the engine as another tab of the browser would. */
export async function openTab(): Promise<{ UploadQueue: typeof UploadQueue }> {
  vi.resetModules()
  return import('../../src/client/upload/queue.ts')
}
