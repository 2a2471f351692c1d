import { describe, expect, test, vi } from 'vitest'

import type { Failure } from '../../src/client/index.ts'
import { isTextFile } from '../../src/client/upload/accept.ts'
import { afterCall, afterUpload, isRetriable } from '../../src/client/upload/session.ts'
import { FILE_ERRORS, SERVICE_ERRORS, TRACK_ERRORS } from '../../src/contract/track_errors.ts'
import { aSong, lost, openQueue, refusal, service, silence, until } from './upload_service.ts'

/** Tests the upload engine without a browser: the state of a file after each response of the service and of storage. */

const MAKING = /^\/v1\/upload\/[\w-]+\/track$/

describe('a failure', () => {
  const failure = (status: number, code: Failure['code'] = 'network'): Failure => ({
    ok: false,
    message: '',
    status,
    code,
  })
  test.each([0, 408, 429, 500, 503])('with status %i is retried', (status) => {
    expect([afterCall(failure(status)), afterUpload(failure(status))]).toEqual(['retry', 'retry'])
  })
  test.each([401, 403, 404, 410])('with status %i from the service affects every file', (status) =>
    expect(afterCall(failure(status))).toBe('stop'),
  )
  test('with status 403 from storage causes a request for a new URL; other statuses fail the file', () => {
    expect([403, 400, 411].map((status) => afterUpload(failure(status)))).toEqual(['renew', 'fail', 'fail'])
    expect(afterCall(failure(413, 'file_too_large'))).toBe('fail')
  })
  test.each(Object.keys(FILE_ERRORS))('during processing with the code %s cannot be retried', (code) =>
    expect(isRetriable(code)).toBe(false),
  )
  test.each(Object.keys({ ...SERVICE_ERRORS, ...TRACK_ERRORS }))(
    'during processing with the code %s can be retried',
    (code) => expect(isRetriable(code)).toBe(true),
  )
  test('with the name of an object property as its code cannot be retried', () =>
    expect(isRetriable('constructor')).toBe(false))
})

test('files become tracks in list order, and each file emits its events', async () => {
  const { queue, events } = openQueue({ concurrency: 2 })
  const items = queue.add([aSong('one.wav'), aSong('two.wav'), aSong('three.wav')])
  for (const item of items) await until(item, 'ready')
  expect(service.tracks.map(({ body }) => body.file_name)).toEqual(['one.wav', 'two.wav', 'three.wav'])
  expect(service.count('POST /v1/upload_session')).toBe(1)
  const of = (name: string) => [...new Set(events.filter((event) => event.name === name).map(({ type }) => type))]
  expect(of('one.wav')).toEqual(
    'file-added upload-start upload-progress upload-complete track-processing track-ready'.split(' '),
  )
  expect(events.at(-1)).toEqual({ type: 'queue-complete', ready: 3, failed: 0 })
})

describe('a rejected file is never sent', () => {
  test('if it is too large, empty, of a type that is not accepted, or a text file', async () => {
    const { queue, events } = openQueue({ accept: '.wav,.mp3', maxSize: 1000 })
    const large = new File(['x'.repeat(1001)], 'large.wav')
    const text = new File(['Dear diary, '.repeat(50)], 'diary.mp3', { type: 'audio/mpeg' })
    const items = queue.add([large, new File([], 'empty.wav'), new File(['%PDF'], 'notes.pdf'), text])
    await until(items[3], 'rejected')
    expect(events.filter(({ type }) => type === 'file-rejected')).toMatchObject([
      { name: 'large.wav', code: 'too_large', limit: 1000 },
      { name: 'empty.wav', code: 'empty_file' },
      { name: 'notes.pdf', code: 'not_accepted' },
      { name: 'diary.mp3', code: 'text_file' },
    ])
    expect(events.at(-1)).toEqual({ type: 'queue-complete', ready: 0, failed: 4 })
    expect(service.calls).toEqual([])
  })

  test('if it exceeds the maximum size of the service', async () => {
    service.intercept = ({ path }) => (MAKING.test(path) ? refusal(413, 'file_too_large') : undefined)
    const { queue } = openQueue()
    const [item] = queue.add([aSong('huge.wav')])
    await until(item, 'failed')
    expect(item?.problem?.code).toBe('file_too_large')
    expect(service.count('PUT')).toBe(0)
  })
})

