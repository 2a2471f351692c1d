import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { build } from 'esbuild'
import type { Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { must, settle } from './steps.ts'
import { TIMEOUT } from './uploader_page.ts'
import { type UploaderWorkspace, setUp, sha256 } from './uploader_setup.ts'

/** Tests the real Uppy with the code that docs/upload.md shows. */

const root = join(import.meta.dirname, '../..')

let bench: UploaderWorkspace

beforeAll(async () => {
  bench = await setUp()
})
afterEach(() => bench.tidy())
afterAll(() => bench?.dispose())

/** Bundles Uppy and the code of the documentation into the script that a third-party page would load. */
async function bundle(): Promise<string> {
  const page = await readFile(join(root, 'docs/upload.md'), 'utf8')
  const [section] = /### With Uppy[^]*?(?=\n## )/.exec(page)!
  const shown = [...section.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code)
  const contents = `import Uppy from '@uppy/core'\n${shown.join('\n')}\nObject.assign(window, { Uppy, addTonearm, addSinglePuts })`
  const alias = { '@tonearm/client/upload': join(root, 'packages/client/upload.ts') }
  const options = { alias, bundle: true, write: false, format: 'iife', logLevel: 'silent' } as const
  return (await build({ stdin: { contents, resolveDir: root }, ...options })).outputFiles[0]!.text
}

interface UppyFile {
  progress: { uploadComplete?: boolean; bytesUploaded: number | false }
  error?: string | null
}

/** The part of Uppy's interface that the tests use. */
interface Uppy {
  addFile: (file: { name: string; data: File }) => string
  upload: () => Promise<unknown>
  pauseAll: () => void
  resumeAll: () => void
  retryAll: () => Promise<unknown>
  removeFile: (id: string) => void
  getFile: (id: string) => UppyFile
}
type Add = (uppy: Uppy, options: { url: string; key: string; uploadSessionId: string }) => Uppy
declare const uppy: Uppy
declare const window: { Uppy: new () => Uppy; addTonearm: Add; addSinglePuts: Add }

/** Opens a page with Uppy whose connections go through the proxy. */
async function openUppy(how: 'addTonearm' | 'addSinglePuts') {
  const { collection_id, network, server, shop } = bench
  const { upload_session_id } = await must(server.post('/v1/upload_session', { body: { collection_id } }))
  const context = await bench.browser.newContext({ proxy: { server: network.server } })
  const page = await context.newPage()
  shop.show('<!doctype html><title>Uppy</title><input type="file">')
  const code = await bundle()
  await page.goto(shop.origin)
  await page.addScriptTag({ content: code })
  await page.evaluate(([how, options]) => Object.assign(window, { uppy: window[how](new window.Uppy(), options) }), [
    how,
    { url: shop.service, key: bench.key, uploadSessionId: upload_session_id },
  ] as const)
  async function add(path: string): Promise<string> {
    await page.locator('input').setInputFiles(path)
    return page.evaluate(() => {
      const [data] = document.querySelector('input')!.files!
      const id = uppy.addFile({ name: data!.name, data: data! })
      void uppy.upload().catch(() => undefined)
      return id
    })
  }
  const bytesOf = (id: string) => page.evaluate((id) => Number(uppy.getFile(id).progress.bytesUploaded), id)
  /** Returns the error of a file, or else whether it is uploaded. */
  const outcomeOf = (id: string) =>
    page.evaluate((id) => {
      const { error, progress } = uppy.getFile(id)
      return error ?? progress.uploadComplete
    }, id)
  return { page, add, bytesOf, outcomeOf, close: () => context.close() }
}

/** Expects that the last track of the collection becomes ready, and that its original is the file. */
async function expectStored(path: string): Promise<void> {
  const { collection_id, server } = bench
  const { tracks } = await must(server.get('/v1/collection/{collection_id}/track', { params: { collection_id } }))
  const { id, file_name } = tracks.at(-1)!
  expect(file_name).toBe(basename(path))
  expect((await settle(server, id)).status).toBe('ready')
  expect(await bench.hashOf(id)).toBe(sha256(await readFile(path)))
}

test('Uppy uploads in parts with the documented plugin, despite a pause and lost connections, and can cancel', async () => {
  const { network } = bench
  const { page, add, bytesOf, outcomeOf, close } = await openUppy('addTonearm')
  const calls: string[] = []
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    calls.push(`${response.request().method()} ${pathname.split('/').at(-1)} ${response.status()}`)
  })

  /** The parts that were started, and how many of them are in flight. */
  const parts = { started: 0, active: 0 }
  const isPart = (request: Request) => request.method() === 'PUT'
  const end = (request: Request) => isPart(request) && parts.active--
  page.on('request', (request) => {
    if (!isPart(request)) return
    parts.started++
    parts.active++
  })
  page.on('response', (response) => end(response.request()))
  page.on('requestfailed', end)

  const path = await bench.aHeavySong('uppy.wav', 42_000_000)
  network.hold()
  const first = await add(path)
  await expect.poll(() => bytesOf(first), TIMEOUT).toBeGreaterThan(0)
  await page.evaluate(() => uppy.pauseAll())
  // The parts in flight are still sent.
  network.flow()
  await expect.poll(() => parts.active, TIMEOUT).toBe(0)
  expect(parts.started).toBeLessThan(6)
  network.restore()
  network.cutEvery(16_000_000)
  await page.evaluate(() => uppy.resumeAll())
  await expect.poll(() => outcomeOf(first), TIMEOUT).toBe(true)
  expect(network.cuts()).toBeGreaterThan(0)
  expect(calls.filter((call) => call === 'POST complete 200')).toHaveLength(1)
  await expectStored(path)
  network.restore()

  network.hold(10_000_000)
  const second = await add(await bench.aHeavySong('given up.wav', 44_000_000))
  await expect.poll(() => bytesOf(second), TIMEOUT).toBeGreaterThan(0)
  await page.evaluate((id) => uppy.removeFile(id), second)
  await expect.poll(() => calls.filter((call) => /^DELETE .* 200$/.test(call)), TIMEOUT).not.toEqual([])
  expect(await bench.trackNames()).toEqual(['uppy.wav'])
  await close()
})

