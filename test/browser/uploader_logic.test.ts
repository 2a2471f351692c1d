import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { FILE_ERRORS, SERVICE_ERRORS, TRACK_ERRORS } from '../../src/contract/errors.ts'
import { connect } from '../../src/elements/uploader/connection.ts'
import { mayHelpToRepeat } from '../../src/elements/uploader/failures.ts'
import type { Host } from '../../src/elements/uploader/host.ts'
import { createQueue } from '../../src/elements/uploader/queue.ts'
import { isTextFile } from '../../src/elements/uploader/rules.ts'
import { en } from '../../src/elements/uploader/texts_en.ts'

/** What the uploader decides without a browser. */

describe('a file that failed', () => {
  test.each(Object.keys(FILE_ERRORS))('with %s is not tried again', (code) => expect(mayHelpToRepeat(code)).toBe(false))
  test.each(Object.keys({ ...SERVICE_ERRORS, ...TRACK_ERRORS }))('with %s may be', (code) =>
    expect(mayHelpToRepeat(code)).toBe(true),
  )
  test('with a code that an object has by itself is not', () => expect(mayHelpToRepeat('constructor')).toBe(false))
})

describe('on a drive that does not answer', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  /** A file whose bytes never come. */
  function silent(name: string): File {
    const file = new File(['RIFF'], name, { type: 'audio/wav' })
    file.slice = () => Object.assign(new Blob(), { arrayBuffer: () => new Promise<ArrayBuffer>(() => {}) })
    return file
  }
  const connection = connect({ base_url: 'http://127.0.0.1', api_key: 'k', collection_id: 'c', upload_session_id: 's' })
  const host = (seen: string[]): Host => ({
    settings: () => ({ accept: '', maxSize: null, atOnce: 1, manual: false, texts: en, describe: () => ({}) }),
    connection: () => connection,
    missing: () => null,
    emit: (name) => seen.push(name),
    changed: () => {},
  })

  test('a file is not taken for text', async () => {
    const said = vi.fn<(isText: boolean) => void>()
    void isTextFile(silent('song.wav')).then(said)
    await vi.runAllTimersAsync()
    expect(said).toHaveBeenCalledWith(false)
  })

  test('a file fails with a reason, and those behind it have their turn', async () => {
    vi.stubGlobal('fetch', async () => Response.json({ ok: true, track_id: 't' }))
    const seen: string[] = []
    const queue = createQueue(host(seen))
    const [first, second] = queue.add([silent('gone.wav'), silent('too.wav')])
    await vi.runAllTimersAsync()
    expect([first, second].map((item) => [item?.state, item?.problem?.code])).toEqual([
      ['failed', 'file_changed'],
      ['failed', 'file_changed'],
    ])
    expect(seen.at(-1)).toBe('complete')
  })
})
