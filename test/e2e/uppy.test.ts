import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { must, settle } from './steps.ts'
import { TIMEOUT } from './uploader_page.ts'
import { type UploaderWorkspace, setUp, sha256 } from './uploader_setup.ts'

/** Tests the real Uppy with the options that docs/upload.md shows. */

const root = join(import.meta.dirname, '../..')

let bench: UploaderWorkspace

beforeAll(async () => {
  bench = await setUp()
})
afterEach(() => bench.tidy())
afterAll(() => bench?.dispose())

/** Bundles Uppy and the snippet of the documentation into the script that a third-party page would load. */
async function bundle(): Promise<string> {
  const page = await readFile(join(root, 'docs/upload.md'), 'utf8')
  const [, shown] = /### With Uppy[^]*?```js\n([^]*?)```/.exec(page)!
  const contents = `import Uppy from '@uppy/core'\n${shown}\nObject.assign(window, { Uppy, addTonearm })`
  const options = { bundle: true, write: false, format: 'iife', logLevel: 'silent' } as const
  return (await build({ stdin: { contents, resolveDir: root }, ...options })).outputFiles[0]!.text
}

interface UppyFile {
  id: string
  name: string
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
  getFiles: () => UppyFile[]
  on: (name: 's3-multipart:part-uploaded', listener: (file: UppyFile, part: { PartNumber: number }) => void) => void
}
declare const uppy: Uppy
declare const window: {
  /** Numbers of the parts that Uppy reports as uploaded. */
  arrived: number[]
  Uppy: new () => Uppy
  addTonearm: (uppy: Uppy, options: { url: string; key: string; uploadSessionId: string }) => Uppy
}

/** Opens a page with Uppy whose connections go through the proxy. */
async function openUppy() {
  const { collection_id, network, server, shop } = bench
  const { upload_session_id } = await must(server.post('/v1/upload_session', { body: { collection_id } }))
  const context = await bench.browser.newContext({ proxy: { server: network.server } })
  const page = await context.newPage()
  shop.show('<!doctype html><title>Uppy</title><input type="file">')
  const code = await bundle()
  await page.goto(shop.origin)
  await page.addScriptTag({ content: code })
  await page.evaluate(
    (options) => {
      const made = window.addTonearm(new window.Uppy(), options)
      Object.assign(window, { uppy: made, arrived: [] })
      made.on('s3-multipart:part-uploaded', (_file, { PartNumber }) => window.arrived.push(PartNumber))
    },
    { url: shop.service, key: bench.key, uploadSessionId: upload_session_id },
  )
  const arrived = () => page.evaluate(() => window.arrived)
  async function add(path: string): Promise<string> {
    await page.locator('input').setInputFiles(path)
    return page.evaluate(() => {
      const [data] = document.querySelector('input')!.files!
      const id = uppy.addFile({ name: data!.name, data: data! })
      void uppy.upload().catch(() => undefined)
      return id
    })
  }
  /**
   * Starts a file with a short last part and pauses when that part has arrived. No other part can arrive, because the
   * network holds each upload after its first bytes.
   */
  async function pauseAfterOne(path: string): Promise<void> {
    network.hold()
    await add(path)
    await expect.poll(arrived, TIMEOUT).not.toEqual([])
    await page.evaluate(() => uppy.pauseAll())
    expect(await arrived()).toHaveLength(1)
    // Otherwise the active parts would arrive as well as the resent ones, and storage might keep the parts that were active.
    network.cut()
    network.flow()
    network.restore()
  }
  /** Returns the error of the first file, or else whether it is uploaded. */
  const outcome = () =>
    page.evaluate(() => {
      const [{ error, progress }] = uppy.getFiles() as [UppyFile]
      return error ?? progress.uploadComplete
    })
  return { page, add, pauseAfterOne, arrived, outcome, close: () => context.close() }
}

test('Uppy uploads in parts with the documented options, despite a pause and lost connections, and can cancel', async () => {
  const { collection_id, network, server } = bench
  const { page, add, pauseAfterOne, arrived, outcome, close } = await openUppy()
  const calls: string[] = []
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    calls.push(`${response.request().method()} ${pathname.split('/').at(-1)} ${response.status()}`)
  })

  const path = await bench.aHeavySong('uppy.wav', 42_000_000)
  await pauseAfterOne(path)
  network.cutEvery(16_000_000)
  await page.evaluate(() => uppy.resumeAll())
  await expect.poll(outcome, TIMEOUT).toBe(true)
  const file = await readFile(path)
  expect((await arrived()).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 6 }, (_, at) => at + 1))
  expect(network.cuts()).toBeGreaterThan(0)
  const tracks = await must(server.get('/v1/collection/{collection_id}/track', { params: { collection_id } }))
  expect(tracks.tracks.map(({ file_name }) => file_name)).toEqual(['uppy.wav'])
  expect((await settle(server, tracks.tracks[0]!.id)).status).toBe('ready')
  expect(await bench.hashOf(tracks.tracks[0]!.id)).toBe(sha256(file))
  network.restore()

  network.hold(10_000_000)
  const second = await add(await bench.aHeavySong('given up.wav', 44_000_000))
  const sent = () => page.evaluate(() => Number(uppy.getFiles()[1]!.progress.bytesUploaded))
  await expect.poll(sent, TIMEOUT).toBeGreaterThan(0)
  await page.evaluate((id) => uppy.removeFile(id), second)
  await expect.poll(() => calls.filter((call) => call.startsWith('DELETE')), TIMEOUT).toHaveLength(1)
  expect(calls.find((call) => call.startsWith('DELETE'))).toMatch(/ 200$/)
  await close()
})

test('a part with a wrong ETag fails the upload, and Uppy can retry it', async () => {
  const { page, pauseAfterOne, outcome, close } = await openUppy()
  await pauseAfterOne(await bench.aHeavySong('again.wav', 33_600_000))
  await page.evaluate(() => {
    const { prototype } = XMLHttpRequest
    const read = Reflect.get(prototype, 'getAllResponseHeaders')
    prototype.getAllResponseHeaders = function () {
      // Only the first ETag is wrong.
      prototype.getAllResponseHeaders = read
      return read.call(this).replace(/^etag: .*$/m, `etag: "${'0'.repeat(32)}"`)
    }
  })
  await page.evaluate(() => uppy.resumeAll())
  await expect.poll(outcome, TIMEOUT).toMatch(/does not have a part with such an ETag/)
  await page.evaluate(() => void uppy.retryAll())
  await expect.poll(outcome, TIMEOUT).toBe(true)
  expect(await bench.trackNames()).toContain('again.wav')
  await close()
})