test('Uppy shows why a file or all files fail, and can retry them', async () => {
  const { page, add, outcomeOf, close } = await openUppy('addTonearm')
  const text = await add(await bench.aFile('notes.wav', Buffer.from('These are notes.\n'.repeat(100))))
  await expect.poll(() => outcomeOf(text), TIMEOUT).toBe('text_file')

  const creation = '**/v1/upload/*/track'
  const refuse = (status: number, code: string) =>
    page.route(creation, (route) =>
      route.fulfill({
        status,
        headers: { 'access-control-allow-origin': '*' },
        json: { ok: false, code, message: `It is refused: ${code}` },
      }),
    )
  await refuse(401, 'unauthorized')
  const path = await bench.aSong('again.wav')
  const song = await add(path)
  await expect.poll(() => outcomeOf(song), TIMEOUT).toBe('It is refused: unauthorized')
  await page.unroute(creation)
  await refuse(400, 'invalid_request')
  await page.evaluate(() => void uppy.retryAll())
  await expect.poll(() => outcomeOf(song), TIMEOUT).toBe('It is refused: invalid_request')
  await page.unroute(creation)
  await page.evaluate(() => void uppy.retryAll())
  await expect.poll(() => outcomeOf(song), TIMEOUT).toBe(true)
  await expectStored(path)
  expect(await outcomeOf(text)).toBe('text_file')
  await close()
})

test('the S3 plugin of Uppy uploads a file with the documented options', async () => {
  const { add, outcomeOf, close } = await openUppy('addSinglePuts')
  const path = await bench.aSong('single.wav')
  const id = await add(path)
  await expect.poll(() => outcomeOf(id), TIMEOUT).toBe(true)
  await expectStored(path)
  await close()
})
