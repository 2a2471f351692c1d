import { describe, expect, test, vi } from 'vitest'

import { aSong, lost, openQueue, refusal, service, until } from './upload_service.ts'

/** Race conditions of the upload engine: a lost response, a changed key, a cancellation. */

const MAKING = /^\/v1\/upload\/[\w-]+\/track$/
const LOOKING = /^\/v1\/upload\/[\w-]+\/track\/[\w-]+$/
/** Number of attempts that the client makes per call. */
const TRIES = 3

describe('a track whose response was lost is not created twice', () => {
  /** Loses the responses to the first requests for a track; the service still executes them. */
  function loseAnswers(): void {
    let times = TRIES
    service.intercept = async ({ path }, carryOut) => {
      const answer = await carryOut()
      return MAKING.test(path) && times-- > 0 ? lost() : answer
    }
  }

  test('even if the page describes the file differently each time', async () => {
    loseAnswers()
    let calls = 0
    const { queue, types } = openQueue({ describe: () => ({ organizationIndex: `${++calls}` }) })
    const [item] = queue.add([aSong('described.wav')])
    await until(item, 'ready')
    expect(types()).toContain('upload-retry')
    expect(service.tracks.map(({ body }) => body.organization_index)).toEqual(['1'])
  })

  test('and the file waits while the first request is in flight', async () => {
    let times = TRIES
    service.intercept = ({ path }) =>
      MAKING.test(path) && times-- > 0 ? refusal(409, 'request_in_flight', { 'retry-after': '1' }) : undefined
    const { queue } = openQueue()
    const [item] = queue.add([aSong('patient.wav')])
    await until(item, 'ready')
  })

  test('unless the session has changed meanwhile', async () => {
    loseAnswers()
    const second = { uploadSessionId: '' }
    const { queue } = openQueue({ uploadSessionId: service.openSession() }, (type) => {
      if (type === 'upload-retry') queue.configure(second)
    })
    second.uploadSessionId = service.openSession()
    const [item] = queue.add([aSong('moved.wav')])
    await until(item, 'ready')
    expect(item?.target?.upload_session_id).toBe('session-2')
  })
})

describe('a change to the key or the session', () => {
  test('does not affect files that are already processing', async () => {
    const { queue } = openQueue({}, (type) => {
      if (type === 'upload-complete') queue.configure({ apiKey: 'ta_uk_2', collectionId: 'elsewhere' })
    })
    const [item] = queue.add([aSong('followed.wav')])
    await until(item, 'ready')
    const [next] = queue.add([aSong('elsewhere.wav')])
    await until(next, 'ready')
    expect(next?.target?.client).not.toBe(item?.target?.client)
    expect(next?.target?.upload_session_id).toBe('session-2')
  })

  test('that prevents polling a track does not hide that its file is uploaded', async () => {
    service.intercept = ({ path }) => (LOOKING.test(path) ? refusal(401, 'unauthorized') : undefined)
    const { queue, events } = openQueue()
    const [item] = queue.add([aSong('there.wav')])
    await until(item, 'uploaded')
    expect(events).toContainEqual(expect.objectContaining({ type: 'track-unfollowed', code: 'unauthorized' }))
  })

  test('is not undone by the response to an earlier request', async () => {
    const held = Promise.withResolvers<void>()
    service.intercept = async ({ path }, carryOut) => {
      if (path.includes('gone')) await held.promise
      return carryOut()
    }
    const { queue, types } = openQueue({ uploadSessionId: 'gone' })
    const [item] = queue.add([aSong('between.wav')])
    await vi.advanceTimersByTimeAsync(100)
    expect(service.calls).toEqual(['POST /v1/upload/gone/track'])
    queue.configure({ uploadSessionId: service.openSession() })
    held.resolve()
    await until(item, 'ready')
    expect(types()).not.toContain('upload-error')
  })
})

describe('a key or session that ends during a large upload', () => {
  const aLargeSong = () => new File([new Uint8Array(64), new Blob([new Uint8Array(80_000_000)])], 'album.wav')
  const isPart = (path: string, n: number) => path.startsWith('/part/') && path.endsWith(`/${n}`)

  test('stops the upload, and a renewed key continues the same track', async () => {
    let isRevoked = false
    service.intercept = ({ path, key }) => {
      if (isPart(path, 4)) isRevoked = true
      return isRevoked && key === 'Bearer ta_uk_1' ? refusal(401, 'unauthorized') : undefined
    }
    const { queue, events } = openQueue()
    const [item] = queue.add([aLargeSong()])
    await vi.waitFor(() => expect(queue.problem?.code).toBe('unauthorized'), { timeout: 20_000 })
    queue.configure({ apiKey: 'ta_uk_2' })
    await until(item, 'ready')
    expect(service.tracks).toHaveLength(1)
    expect(events.filter(({ type }) => type === 'upload-error')).toHaveLength(1)
  })

  test('does not stop the upload if the page has set another key', async () => {
    service.intercept = ({ path, key }) => {
      if (isPart(path, 4)) queue.configure({ apiKey: 'ta_uk_2' })
      return service.count('PUT') > 3 && key === 'Bearer ta_uk_1' ? refusal(403, 'origin_not_allowed') : undefined
    }
    const { queue, types } = openQueue()
    const [item] = queue.add([aLargeSong()])
    await until(item, 'ready')
    expect([service.tracks.length, types().includes('upload-error')]).toEqual([1, false])
  })

  test('does not block other files if the page has set another session', async () => {
    const [first, second] = [service.openSession(), service.openSession()]
    service.intercept = ({ path }) => {
      if (!path.startsWith(`/v1/upload/${first}/`) || !path.endsWith('/multipart')) return undefined
      queue.configure({ uploadSessionId: second })
      return refusal(410, 'session_expired')
    }
    const { queue, types } = openQueue({ uploadSessionId: first })
    const [large, small] = queue.add([aLargeSong(), aSong('small.wav')])
    await until(large, 'ready')
    await until(small, 'ready')
    expect([large?.target?.upload_session_id, types().includes('upload-error')]).toEqual([second, false])
  })
})

