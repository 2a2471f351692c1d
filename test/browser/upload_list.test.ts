import { beforeEach, describe, expect, test, vi } from 'vitest'

import { openTab, stubIndexedDb, stubLocks } from './fake_browser_storage.ts'
import { aSong, lost, openQueue, service, silence, until } from './upload_service.ts'

/** The list of an uploader that remembers its files: after a reload, and in two tabs. The names of files are part of their fingerprints. */

let locks: ReturnType<typeof stubLocks>
let entries: Map<string, unknown>
beforeEach(() => {
  entries = stubIndexedDb()
  locks = stubLocks()
})

const inTab = async (options = {}) => openQueue({ remembers: true, ...options }, () => {}, await openTab())

/** Ends all tabs without cleanup, and opens another one, whose list is restored. */
async function reload() {
  locks.end()
  const tab = await inTab()
  await tab.queue.restore()
  return tab
}
const storage = (path: string) => path.startsWith('/storage/')

describe('after a reload', () => {
  test('the list has the finished files in their order and those that were rejected, until they are removed', async () => {
    const { queue } = await inTab({ maxSize: 100 })
    const big = new File([new Uint8Array(101)], 'big.wav', { type: 'audio/wav' })
    const items = queue.add([aSong('one.wav'), big, aSong('two.wav')])
    await until(items[0], 'ready')
    await until(items[2], 'ready')
    const next = await reload()
    expect(next.queue.items.map(({ name, state, duration }) => [name, state, duration])).toEqual([
      ['one.wav', 'ready', 3],
      ['big.wav', 'rejected', 0],
      ['two.wav', 'ready', 3],
    ])
    expect(next.queue.items[1]!.problem).toMatchObject({ code: 'too_large', limit: 100 })
    // Only the files of this visit count for the end of the queue.
    await until(next.queue.add([aSong('three.wav')])[0], 'ready')
    await vi.waitFor(() => expect(next.events.at(-1)).toEqual({ type: 'queue-complete', ready: 1, failed: 0 }))
    next.queue.remove(...next.queue.items)
    await vi.advanceTimersByTimeAsync(100)
    expect((await reload()).queue.items).toEqual([])
  })

  test('a track that was being processed is followed until it is ready', async () => {
    service.intercept = ({ method, path }, carryOut) =>
      method === 'GET' && path.includes('/track/')
        ? Response.json({ ok: true, track: { status: 'processing', progress: 0.2, duration: 0, error: null } })
        : carryOut()
    const { queue } = await inTab()
    await until(queue.add([aSong('slow.wav')])[0], 'processing')
    await vi.advanceTimersByTimeAsync(100)
    service.intercept = () => undefined
    const next = await reload()
    expect(next.queue.items.map(({ state }) => state)).toEqual(['processing'])
    await until(next.queue.items[0], 'ready')
    expect(next.types()).toContain('track-ready')
  })

  test('a small file that was being sent, and those behind it, are sent when they are chosen again, each to one track', async () => {
    service.intercept = (call) => (storage(call.path) ? silence(call) : undefined)
    const { queue } = await inTab({ concurrency: 1 })
    const [first] = queue.add([aSong('first.wav'), aSong('second.wav')])
    await until(first, 'uploading')
    await vi.waitFor(() => expect(service.count('PUT /storage')).toBe(1))
    await vi.advanceTimersByTimeAsync(100)
    service.intercept = () => undefined
    const next = await reload()
    expect(next.queue.items.map(({ name, state, sent }) => [name, state, sent])).toEqual([
      ['first.wav', 'interrupted', 0],
      ['second.wav', 'interrupted', 0],
    ])
    next.queue.add([aSong('first.wav'), aSong('second.wav')])
    for (const item of next.queue.items) await until(item, 'ready')
    expect([next.queue.items.length, service.tracks.length]).toEqual([2, 2])
  })

  test('another version of a file of which nothing is stored is accepted', async () => {
    service.intercept = (call) => (storage(call.path) ? silence(call) : undefined)
    const { queue } = await inTab()
    queue.add([aSong('mix.wav')])
    await vi.waitFor(() => expect(service.count('PUT /storage')).toBe(1))
    await vi.advanceTimersByTimeAsync(100)
    service.intercept = () => undefined
    const next = await reload()
    const newer = new File(['RIFF\0\0\0\u0001WAVE'], 'mix.wav', { type: 'audio/wav', lastModified: 5 })
    const [item] = next.queue.add([newer])
    await until(item, 'ready')
    expect([next.queue.items.length, item!.problem]).toEqual([1, null])
  })
})

