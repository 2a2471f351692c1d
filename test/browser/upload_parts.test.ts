import { describe, expect, test, vi } from 'vitest'

import type { UploadItem } from '../../src/client/upload/item.ts'
import { lost, openQueue, refusal, service, silence, until } from './upload_service.ts'

/** Large files are uploaded in parts. These tests count the parts that are sent again after each failure. */

const MIB = 1024 * 1024
const PARTS = 10
/** Creates a file of eighty MiB, slightly less than ten parts, without allocating the bytes. */
function aLargeSong(name: string, lastModified = 1): File {
  const head = new Uint8Array(64)
  const part = new Blob([new Uint8Array(MIB)])
  return new File([head, ...Array.from({ length: 79 }, () => part)], name, { type: 'audio/wav', lastModified })
}
const multipart = (track = 0) => service.tracks[track]!.multipart!
const times = (track = 0) => [...multipart(track).times.entries()].toSorted(([a], [b]) => a - b).map(([, n]) => n)
const isPart = (path: string, n?: number) => path.startsWith('/part/') && (n === undefined || path.endsWith(`/${n}`))
/** The part number in a path; 0 for any other path. */
const numberOf = (path: string) => (isPart(path) ? Number(path.split('/').at(-1)) : 0)
const send = (name: string, options = {}) => {
  const made = openQueue(options)
  const [item] = made.queue.add([aLargeSong(name)])
  return { ...made, item: item! }
}
const stored = async (item: UploadItem, count: number) =>
  vi.waitFor(() => expect(Object.keys(item.parts?.etags ?? {})).toHaveLength(count), { timeout: 20_000 })

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Records the number of active parts whenever a part starts. `time` returns the milliseconds that a part takes. */
function measured(time: (running: number) => number): number[] {
  const counts: number[] = []
  let running = 0
  service.intercept = async ({ path }, carryOut) => {
    if (!isPart(path)) return carryOut()
    running++
    await wait(1)
    counts.push(running)
    await wait(time(running))
    const answer = await carryOut()
    running--
    return answer
  }
  return counts
}

test('a large file is sent in parts, at most four at a time, and few requests report the finished parts', async () => {
  // Each connection has the same speed, however many there are.
  const counts = measured(() => 1000)
  const { item, events } = send('album.wav')
  await until(item, 'ready')
  expect(Math.max(...counts)).toBe(4)
  expect(times()).toEqual(Array.from({ length: PARTS }, () => 1))
  expect(multipart().reported.size).toBe(PARTS)
  // The response that created the upload contained eight part URLs; the response to the first report contained the others.
  expect(service.calls.filter((call) => call.endsWith('/part'))).toHaveLength(1)
  expect(service.count('PUT /storage')).toBe(0)
  const progress = events.filter(({ type }) => type === 'upload-progress').map(({ loaded }) => loaded as number)
  expect([progress.at(-1), progress.every((loaded, at) => loaded >= (progress[at - 1] ?? 0))]).toEqual([
    item.size,
    true,
  ])
})

test('sends parts one by one on a slow connection, so that a lost connection costs at most one part', async () => {
  // All connections share the bandwidth, so a part takes longer if others are active.
  const counts = measured((running) => 8000 * running)
  const { item } = send('slow line.wav')
  await until(item, 'ready')
  expect([Math.max(...counts), Math.max(...counts.slice(3))]).toEqual([2, 1])
})

test('a small file is sent in one request', async () => {
  const { queue } = openQueue()
  const [item] = queue.add([new File(['RIFF\0'], 'small.wav')])
  await until(item, 'ready')
  expect([service.count('PUT /storage'), service.tracks[0]?.multipart]).toEqual([1, null])
})

