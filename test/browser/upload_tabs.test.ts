import { beforeEach, describe, expect, test, vi } from 'vitest'

import type { UploadItem } from '../../src/client/upload/item.ts'
import { openTab, stubLocks, stubIndexedDb } from './fake_browser_storage.ts'
import { aSong, openQueue, service, silence, until } from './upload_service.ts'

/** Uploads of large files with the browser's upload ledger: after a crash, in several tabs, and if the browser cannot store the ledger. */

let locks: ReturnType<typeof stubLocks>
let entries: Map<string, unknown>
beforeEach(() => {
  entries = stubIndexedDb()
  locks = stubLocks()
})

const MIB = 1024 * 1024
const PARTS = 6
const ONCE = Array.from({ length: PARTS }, () => 1)
const aLargeSong = (name: string) =>
  new File([new Uint8Array(64), new Blob([new Uint8Array(47 * MIB)])], name, { type: 'audio/wav', lastModified: 1 })
const numberOf = (path: string) => (path.startsWith('/part/') ? Number(path.split('/').at(-1)) : 0)
/** How often each part of the first track was received. */
const times = () => [...service.tracks[0]!.multipart!.times.values()]
const stored = async (item: UploadItem | undefined, count: number) =>
  vi.waitFor(() => expect(Object.keys(item?.parts?.etags ?? {})).toHaveLength(count), { timeout: 20_000 })

const inTab = async (options = {}) => openQueue(options, () => {}, await openTab())

/** Opens a tab, starts sending a file, and waits until three parts are stored. */
async function sending(name: string) {
  service.intercept = (call) => (numberOf(call.path) > 3 ? silence(call) : undefined)
  const { queue } = await inTab()
  const [item] = queue.add([aLargeSong(name)])
  await stored(item, 3)
  return { queue, item: item! }
}

/** Ends the tab without cleanup, like a crash. */
async function crash({ item }: { item: UploadItem }): Promise<void> {
  const snapshot = new Map(entries)
  item.controller.abort()
  await vi.advanceTimersByTimeAsync(100)
  for (const [key, entry] of snapshot) entries.set(key, entry)
  service.intercept = () => undefined
  locks.end()
}

describe('after a crash', () => {
  test('a key set after loading the page still resumes an interrupted upload', async () => {
    await crash(await sending('late.wav'))
    service.intercept = ({ path, key }) =>
      path.startsWith('/v1/') && key !== 'Bearer ta_uk_1'
        ? new Response('{"message":"No"}', { status: 401 })
        : undefined
    const { queue, types } = await inTab({ apiKey: '' })
    await queue.restore()
    expect(queue.items.map(({ state, sent }) => [state, sent])).toEqual([['interrupted', 24 * MIB]])
    queue.configure({ apiKey: 'ta_uk_1' })
    const [item] = queue.add([aLargeSong('late.wav')])
    await until(item, 'ready')
    expect([times(), service.tracks.length, types().includes('upload-error')]).toEqual([ONCE, 1, false])
  })

  test('removing an interrupted upload leaves no track', async () => {
    await crash(await sending('unwanted.wav'))
    const { queue } = await inTab()
    await queue.restore()
    queue.remove(...queue.items)
    await vi.waitFor(() => expect([service.tracks, entries.size]).toEqual([[], 0]))
  })
})

