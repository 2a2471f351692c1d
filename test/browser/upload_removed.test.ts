import { describe, expect, test, vi } from 'vitest'

import { aSong, lost, openQueue, service, silence, until } from './upload_service.ts'

/** The tracks of files that are removed from the list. */

const MAKING = /^\/v1\/upload\/[\w-]+\/track$/

describe('a removed file leaves no track', () => {
  test('if it was uploading, had failed, or was canceled', async () => {
    service.intercept = (call) =>
      call.method === 'PUT'
        ? call.path.endsWith('1')
          ? new Response('No', { status: 400 })
          : silence(call)
        : undefined
    const { queue } = openQueue()
    const [failed, cancelled, sent] = queue.add([aSong('failed.wav'), aSong('cancelled.wav'), aSong('sent.wav')])
    await until(failed, 'failed')
    await vi.waitFor(() => expect(service.count('PUT')).toBe(3))
    queue.cancel(cancelled!)
    expect(service.tracks).toHaveLength(3)
    queue.remove(failed!, cancelled!, sent!)
    await vi.waitFor(() => expect(service.tracks).toEqual([]))
  })

  test('even if its track is being created', async () => {
    const held = Promise.withResolvers<void>()
    service.intercept = async ({ path }, carryOut) => {
      const answer = await carryOut()
      if (MAKING.test(path)) await held.promise
      return answer
    }
    const { queue } = openQueue()
    queue.add([aSong('hasty.wav')])
    await vi.waitFor(() => expect(service.tracks).toHaveLength(1))
    queue.remove(...queue.items)
    held.resolve()
    await vi.waitFor(() => expect(service.tracks).toEqual([]))
  })

  test('unless its bytes have arrived, even if the response was lost', async () => {
    service.intercept = async ({ method }, carryOut) => {
      const answer = await carryOut()
      return method === 'PUT' ? lost() : answer
    }
    const { queue } = openQueue({}, (type, item) => type === 'upload-retry' && queue.remove(item))
    queue.add([aSong('there.wav')])
    await vi.advanceTimersByTimeAsync(10_000)
    expect([service.count('DELETE'), service.tracks.length]).toEqual([1, 1])
  })
})