describe('a track deleted meanwhile', () => {
  test('fails, and its file can be sent again as another track', async () => {
    service.intercept = async ({ path }, carryOut) => {
      if (LOOKING.test(path)) service.tracks.splice(0)
      return carryOut()
    }
    const { queue } = openQueue()
    const [item] = queue.add([aSong('deleted.wav')])
    await until(item, 'failed')
    expect([item?.problem?.code, item?.retriable]).toEqual(['track_deleted', true])
    service.intercept = () => undefined
    queue.retry(item!)
    await until(item, 'ready')
  })
})

describe('unusual timing', () => {
  /** Responds to the first PUT with this status. */
  function storageSays(status: number): void {
    let first = true
    service.intercept = ({ method }) => {
      if (method !== 'PUT' || !first) return undefined
      first = false
      return new Response('No', { status })
    }
  }

  test('a file that is retried and canceled at the same moment is canceled', async () => {
    storageSays(503)
    const { queue } = openQueue({}, (type, item) => {
      if (type !== 'upload-retry') return
      // The microtask runs after the file has entered its waiting state.
      queueMicrotask(() => {
        queue.retry(item)
        queue.cancel(item)
      })
    })
    const [item] = queue.add([aSong('hasty.wav')])
    await until(item, 'cancelled')
    await vi.runAllTimersAsync()
    expect([item?.state, item?.isUnsent]).toEqual(['cancelled', false])
  })

  test('retrying all failed files skips a canceled one, and the queue reports its completion once', async () => {
    storageSays(400)
    const { queue, types } = openQueue({ manual: true })
    const [unwanted, unlucky] = queue.add([aSong('unwanted.wav'), aSong('unlucky.wav')])
    queue.cancel(unwanted!)
    queue.start()
    await until(unlucky, 'failed')
    queue.cancel(...queue.items)
    expect(types().filter((type) => type === 'queue-complete')).toHaveLength(1)
    queue.retryFailed()
    await until(unlucky, 'ready')
    expect(unwanted?.state).toBe('cancelled')
  })

  test('a canceled file can still be sent, and a paused file can be resumed', async () => {
    const { queue, types } = openQueue({ manual: true })
    const [a, b] = queue.add([aSong('a.wav'), aSong('b.wav')])
    queue.cancel(a!)
    queue.pause(b!)
    queue.start()
    queue.retry(a!)
    queue.resume(b!)
    await until(a, 'ready')
    await until(b, 'ready')
    expect(types().slice(0, 5)).toEqual('file-added file-added upload-cancel upload-pause upload-resume'.split(' '))
  })

  test('the queue reports its completion once even if each completion event removes its file', async () => {
    const there: string[] = []
    const { queue, types } = openQueue({}, (type, item) => {
      if (type !== 'upload-complete') return
      there.push(item.id)
      if (there.length === 2) queue.remove(...queue.items.filter(({ id }) => there.includes(id)))
    })
    queue.add([new File(['Dear diary'], 'notes.txt'), aSong('gone.wav'), aSong('gone too.wav')])
    await vi.runAllTimersAsync()
    expect(types().filter((type) => type === 'queue-complete')).toHaveLength(1)
    expect(queue.items.map(({ name }) => name)).toEqual(['notes.txt'])
  })

  test('pausing all files lets active uploads finish and starts no others', async () => {
    const held = Promise.withResolvers<void>()
    service.intercept = async ({ method }, carryOut) => {
      if (method === 'PUT') await held.promise
      return carryOut()
    }
    const { queue } = openQueue({ concurrency: 1 })
    const [first, second] = queue.add([aSong('first.wav'), aSong('second.wav')])
    await until(first, 'uploading')
    await vi.advanceTimersByTimeAsync(100)
    queue.pauseAll()
    held.resolve()
    await until(first, 'ready')
    expect([second?.state, queue.isHeld]).toEqual(['queued', true])
    queue.resumeAll()
    await until(second, 'ready')
  })

  test('after all files are removed, no timer and no request remain', async () => {
    const { queue } = openQueue()
    const [waiting, followed] = queue.add([aSong('waiting.wav'), aSong('followed.wav')])
    service.intercept = ({ method, path }) => (method === 'PUT' && path.endsWith('1') ? lost() : undefined)
    await until(waiting, 'waiting')
    await until(followed, 'processing', 'ready')
    queue.remove(...queue.items)
    await vi.advanceTimersByTimeAsync(10_000)
    const { length } = service.calls
    await vi.advanceTimersByTimeAsync(600_000)
    expect([service.calls.length, vi.getTimerCount()]).toEqual([length, 0])
  })
})