test('a stored list has no upload URLs, and is removed after the destination has changed', async () => {
  const { queue } = await inTab()
  await until(queue.add([aSong('one.wav')])[0], 'ready')
  await vi.waitFor(() => expect([...entries.values()]).toMatchObject([{ outcome: { state: 'ready' } }]))
  expect(JSON.stringify([...entries.values()])).not.toContain('track_upload')
  queue.configure({ collectionId: 'other' })
  queue.remove(...queue.items)
  await vi.waitFor(() => expect(entries.size).toBe(0))
})

test('a cover for a file of an earlier visit is refused', async () => {
  const { queue } = await inTab()
  await until(queue.add([aSong('one.wav')])[0], 'ready')
  await vi.advanceTimersByTimeAsync(100)
  const next = await reload()
  const [item] = next.queue.items
  next.queue.addCover(item!, new File(['x'], 'cover.png', { type: 'image/png' }))
  await vi.waitFor(() =>
    expect(item!.cover).toMatchObject({ state: 'failed', problem: { code: 'upload_link_expired' } }),
  )
})

test('a queue stores the list only while it remembers', async () => {
  const { queue } = await inTab()
  queue.configure({ remembers: false })
  await until(queue.add([aSong('one.wav')])[0], 'ready')
  await vi.advanceTimersByTimeAsync(100)
  expect(entries.size).toBe(0)
})

test('a small file that another tab is sending is named, and becomes ready with the track of that tab', async () => {
  let respond = () => {}
  service.intercept = ({ path }, carryOut) =>
    storage(path) ? new Promise<void>((resolve) => (respond = resolve)).then(carryOut) : undefined
  const file = aSong('same.wav')
  const [first] = (await inTab()).queue.add([file])
  await vi.waitFor(() => expect(service.count('PUT /storage')).toBe(1))
  const [second] = (await inTab()).queue.add([file])
  await until(second, 'interrupted')
  expect(second!.problem?.code).toBe('other_tab')
  respond()
  for (const item of [first, second]) await until(item, 'ready')
  expect(service.tracks).toHaveLength(1)
})

test('a storage that cannot be reached is told apart from a lost connection', async () => {
  service.intercept = ({ path }) => (storage(path) ? lost() : undefined)
  const { queue } = await inTab()
  const [item] = queue.add([aSong('stuck.wav')])
  await until(item, 'waiting')
  expect(item!.problem?.code).toBe('storage_unavailable')
  service.intercept = lost
  await until(item, 'failed')
  expect(item!.problem?.code).toBe('network')
})

test('files know their place in the queue, unless it is held', async () => {
  service.intercept = (call) => (storage(call.path) ? silence(call) : undefined)
  const { queue } = await inTab({ concurrency: 1 })
  const items = queue.add([aSong('a.wav'), aSong('b.wav'), aSong('c.wav')])
  await until(items[0], 'uploading')
  expect(items.map((item) => queue.placeOf(item))).toEqual([0, 1, 2])
  queue.pauseAll()
  expect(items.map((item) => queue.placeOf(item))).toEqual([0, 0, 0])
})

test('the speed of a file is that of the last seconds', async () => {
  const { UploadItem } = await import('../../src/client/upload/item.ts')
  const item = new UploadItem(null, { name: 'a.wav', size: 10_000_000 })
  const send = (sent: number, milliseconds: number) => {
    vi.advanceTimersByTime(milliseconds)
    item.advance(sent)
    return Math.round(item.speed)
  }
  expect([send(0, 0), send(500_000, 500), send(1_000_000, 500)]).toEqual([0, 0, 1_000_000])
  expect(send(5_000_000, 1000)).toBe(2_000_000)
  // After a pause, the speed is measured again.
  expect(send(5_000_000, 60_000)).toBe(0)
})
