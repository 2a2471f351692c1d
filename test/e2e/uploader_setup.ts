import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Browser, BrowserContextOptions } from 'playwright-core'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { type NetworkProxy, openNetworkProxy } from '../support/network_proxy.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { startUploaderHost, openUploader, type UploaderHost, type Uploader } from './uploader_page.ts'

/** Fixtures of the uploader tests: the service, a collection with a key, a page on another origin, and files. */
export interface UploaderWorkspace {
  stack: Shared
  browser: Browser
  shop: UploaderHost
  network: NetworkProxy
  /** A client with the server key. */
  server: Client
  collection_id: string
  /** An uploader key for the collection and the page's origin. */
  key: string
  mintKey: (body: KeyBody) => Promise<string>
  /** Opens the page with an uploader, whose connections go through `network`. */
  open: (attributes?: Record<string, string>, options?: BrowserContextOptions) => Promise<Uploader>
  /** Creates local files to select in the browser. */
  aFile: (name: string, bytes: Buffer) => Promise<string>
  aSong: (name: string, seconds?: number) => Promise<string>
  aHeavySong: (name: string, bytes?: number) => Promise<string>
  /** Returns the SHA-256 of the original file that the service stores for a track. */
  hashOf: (track_id: string) => Promise<string>
  /** File names of the collection's tracks, in order. */
  trackNames: () => Promise<string[]>
  /** Restores the connection and closes all pages; called after each test. */
  tidy: () => Promise<void>
  dispose: () => Promise<void>
}

interface KeyBody {
  allowed_origins?: string[]
  type?: 'uploader' | 'player'
  collection_id?: string
}

/** A number of bytes that is larger than all network buffers together, so an upload can be stopped midway. */
const HEAVY = 25_000_000

export async function setUp(): Promise<UploaderWorkspace> {
  const [stack, browser, network] = await Promise.all([joinStack(), joinBrowser(), openNetworkProxy()])
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-uploader-'))
  const server = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  const { collection_id } = await must(server.post('/v1/collection', { body: { title: 'Inbox' } }))
  const shop = await startUploaderHost(stack)
  const opened: Uploader[] = []

  async function mintKey(body: KeyBody): Promise<string> {
    const about = { title: 'Shop', type: 'uploader' as const, collection_id, ...body }
    return (await must(server.post('/v1/api_key', { body: about }))).secret
  }
  const key = await mintKey({ allowed_origins: [shop.origin] })

  async function open(attributes: Record<string, string> = {}, options: BrowserContextOptions = {}): Promise<Uploader> {
    const all = { 'api-key': key, 'collection-id': collection_id, ...attributes }
    const uploader = await openUploader(browser, shop, all, { proxy: { server: network.server }, ...options })
    opened.push(uploader)
    return uploader
  }

  async function aFile(name: string, bytes: Buffer): Promise<string> {
    const path = join(directory, name)
    await writeFile(path, bytes)
    return path
  }

  async function hashOf(track_id: string): Promise<string> {
    const body = { track_id, variants: ['original'] }
    const session = await must(server.post('/v1/play_session/track', { body }))
    const params = { play_session_id: session.play_session_id, play_track_id: track_id }
    const view = await must(server.get('/v1/play/{play_session_id}/{play_track_id}', { params }))
    return sha256(await (await fetch(view.variants[0]!.url)).bytes())
  }

  async function trackNames(): Promise<string[]> {
    const how = { params: { collection_id }, query: { limit: 200 } }
    const { tracks } = await must(server.get('/v1/collection/{collection_id}/track', how))
    return tracks.map(({ file_name }) => file_name)
  }

  async function tidy(): Promise<void> {
    network.restore()
    network.flow()
    await Promise.all(opened.splice(0).map((uploader) => uploader.close()))
  }

  async function dispose(): Promise<void> {
    await closePages()
    await shop.close()
    await network.close()
    await stack.dispose()
    await rm(directory, { recursive: true, force: true })
  }
  return {
    stack,
    browser,
    shop,
    network,
    server,
    collection_id,
    key,
    mintKey,
    open,
    aFile,
    aSong: async (name, seconds = 3) => aFile(name, await makeAudio('wav', { seconds, channels: 1 })),
    aHeavySong: async (name, size) => aFile(name, heavy(await makeAudio('wav', { seconds: 1, channels: 1 }), size)),
    hashOf,
    trackNames,
    tidy,
    dispose,
  }
}

/** Adds `size` bytes to a WAV, in an unknown first RIFF chunk that decoders skip. */
export function heavy(wav: Buffer, size = HEAVY): Buffer {
  const chunk = Buffer.alloc(8 + size)
  // Writes each offset into the chunk, so no two parts are equal.
  for (let at = 8; at < chunk.length - 4; at += 4096) chunk.writeUInt32LE(at, at)
  chunk.write('JUNK')
  chunk.writeUInt32LE(size, 4)
  const song = Buffer.concat([wav.subarray(0, 12), chunk, wav.subarray(12)])
  song.writeUInt32LE(song.length - 8, 4)
  return song
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Selects files in the file input. */
export const choose = ({ element }: Uploader, ...paths: string[]) =>
  element.locator('input[type=file][multiple]').setInputFiles(paths)

/** Sets the cover of a file through the element's method. */
export const addCover = ({ element }: Uploader, id: string, picture: Buffer) =>
  element.evaluate(
    (element, { id, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (char) => char.codePointAt(0)!)
      const front = new File([bytes], 'front.png', { type: 'image/png' })
      ;(element as HTMLElementTagNameMap['tonearm-uploader']).addCover(id, front)
    },
    { id, base64: picture.toString('base64') },
  )
