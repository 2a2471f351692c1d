import type { Page, Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'

import { makeImage } from '../support/audio.ts'
import { expire } from './expired.ts'
import { must } from './steps.ts'
import { PATIENCE, type Uploader } from './uploader_page.ts'
import { addCover, type Bench, choose, setUp } from './uploader_setup.ts'

/** `<tonearm-uploader>` when something happens at the wrong moment: an answer gets lost, a key changes, somebody cancels. */

let bench: Bench
let picture: Buffer

beforeAll(async () => {
  ;[bench, picture] = await Promise.all([setUp(), makeImage('png')])
})
afterEach(() => bench.tidy())
afterAll(() => bench?.dispose())

const MAKING = '**/v1/upload/*/track'
const LOOKING = '**/v1/upload/*/track/*'
const STORAGE = '**/cdn-cgi/local/r2/**'
/** So often a call of the client is repeated before it has failed. */
const TRIES = 3

const carryOut = async (asked: Request) =>
  fetch(asked.url(), { method: asked.method(), headers: await asked.allHeaders(), body: asked.postData() })

/** Loses the answers of the first requests of a kind; the service carries them out. */
const loseAnswers = (page: Page, url: string, method: string, times = TRIES) =>
  page.route(url, async (route) => {
    if (route.request().method() !== method || times-- <= 0) return await route.continue()
    await carryOut(route.request())
    return await route.abort()
  })

/** Holds the first request of a kind until `release`. */
async function holdFirst(page: Page, url: string, method: string) {
  const held: (() => void)[] = []
  let first = true
  await page.route(url, async (route) => {
    if (route.request().method() === method && first) {
      first = false
      await new Promise<void>((resolve) => held.push(resolve))
    }
    return await route.continue()
  })
  return {
    isThere: () => expect.poll(() => held.length, PATIENCE).toBe(1),
    release: () => held.splice(0).forEach((go) => go()),
  }
}

/** The storage's answer to the next attempt, in place of its own. */
const storageSays = (page: Page, status: number) => {
  let first = true
  return page.route(STORAGE, async (route) => {
    if (route.request().method() !== 'PUT' || !first) return await route.continue()
    first = false
    return await route.fulfill({ status, headers: { 'access-control-allow-origin': '*' }, body: 'No' })
  })
}

const openSession = async () =>
  (await must(bench.server.post('/v1/upload_session', { body: { collection_id: bench.collection_id } })))
    .upload_session_id

const trackOf = async (uploader: Uploader) => {
  const [view] = await uploader.files()
  return (await must(bench.server.get('/v1/track/{track_id}', { params: { track_id: view!.track_id! } }))).track
}
const typesOf = async (uploader: Uploader) => (await uploader.events()).map(({ type }) => type)
const setAttributes = ({ element }: Uploader, attributes: Record<string, string>) =>
  element.evaluate((element, all) => {
    for (const [name, value] of Object.entries(all)) element.setAttribute(name, value)
  }, attributes)

test('a file that is cancelled while its cover travels lets the page go, and brings the cover when it is sent after all', async () => {
  const uploader = await bench.open()
  const row = uploader.row('covered.wav')
  const cover = await holdFirst(uploader.page, '**/v1/cover_upload/*', 'POST')
  bench.line.hold()
  await choose(uploader, await bench.aHeavySong('covered.wav'))
  await row.getByText('%').waitFor(PATIENCE)
  await addCover(uploader, (await uploader.files())[0]!.id, picture)
  await cover.isThere()
  await row.getByText('Sending the cover').waitFor()
  await row.getByRole('button', { name: 'Cancel' }).click()
  await row.getByText('Cancelled').waitFor()
  expect(await row.getByText('Sending the cover').count()).toBe(0)
  expect(await uploader.asks()).toBe(false)

  cover.release()
  bench.line.flow()
  await row.getByRole('button', { name: 'Try again' }).click()
  await uploader.untilSent('covered.wav')
  await vi.waitFor(async () => expect((await trackOf(uploader)).image_colors).not.toEqual([]), PATIENCE)
  // The service answers a little after it has the palette.
  await expect
    .poll(async () => (await typesOf(uploader)).filter((type) => type.startsWith('cover')), PATIENCE)
    .toEqual('cover-start cover-start cover-complete'.split(' '))
})

describe('of a track whose answer got lost there is no second one', () => {
  test('and nothing is lost, also when the page says something else of the file each time it is asked', async () => {
    const uploader = await bench.open()
    await loseAnswers(uploader.page, MAKING, 'POST')
    await uploader.element.evaluate((element) => {
      let asked = 0
      ;(element as HTMLElementTagNameMap['tonearm-uploader']).describe = () => ({ organization_index: `${++asked}` })
    })
    await choose(uploader, await bench.aSong('told.wav', 1))
    await uploader.untilSent('told.wav')
    expect(await typesOf(uploader)).toContain('retrying')
    expect(await trackOf(uploader)).toMatchObject({ organization_index: '1' })
    expect((await bench.trackNames()).filter((name) => name === 'told.wav')).toHaveLength(1)
  })

  test('while the service is still at it, the file waits', async () => {
    const uploader = await bench.open()
    let times = TRIES
    await uploader.page.route(MAKING, async (route) => {
      if (route.request().method() !== 'POST' || times-- <= 0) return await route.continue()
      const headers = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' }
      const json = { ok: false, code: 'request_in_flight', message: 'Still running' }
      return await route.fulfill({ status: 409, headers: { ...headers, 'retry-after': '1' }, json })
    })
    await choose(uploader, await bench.aSong('patient.wav', 1))
    await uploader.untilSent('patient.wav')
  })

  test('unless the session is another one by then', async () => {
    const uploader = await bench.open({ 'collection-id': '', 'upload-session-id': await openSession() })
    await loseAnswers(uploader.page, MAKING, 'POST')
    await uploader.element.evaluate(
      (element, next) => {
        element.addEventListener('tonearm-uploader-retrying', () => element.setAttribute('upload-session-id', next))
      },
      await openSession(),
    )
    await choose(uploader, await bench.aSong('moved.wav', 1))
    await uploader.untilSent('moved.wav')
  })
})

describe('a change of the key or the session', () => {
  test('leaves the files alone that are processed already', async () => {
    const uploader = await bench.open()
    let polls = 0
    let ask = () => {}
    const changed = new Promise<void>((resolve) => (ask = resolve))
    await uploader.page.route(LOOKING, async (route) => {
      if (++polls > TRIES) return await route.continue()
      // Whoever asks after the change asks anew.
      await changed
      return await route.abort()
    })
    await choose(uploader, await bench.aSong('followed.wav', 1))
    await uploader.until('followed.wav', 'processing')
    const { collection_id } = await must(bench.server.post('/v1/collection', { body: { title: 'Elsewhere' } }))
    await setAttributes(uploader, { 'api-key': await bench.mintKey({ collection_id }), 'collection-id': collection_id })
    ask()
    await uploader.until('followed.wav', 'ready')
    await choose(uploader, await bench.aSong('elsewhere.wav', 1))
    await uploader.untilSent('elsewhere.wav')
    expect(await bench.trackNames()).not.toContain('elsewhere.wav')
  })

  test('after which files can no longer be followed does not hide that they are there', async () => {
    const uploader = await bench.open()
    await uploader.page.route(LOOKING, (route) => {
      const json = { ok: false, code: 'unauthorized', message: 'This key was revoked' }
      return route.fulfill({ status: 401, headers: { 'access-control-allow-origin': '*' }, json })
    })
    await choose(uploader, await bench.aSong('there.wav', 1))
    await uploader.until('there.wav', 'uploaded')
    await uploader.row('there.wav').getByText('Uploaded. Processing goes on').waitFor()
    expect(await uploader.events()).toContainEqual(
      expect.objectContaining({ type: 'unfollowed', code: 'unauthorized' }),
    )
  })

  test('is not undone by the answer to a request from before', async () => {
    const old = await openSession()
    expire(bench.stack, 'upload_sessions', old)
    const uploader = await bench.open({ 'collection-id': '', 'upload-session-id': old })
    const making = await holdFirst(uploader.page, MAKING, 'POST')
    await choose(uploader, await bench.aSong('between.wav', 1))
    await making.isThere()
    await setAttributes(uploader, { 'upload-session-id': await openSession() })
    making.release()
    await uploader.untilSent('between.wav')
    expect(await typesOf(uploader)).not.toContain('error')
  })
})

test('a file that is to be tried at once and is cancelled in the same moment is cancelled', async () => {
  const uploader = await bench.open()
  await storageSays(uploader.page, 503)
  const cancelled = uploader.element.evaluate((element) => {
    const uploader = element as HTMLElementTagNameMap['tonearm-uploader']
    return new Promise<void>((resolve) => {
      uploader.addEventListener('tonearm-uploader-retrying', ({ detail: { id } }) =>
        // Once it waits.
        queueMicrotask(() => {
          uploader.retry(id)
          uploader.cancel(id)
          resolve()
        }),
      )
    })
  })
  await choose(uploader, await bench.aSong('hasty.wav', 1))
  await cancelled
  expect(await uploader.row('hasty.wav').getAttribute('data-state')).toBe('cancelled')
  expect(await uploader.asks()).toBe(false)
})

test('what was cancelled is not sent with the failed ones, and the end is told once', async () => {
  const uploader = await bench.open({ manual: '' })
  await storageSays(uploader.page, 400)
  await choose(uploader, await bench.aSong('unwanted.wav', 1), await bench.aSong('unlucky.wav', 1))
  await uploader.element.evaluate((element) => {
    const uploader = element as HTMLElementTagNameMap['tonearm-uploader']
    uploader.cancel(uploader.files[0]!.id)
    uploader.start()
  })
  await uploader.until('unlucky.wav', 'failed')
  await uploader.element.evaluate((element) => (element as HTMLElementTagNameMap['tonearm-uploader']).cancel())
  expect((await typesOf(uploader)).filter((type) => type === 'complete')).toHaveLength(1)
  await uploader.element.getByRole('button', { name: 'Retry failed' }).click()
  await uploader.untilSent('unlucky.wav')
  expect(await uploader.row('unwanted.wav').getAttribute('data-state')).toBe('cancelled')
})

test('files that the page takes from the list once they are there end the list once', async () => {
  const uploader = await bench.open()
  await uploader.element.evaluate((element) => {
    const uploader = element as HTMLElementTagNameMap['tonearm-uploader']
    const there: string[] = []
    uploader.addEventListener('tonearm-uploader-upload-complete', ({ detail }) => {
      there.push(detail.id)
      if (there.length === 2) for (const id of there) uploader.removeFile(id)
    })
  })
  const [one, other] = [await bench.aSong('gone.wav', 1), await bench.aSong('gone too.wav', 1)]
  await choose(uploader, await bench.aFile('notes.txt', Buffer.from('Dear diary')), one, other)
  await expect.poll(() => typesOf(uploader), PATIENCE).toContain('complete')
  expect((await typesOf(uploader)).filter((type) => type === 'complete')).toHaveLength(1)
})

test('a cover from which nothing more is heard is sent again', async () => {
  const uploader = await bench.open()
  await uploader.page.clock.install()
  const cover = await holdFirst(uploader.page, '**/v1/cover_upload/*', 'POST')
  await choose(uploader, await bench.aSong('silent.wav', 1))
  await addCover(uploader, (await uploader.files())[0]!.id, picture)
  await cover.isThere()
  // Its patience, and the pause before the next attempt.
  await uploader.page.clock.fastForward(301_000)
  await expect
    .poll(async () => {
      await uploader.page.clock.fastForward(2000)
      return await typesOf(uploader)
    }, PATIENCE)
    .toContain('cover-complete')
  cover.release()
})
