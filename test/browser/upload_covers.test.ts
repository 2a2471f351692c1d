import { describe, expect, test, vi } from 'vitest'

import type { UploadItem } from '../../src/client/upload/item.ts'
import { aPicture, aSong, openQueue, service, silence, until } from './upload_service.ts'

/** Covers, and files that the user must select again. */

describe('a file that has changed on disk', () => {
  test('cannot be retried but can be selected again, and leaves no track', async () => {
    const changed = aSong('changed.wav')
    changed.slice = () => Object.assign(new Blob(), { arrayBuffer: () => Promise.reject(new Error('NotReadable')) })
    const { queue } = openQueue()
    const [item] = queue.add([changed])
    await until(item, 'failed')
    expect([item?.problem?.code, item?.retriable, service.tracks]).toEqual(['file_changed', false, []])
    queue.choose(item!, aSong('changed.wav'))
    await until(item, 'ready')
    expect(service.tracks).toHaveLength(1)
    const [longer] = queue.add([changed])
    await until(longer, 'failed')
    queue.choose(longer!, new File(['RIFF\0 and more'], 'longer.wav'))
    await until(longer, 'ready')
    expect([longer?.name, service.tracks.length, service.tracks[1]?.bytes]).toEqual(['longer.wav', 2, longer?.size])
  })
})

describe('a cover', () => {
  /** A file with a relative path, as in dropped folders. */
  const inFolder = (path: string, make: (name: string) => File) => {
    const file = make(path.split('/').at(-1)!)
    return Object.defineProperty(file, 'webkitRelativePath', { value: path })
  }
  const coversOf = (items: UploadItem[]) => items.map(({ name, cover }) => [name, cover?.file.name])

  test('with any file name is used for a single song; for several songs it needs a name such as cover.png', () => {
    const { queue, events } = openQueue({ accept: '.wav', manual: true })
    expect(coversOf(queue.add([aSong('one.wav'), aPicture('scan.png')]))).toEqual([['one.wav', 'scan.png']])
    expect(coversOf(queue.add([aSong('a.wav'), aSong('b.wav'), aPicture('Cover.PNG')]))).toEqual([
      ['a.wav', 'Cover.PNG'],
      ['b.wav', 'Cover.PNG'],
    ])
    expect(events.filter(({ type }) => type === 'file-rejected')).toEqual([])
    const [, , refused] = queue.add([aSong('c.wav'), aSong('d.wav'), aPicture('scan.png')])
    expect([refused?.state, refused?.problem?.code]).toEqual(['rejected', 'not_accepted'])
    expect(queue.add([aPicture('cover.png')])[0]?.state).toBe('rejected')
  })

  test('in a folder is used only for the songs of that folder', () => {
    const { queue } = openQueue({ accept: '.wav', manual: true })
    const items = queue.add([
      inFolder('Live/a.wav', aSong),
      inFolder('Live/b.wav', aSong),
      inFolder('Live/folder.png', aPicture),
      inFolder('Studio/c.wav', aSong),
      inFolder('Studio/back.png', aPicture),
      inFolder('Other/d.wav', aSong),
    ])
    expect(coversOf(items)).toEqual([
      ['a.wav', 'folder.png'],
      ['b.wav', 'folder.png'],
      ['c.wav', 'back.png'],
      ['d.wav', undefined],
    ])
  })

  test('is uploaded as soon as its track exists', async () => {
    const { queue, types } = openQueue({ manual: true })
    const [pictured, plain] = queue.add([aSong('pictured.wav'), aSong('plain.wav')])
    queue.addCover(pictured!, aPicture())
    queue.start()
    await until(plain, 'ready')
    await until(pictured, 'ready')
    expect(service.tracks.map(({ covers }) => covers)).toEqual([1, 0])
    expect(types()).toContain('cover-complete')
  })

  test('is rejected locally when its type is unsupported or it is too large', async () => {
    const { queue, events } = openQueue({ manual: true })
    const [item] = queue.add([aSong('song.wav')])
    queue.addCover(item!, new File(['<svg/>'], 'front.svg', { type: 'image/svg+xml' }))
    queue.addCover(item!, new File([new Uint8Array(10_000_001)], 'front.png', { type: 'image/png' }))
    expect(events.filter(({ type }) => type === 'cover-failed')).toMatchObject([
      { code: 'unsupported_image' },
      { code: 'image_too_large' },
    ])
    expect(service.calls).toEqual([])
  })

  test('is sent again after a stall', async () => {
    let first = true
    service.intercept = (call) => {
      if (!call.path.startsWith('/cover') || !first) return undefined
      first = false
      return silence(call)
    }
    const { queue, types } = openQueue()
    const [item] = queue.add([aSong('silent.wav')])
    queue.addCover(item!, aPicture())
    await until(item, 'ready')
    expect(item?.cover?.state).toBe('uploading')
    await vi.advanceTimersByTimeAsync(303_000)
    expect([item?.cover?.state, types().filter((type) => type.startsWith('cover'))]).toEqual([
      'ready',
      ['cover-start', 'cover-complete'],
    ])
  })

  test('stops uploading when its audio file is canceled, and is uploaded when that file is sent later', async () => {
    service.intercept = (call) => (call.path.startsWith('/cover') || call.method === 'PUT' ? silence(call) : undefined)
    const { queue, types } = openQueue()
    const [item] = queue.add([aSong('covered.wav')])
    queue.addCover(item!, aPicture())
    await until(item, 'uploading')
    await vi.advanceTimersByTimeAsync(100)
    expect(item?.cover?.state).toBe('uploading')
    queue.cancel(item!)
    expect(item?.cover?.state).toBe('queued')
    service.intercept = () => undefined
    queue.retry(item!)
    await until(item, 'ready')
    expect(types().filter((type) => type.startsWith('cover'))).toEqual(['cover-start', 'cover-start', 'cover-complete'])
    expect(service.tracks.map(({ covers }) => covers)).toEqual([1])
  })
})