describe('only missing parts are sent again', () => {
  test('when the connection is lost midway', async () => {
    let failures = 0
    service.intercept = ({ path }) => (isPart(path) && service.count('PUT') > 6 && failures++ < 8 ? lost() : undefined)
    const { item, events } = send('cut.wav')
    await until(item, 'ready')
    expect(times()).toEqual(Array.from({ length: PARTS }, () => 1))
    expect(events.some(({ type, code }) => type === 'upload-retry' && code === 'storage_unavailable')).toBe(true)
    expect(service.tracks).toHaveLength(1)
  })

  test('when a part fails repeatedly while the others succeed', async () => {
    let failures = 5
    service.intercept = ({ path }) =>
      isPart(path, 3) && failures-- > 0 ? new Response('SlowDown', { status: 503 }) : undefined
    const { item } = send('slow.wav')
    await until(item, 'ready')
    expect(times()).toEqual(Array.from({ length: PARTS }, () => 1))
  })

  test('when the URL of a part has expired and is replaced', async () => {
    let first = true
    service.intercept = ({ path }) => {
      if (!isPart(path, 5) || !first) return undefined
      first = false
      return new Response('<Code>AccessDenied</Code>', { status: 403 })
    }
    const { item } = send('expired.wav')
    await until(item, 'ready')
    expect([service.tracks.length, times()[4]]).toEqual([1, 1])
  })

  /** Holds parts from a given number until the returned function is called. */
  function holdFrom(part_number: number): () => void {
    const held = Promise.withResolvers<void>()
    service.intercept = async ({ path }, carryOut) => {
      if (numberOf(path) >= part_number) await held.promise
      return carryOut()
    }
    return held.resolve
  }

  test('after a pause, in which active parts finish and no other part starts', async () => {
    const letGo = holdFrom(6)
    const { item, queue } = send('paused.wav')
    await until(item, 'uploading')
    await stored(item, 5)
    queue.pause(item)
    expect([item.state, item.isActive]).toEqual(['paused', true])
    letGo()
    await vi.waitFor(() => expect(item.isActive).toBe(false))
    const there = Object.keys(item.parts!.etags).length
    expect([item.state, item.sent, there < PARTS]).toEqual(['paused', item.stored, true])
    expect(service.count('PUT')).toBe(there)
    queue.resume(item)
    await until(item, 'ready')
    expect(times()).toEqual(Array.from({ length: PARTS }, () => 1))
  })

  test('even if the file is resumed before the active parts finish', async () => {
    const letGo = holdFrom(6)
    const { item, queue } = send('hasty.wav')
    await until(item, 'uploading')
    await stored(item, 5)
    for (const _ of [1, 2, 3]) {
      queue.pause(item)
      queue.resume(item)
    }
    queue.pause(item)
    await vi.advanceTimersByTimeAsync(1000)
    queue.resume(item)
    expect(item.state).toBe('uploading')
    letGo()
    await until(item, 'ready')
    expect(times()).toEqual(Array.from({ length: PARTS }, () => 1))
  })

  test('after a second pause, which stops active parts at once, and after canceling', async () => {
    const silentFrom = (n: number) =>
      (service.intercept = (call) => (numberOf(call.path) > n ? silence(call) : undefined))
    silentFrom(5)
    const { item, queue } = send('stopped.wav')
    await until(item, 'uploading')
    await stored(item, 5)
    queue.pause(item)
    queue.pause(item)
    await vi.waitFor(() => expect(item.isActive).toBe(false))
    expect([item.state, item.sent]).toEqual(['paused', 40 * MIB])
    silentFrom(7)
    queue.resume(item)
    await until(item, 'uploading')
    await stored(item, 7)
    queue.cancel(item)
    expect(item.state).toBe('cancelled')
    service.intercept = () => undefined
    queue.retry(item)
    await until(item, 'ready')
    expect(times()).toEqual(Array.from({ length: PARTS }, () => 1))
  })

  test('unless the parts in storage differ from the reported ones: then all are sent again', async () => {
    let wrong = true
    service.intercept = async ({ path }, carryOut) => {
      const answer = await carryOut()
      if (!isPart(path, 2) || !wrong) return answer
      wrong = false
      return new Response('', { headers: { etag: '"swapped"' } })
    }
    const { item } = send('swapped.wav')
    await until(item, 'ready')
    expect(service.tracks).toHaveLength(1)
    expect(times()).toEqual(Array.from({ length: PARTS }, () => 2))
  })
})

test('the file fails if storage rejects a part or hides its ETag', async () => {
  service.intercept = ({ path }) => (isPart(path) ? new Response('No', { status: 400 }) : undefined)
  const refused = send('refused.wav').item
  await until(refused, 'failed')
  expect(refused.problem?.code).toBe('storage_400')
  service.intercept = ({ path }) => (isPart(path) ? new Response('') : undefined)
  const hidden = send('hidden.wav').item
  await until(hidden, 'failed')
  expect(hidden.problem?.code).toBe('etag_hidden')
})

test('without a connection to the storage the upload fails after a while, and a retry keeps the stored parts', async () => {
  service.intercept = ({ path }) => (isPart(path) && service.count('PUT') > 4 ? lost() : undefined)
  const { item, queue } = send('lost.wav')
  await until(item, 'failed')
  expect(item.problem?.code).toBe('storage_unavailable')
  service.intercept = () => undefined
  queue.retry(item)
  await until(item, 'ready')
  expect(times()).toEqual(Array.from({ length: PARTS }, () => 1))
})

test('an upload that the service no longer knows restarts with another track', async () => {
  let gone = true
  service.intercept = ({ path }) => {
    if (!gone || !path.endsWith('/part')) return undefined
    gone = false
    return refusal(404, 'not_found')
  }
  const { item } = send('gone.wav')
  await until(item, 'ready')
  expect(service.tracks.map(({ id }) => id)).toEqual([item.target?.track_id])
})

describe('an upload unknown to storage', () => {
  const forgotten = () => new Response('<Code>NoSuchUpload</Code>', { status: 404 })

  test('succeeds when another tab has completed it', async () => {
    service.intercept = ({ path }) => {
      if (!isPart(path, 5)) return undefined
      service.tracks[0]!.status = 'processing'
      return forgotten()
    }
    const { item, types } = send('elsewhere.wav')
    await until(item, 'ready')
    expect([service.tracks.length, types().includes('file-failed')]).toEqual([1, false])
  })

  test('restarts and discards the first track if no other tab has completed it', async () => {
    let first = true
    service.intercept = ({ path }) => {
      if (!isPart(path, 5) || !first) return undefined
      first = false
      return forgotten()
    }
    const { item } = send('forgotten.wav')
    await until(item, 'ready')
    expect(service.tracks.map(({ id }) => id)).toEqual([item.target?.track_id])
    expect(times()).toEqual(Array.from({ length: PARTS }, () => 1))
  })
})

test('removing a file mid-upload deletes its track and stops all activity', async () => {
  service.intercept = (call) => (numberOf(call.path) > 3 ? silence(call) : undefined)
  const { item, queue } = send('removed.wav')
  await until(item, 'uploading')
  await stored(item, 3)
  queue.remove(item)
  await vi.advanceTimersByTimeAsync(1000)
  expect([service.count('DELETE'), service.tracks]).toEqual([1, []])
  const { length } = service.calls
  await vi.advanceTimersByTimeAsync(600_000)
  expect([service.calls.length, vi.getTimerCount()]).toEqual([length, 0])
})
