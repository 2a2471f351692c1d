import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import type { BrowserContextOptions, Page } from 'playwright-core'

import { closePages, joinBrowser } from '../support/browser.ts'

export { TIMEOUT } from './steps.ts'

/**
 * A page with `<tonearm-player>` and a fake service, for tests of the element's behavior that need no transcoding. player.test.ts and its
 * neighbors use the real service.
 */

const assets = join(import.meta.dirname, '../../dist/public')
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; media-src 'self'; frame-src 'self'; require-trusted-types-for 'script'"
export const CHAPTERS = [
  { start: 0, title: 'Opening' },
  { start: 120, title: 'The long way round' },
  { start: 400, title: null },
]
export const player = (page: Page) => page.locator('tonearm-player')
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
export const SESSION = '00000000-0000-4000-8000-000000000000'
/** A session that the service reports as expired, and one that it reports as unknown. */
export const EXPIRED = '00000000-0000-4000-8000-000000000410'
export const UNKNOWN = '00000000-0000-4000-8000-000000000404'
const REFUSED: Record<string, Answers['refusal']> = {
  [EXPIRED]: { status: 410, code: 'session_expired' },
  [UNKNOWN]: { status: 404, code: 'not_found' },
}

/** Responses of the fake service. */
interface Answers {
  titles: string[]
  /** Duration of each track. */
  seconds: number
  list: object | null
  chapters: object[]
  /** Whether the session contains the play views that the player asks for. */
  views: boolean
  /** The token for reports; null in sessions of an older service. */
  heard_token: string | null
  refusal: { status: number; code: string } | null
}
/** Default responses. */
export const ANSWERS: Answers = {
  titles: ['First', 'Second', 'Third'],
  seconds: 100,
  list: null,
  chapters: [],
  views: true,
  heard_token: null,
  refusal: null,
}

export interface PlayerPage {
  answers: Answers
  /** Opens a page and waits until its player has a session or a refusal. */
  open: (attributes?: Record<string, string>, options?: Options) => Promise<Page>
  dispose: () => Promise<void>
}
interface Options extends BrowserContextOptions {
  hash?: string
  html?: string
  doctype?: string
}

/** A WAV of silence with 8 bits at 8 kHz. */
function wav(seconds: number): Buffer {
  const bytes = seconds * 8000
  const head = Buffer.alloc(44)
  head.write('RIFF')
  head.writeUInt32LE(36 + bytes, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8000, 24)
  head.writeUInt32LE(8000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(bytes, 40)
  return Buffer.concat([head, Buffer.alloc(bytes, 128)])
}

export async function setUp(): Promise<PlayerPage> {
  const browser = await joinBrowser()
  const answers = { ...ANSWERS }
  let html = ''
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname.startsWith('/v1/')) return answer(pathname, searchParams, answers, response)
    if (pathname.startsWith('/file/')) return sendFile(wav(answers.seconds), request.headers.range, response)
    if (pathname === '/frame') {
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy })
      return response.end(html.replace('</head>', '<script type="module" src="/elements/frame.js"></script></head>'))
    }
    if (pathname === '/around')
      return response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><iframe src="/frame" title="A player" width="480" height="176" allow="autoplay"></iframe>')
    if (pathname === '/') {
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy })
      return response.end(html)
    }
    const type = pathname.endsWith('.js') ? 'text/javascript' : 'image/jpeg'
    readFile(join(assets, pathname)).then(
      (body) => response.writeHead(200, { 'content-type': type }).end(body),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    answers,
    async open(attributes = {}, { hash = '', html: root = 'lang="en"', doctype = '<!doctype html>', ...options } = {}) {
      const all = { 'play-session-id': SESSION, ...attributes }
      const written = Object.entries(all).map(([name, value]) => ` ${name}="${value}"`)
      html = `${doctype}<html ${root}><head><meta name="viewport" content="width=device-width, initial-scale=1">
        <title>A page</title><script type="module" src="/elements/player.js"></script></head>
        <body><main><h1>Listen</h1><tonearm-player${written.join('')}></tonearm-player></main></body></html>`
      const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
      const page = await context.newPage()
      await page.addInitScript(() => {
        const seen: string[] = []
        Object.assign(window, { seen })
        for (const name of ['ready', 'error', 'sessionexpired', 'pause', 'trackchange'])
          document.addEventListener(`tonearm-${name}`, () => seen.push(name))
      })
      await page.goto(`${origin}/${hash}`)
      if (all['play-session-id']) await untilSettled(page)
      return page
    },
    async dispose() {
      await closePages()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answer(
  pathname: string,
  query: URLSearchParams,
  { titles, seconds, list, chapters, refusal, views, heard_token }: Answers,
  response: ServerResponse,
): void {
  const send = (status: number, body: object) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(JSON.stringify(body))
  const [, , noun, id = '', track_id] = pathname.split('/')
  if (noun === 'heard') return void response.writeHead(204).end()
  const refused = refusal ?? REFUSED[id]
  if (refused) return void send(refused.status, { ok: false, message: 'No', code: refused.code })
  const play_session = { id, variants: ['mp3-128'], is_downloadable: true, expires_at: '2100-01-01T00:00:00.000Z' }
  const tracks = titles.map((player_title, i) => ({
    id: `t${i}`,
    player_title,
    player_subtitle: null,
    duration: seconds,
  }))
  const view = (wanted: string) => ({
    track_id: wanted,
    play_session_id: id,
    play_session,
    cover_image: { regular: { url: '/cover/regular.jpg', width: 400, height: 400 } },
    track: {
      ...tracks.find((track) => track.id === wanted),
      file_name: 'x.wav',
      image_colors: [],
      is_preliminary: false,
      // Tags are missing, as in responses of an older Worker.
    },
    list,
    chapters,
    levels: { levels: Array.from({ length: 320 }, (_, i) => Math.abs(Math.sin(i / 9))) },
    variants: [
      {
        path: `${wanted}/mp3-128.mp3`,
        url: `http://${response.req.headers.host}/file/${wanted}`,
        variant: { index: 'mp3-128' },
      },
    ],
  })
  const from = Number(query.get('from')?.slice(1) ?? 0)
  send(200, {
    ok: true,
    ...(heard_token && { heard_token }),
    ...(track_id ? view(track_id) : { play_session_id: id, play_session, tracks, first_track: view('t0') }),
    ...(views && { views: tracks.slice(from, from + Number(query.get('views'))).map((t) => view(t.id)) }),
  })
}

/** Sends a file or the requested range of it; a browser cannot seek without ranges. */
function sendFile(body: Buffer, range: string | undefined, response: ServerResponse): void {
  const [, from, to] = /bytes=(\d+)-(\d*)/.exec(range ?? '') ?? []
  const [start, end] = [Number(from ?? 0), Number(to || body.length - 1)]
  response
    .writeHead(range ? 206 : 200, {
      'content-type': 'audio/wav',
      'accept-ranges': 'bytes',
      'content-range': `bytes ${start}-${end}/${body.length}`,
    })
    .end(body.subarray(start, end + 1))
}

export const untilSettled = (page: Page) =>
  page.waitForFunction(() =>
    (window as unknown as { seen: string[] }).seen.some((name) => name !== 'trackchange' && name !== 'pause'),
  )