describe('on a drive that does not respond', () => {
  /** A file whose bytes never arrive. */
  function silent(name: string): File {
    const file = aSong(name)
    file.slice = () => Object.assign(new Blob(), { arrayBuffer: () => new Promise<ArrayBuffer>(() => {}) })
    return file
  }

  test('a file is not mistaken for text', async () => {
    const onResult = vi.fn<(isText: boolean) => void>()
    void isTextFile(silent('song.wav')).then(onResult)
    await vi.runAllTimersAsync()
    expect(onResult).toHaveBeenCalledWith(false)
  })

  test('a file fails with a reason, and the queue continues', async () => {
    const { queue, events } = openQueue({ concurrency: 1 })
    const items = queue.add([silent('gone.wav'), silent('too.wav')])
    await until(items[1], 'failed')
    expect(items.map(({ state, problem }) => [state, problem?.code])).toEqual([
      ['failed', 'file_changed'],
      ['failed', 'file_changed'],
    ])
    expect(events.at(-1)?.type).toBe('queue-complete')
  })
})

describe('a file is sent again', () => {
  test('when storage fails temporarily', async () => {
    let failures = 2
    service.intercept = ({ method }) =>
      method === 'PUT' && failures-- > 0 ? new Response('SlowDown', { status: 503 }) : undefined
    const { queue, events } = openQueue()
    const [item] = queue.add([aSong('busy.wav')])
    await until(item, 'ready')
    const retries = events.filter(({ type }) => type === 'upload-retry')
    expect(retries).toMatchObject([{ code: 'storage_503' }, { code: 'storage_503' }])
    expect([service.count('PUT'), service.tracks.length]).toEqual([3, 1])
  })

  test.each([
    ['ExpiredRequest', 400],
    ['AccessDenied', 403],
  ])('when its URL has expired, which the storage reports as %s, to the URL of a new track', async (code, status) => {
    let first = true
    service.intercept = ({ method }) => {
      if (method !== 'PUT' || !first) return undefined
      first = false
      return new Response(`<Code>${code}</Code>`, { status })
    }
    const { queue } = openQueue()
    const [item] = queue.add([aSong('expired.wav')])
    await until(item, 'ready')
    expect([service.count('PUT'), item?.target?.track_id]).toEqual([2, 'track-2'])
  })

  test('when its upload stalls', async () => {
    let first = true
    service.intercept = (call) => {
      if (call.method !== 'PUT' || !first) return undefined
      first = false
      return silence(call)
    }
    const { queue, events } = openQueue()
    const [item] = queue.add([aSong('silent.wav')])
    await until(item, 'waiting')
    // The service answers meanwhile.
    expect(item?.problem?.code).toBe('storage_unavailable')
    await until(item, 'ready')
    expect(events.filter(({ type }) => type === 'upload-retry')).toHaveLength(1)
  })

  test('only a limited number of times, and never after storage has rejected the file', async () => {
    service.intercept = ({ method, path }) =>
      method === 'PUT' ? (path.endsWith('1') ? lost() : new Response('No', { status: 400 })) : undefined
    const { queue, events } = openQueue()
    const [unlucky, refused] = queue.add([aSong('unlucky.wav'), aSong('refused.wav')])
    await until(refused, 'failed')
    expect([refused?.problem?.code, service.count('PUT /storage/track-2')]).toEqual(['storage_400', 1])
    await until(unlucky, 'failed')
    expect(events.filter(({ type }) => type === 'upload-retry')).toHaveLength(7)
  })

  test('unless storage has all bytes and only the response was lost', async () => {
    service.intercept = async ({ method }, carryOut) => {
      if (method !== 'PUT') return carryOut()
      await carryOut()
      return lost()
    }
    const { queue } = openQueue()
    const [item] = queue.add([aSong('there.wav')])
    await until(item, 'ready')
    expect(service.count('PUT')).toBe(1)
  })

  test('on request or when the network is back; attempts do not count while offline', async () => {
    vi.stubGlobal('navigator', { onLine: false })
    service.intercept = ({ method }) => (method === 'PUT' ? lost() : undefined)
    const { queue } = openQueue()
    const [item] = queue.add([aSong('offline.wav')])
    await until(item, 'waiting')
    expect(item?.retryAt).toBeNull()
    for (let n = 0; n < 20; n++) {
      queue.retry(item!)
      await vi.advanceTimersByTimeAsync(1)
    }
    expect([item?.state, service.count('PUT')]).toEqual(['waiting', 21])
    service.intercept = () => undefined
    vi.stubGlobal('navigator', { onLine: true })
    await until(item, 'ready')
  })
})