describe('two tabs', () => {
  test('never send the same file: the second tab reports a conflict and continues the upload after the first one has crashed', async () => {
    const first = await sending('twice.wav')
    const { queue, types } = await inTab()
    await queue.restore()
    expect(queue.items).toEqual([])
    const [item, small] = queue.add([aLargeSong('twice.wav'), aSong('small.wav')])
    await until(item, 'interrupted')
    expect([item?.problem?.code, types().includes('upload-pause')]).toEqual(['other_tab', true])
    // Other files are not blocked.
    await until(small, 'ready')
    await crash(first)
    await until(item, 'ready')
    expect([times(), service.tracks.length]).toEqual([ONCE, 2])
  })

  test('complete the second queue only when the file that the first tab was sending has arrived', async () => {
    const first = await sending('shared.wav')
    const { queue, events, types } = await inTab()
    const [item, small] = queue.add([aLargeSong('shared.wav'), aSong('small.wav')])
    await until(item, 'interrupted')
    await until(small, 'ready')
    expect(types()).not.toContain('queue-complete')
    await crash(first)
    await until(item, 'ready')
    await vi.waitFor(() => expect(events.at(-1)).toEqual({ type: 'queue-complete', ready: 2, failed: 0 }))
    expect(types().filter((type) => type === 'queue-complete')).toHaveLength(1)
  })

  test('complete the second queue and ask for the file again if the first tab ended before the file had a track', async () => {
    service.intercept = (call) => (call.path.startsWith('/v1/upload/') ? silence(call) : undefined)
    const [first] = (await inTab()).queue.add([aLargeSong('begun.wav')])
    await vi.waitFor(() => expect(service.count('POST /v1/upload/')).toBe(1))
    const { queue, events, types } = await inTab()
    const [item] = queue.add([aLargeSong('begun.wav')])
    await until(item, 'interrupted')
    expect(types()).not.toContain('queue-complete')
    await crash({ item: first! })
    await vi.waitFor(() => expect(events.at(-1)).toEqual({ type: 'queue-complete', ready: 0, failed: 0 }))
    expect([item?.state, item?.problem]).toEqual(['interrupted', null])
    queue.choose(item!, aLargeSong('begun.wav'))
    await until(item, 'ready')
    expect(events.at(-1)).toEqual({ type: 'queue-complete', ready: 1, failed: 0 })
  })

  test('complete the second queue when the file that the first tab is sending is removed from the second', async () => {
    await sending('given.wav')
    const { queue, events, types } = await inTab()
    const [item, small] = queue.add([aLargeSong('given.wav'), aSong('small.wav')])
    await until(item, 'interrupted')
    await until(small, 'ready')
    expect(types()).not.toContain('queue-complete')
    queue.remove(item!)
    await vi.waitFor(() => expect(events.at(-1)).toEqual({ type: 'queue-complete', ready: 1, failed: 0 }))
  })

  test('that both resume an interrupted file send it once, and both report it as ready', async () => {
    await crash(await sending('listed.wav'))
    const tabs = [await inTab(), await inTab()]
    for (const { queue } of tabs) await queue.restore()
    const items = tabs.flatMap(({ queue }) => queue.add([aLargeSong('listed.wav')]))
    for (const item of items) await until(item, 'ready')
    expect([times(), service.tracks.length]).toEqual([ONCE, 1])
  })

  test('do not delete each other’s uploads when a file is removed', async () => {
    await crash(await sending('kept.wav'))
    const [first, second] = [await inTab(), await inTab()]
    for (const { queue } of [first, second]) await queue.restore()
    service.intercept = (call) => (numberOf(call.path) > 4 ? silence(call) : undefined)
    const [item] = first.queue.add([aLargeSong('kept.wav')])
    await stored(item, 4)
    second.queue.remove(...second.queue.items)
    await vi.advanceTimersByTimeAsync(1000)
    expect([service.count('DELETE'), service.tracks.length, entries.size]).toEqual([0, 1, 1])
  })

  test('stop waiting for each other when the file is removed, and check again when it is selected again', async () => {
    await sending('busy.wav')
    const { queue } = await inTab()
    const [item] = queue.add([aLargeSong('busy.wav')])
    await until(item, 'interrupted')
    queue.choose(item!, aLargeSong('busy.wav'))
    await vi.advanceTimersByTimeAsync(1000)
    expect([item?.state, item?.problem?.code]).toEqual(['interrupted', 'other_tab'])
    queue.remove(item!)
    await vi.advanceTimersByTimeAsync(1000)
    expect([service.count('DELETE'), service.tracks.length]).toEqual([0, 1])
  })
})

test('a file that is added twice in one tab becomes two tracks', async () => {
  const { queue } = await inTab()
  const items = queue.add([aLargeSong('double.wav'), aLargeSong('double.wav')])
  for (const item of items) await until(item, 'ready')
  expect([times(), service.tracks.length, entries.size, locks.held.size]).toEqual([ONCE, 2, 0, 0])
})

describe('an upload works without the browser’s ledger', () => {
  const never = () => ({})
  const throws = () => {
    throw new Error('denied')
  }
  test.each([
    ['its database never answers', never],
    ['its database is forbidden', throws],
  ])('even if %s', async (_, open) => {
    vi.stubGlobal('indexedDB', { open })
    const { queue } = await inTab()
    const [large, small] = queue.add([aLargeSong('large.wav'), aSong('small.wav')])
    await vi.advanceTimersByTimeAsync(10_000)
    await until(large, 'ready')
    await until(small, 'ready')
  })

  test('even if reading from the ledger never ends', async () => {
    const database = { transaction: () => ({ objectStore: () => ({ getAll: never, put: never, delete: never }) }) }
    const opened = { result: database, onsuccess: () => {} }
    vi.stubGlobal('indexedDB', { open: () => (queueMicrotask(() => opened.onsuccess()), opened) })
    const { queue } = await inTab()
    const [large] = queue.add([aLargeSong('large.wav')])
    await until(large, 'ready')
  })

  test('even if the browser has no Web Locks, as on pages without https', async () => {
    vi.stubGlobal('navigator', {})
    const { queue } = await inTab()
    const [large] = queue.add([aLargeSong('large.wav')])
    await until(large, 'ready')
    expect(entries.size).toBe(0)
  })
})