describe('a session', () => {
  test('that has expired is replaced silently', async () => {
    const { queue, types } = openQueue()
    const [before] = queue.add([aSong('before.wav')])
    await until(before, 'ready')
    service.sessions.clear()
    const [after] = queue.add([aSong('after.wav')])
    await until(after, 'ready')
    expect(service.count('POST /v1/upload_session')).toBe(2)
    expect(types()).not.toContain('upload-error')
  })

  test('that ends during an upload does not affect the file', async () => {
    service.intercept = async ({ method }, carryOut) => {
      const answer = await carryOut()
      if (method === 'PUT') service.sessions.clear()
      return answer
    }
    const { queue, events } = openQueue()
    const [item] = queue.add([aSong('late.wav')])
    await until(item, 'uploaded')
    expect(events).toContainEqual(expect.objectContaining({ type: 'track-unfollowed', code: 'session_expired' }))
    expect(service.tracks[0]).toMatchObject({ bytes: 12 })
  })

  test('that the page supplied stops every file when it expires, until the page sets another one', async () => {
    const { queue, events } = openQueue({ uploadSessionId: 'gone' })
    const items = queue.add([aSong('one.wav'), aSong('two.wav')])
    await vi.advanceTimersByTimeAsync(1000)
    expect([queue.problem?.code, ...items.map(({ state }) => state)]).toEqual(['session_expired', 'queued', 'queued'])
    queue.configure({ uploadSessionId: service.openSession() })
    for (const item of items) await until(item, 'ready')
    expect(events.filter(({ type }) => type === 'upload-error')).toHaveLength(1)
  })
})

test.each([
  [401, 'unauthorized'],
  [403, 'insufficient_scope'],
  [403, 'origin_not_allowed'],
])('%i %s stops every file and loses none', async (status, code) => {
  service.intercept = ({ path }) => (path === '/v1/upload_session' ? refusal(status, code) : undefined)
  const { queue, events } = openQueue({ apiKey: 'ta_uk_wrong' })
  const [item] = queue.add([aSong('key.wav')])
  await vi.advanceTimersByTimeAsync(1000)
  expect([item?.state, queue.problem?.code, events.at(-1)?.type]).toEqual(['queued', code, 'upload-error'])
  service.intercept = () => undefined
  queue.configure({ apiKey: 'ta_uk_right' })
  await until(item, 'ready')
  expect(queue.problem).toBeNull()
})

test('without a key nothing is sent, and an error event reports that the key is missing', async () => {
  const { queue, events } = openQueue({ apiKey: '' })
  queue.add([aSong('attributes.wav')])
  await vi.advanceTimersByTimeAsync(1000)
  expect([events.at(-1), service.calls]).toEqual([{ type: 'upload-error', code: 'not_set_up', message: '' }, []])
})

test('files added in manual mode start when the page turns that mode off', async () => {
  const { queue } = openQueue({ manual: true })
  const [item] = queue.add([aSong('waiting.wav')])
  await vi.advanceTimersByTimeAsync(5000)
  expect([item?.state, queue.isIdle]).toEqual(['queued', true])
  queue.configure({ manual: false })
  await until(item, 'ready')
})
