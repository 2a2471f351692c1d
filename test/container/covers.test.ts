import { readFile, readlink } from 'node:fs/promises'

import sharp from 'sharp'
import { beforeAll, describe, expect, it } from 'vitest'

import { CoverAnswer } from '../../src/contract/job.ts'
import { type ImageFormat, makeImage, makeRotatedImage, truncate } from '../support/audio.ts'
import { pngBomb } from './bombs.ts'
import { noLandlock, noLimits } from './machine.ts'
import { childrenOf } from './processes.ts'
import { JSON_BODY } from './service.ts'
import { shareService } from './shared.ts'

const { storage, service } = await shareService()
let names = 0

const SIZES = { icon: 80, small: 200, regular: 400 }

async function cut(image: Buffer, change: { size?: number; status?: number; ready?: Promise<void> } = {}) {
  const name = `image-${names++}`
  const source = storage.serve(name, image, {
    status: change.status ?? 200,
    ready: change.ready ?? Promise.resolve(),
  })
  const at = (size: string) => storage.url(`${name}/${size}`)
  const outputs = { icon: at('icon'), small: at('small'), regular: at('regular'), large: at('large') }
  const job = { version: 1, source: { ...source, size: change.size ?? source.size }, outputs }
  const response = await fetch(`${service.url}/covers`, {
    method: 'POST',
    headers: JSON_BODY,
    body: JSON.stringify(job),
  })
  const answer = CoverAnswer.parse(await response.json())
  const square = (size: string) => storage.files.get(`${name}/${size}`)!
  return { status: response.status, answer, square, name }
}

/** The command of a process that decodes a cover, after the launcher has become Node. */
const DECODER = /^(?!.*launch\.pl).*decode_cover/

/** Starts a cover job and stops the process that decodes its picture. `end` sends a signal to the process and returns the result of the job. */
async function holdDecoder() {
  const image = await makeImage('png', 2000, 2000)
  const stop = async (isOver: () => boolean) => {
    while (!isOver()) {
      const [pid] = await childrenOf(service.pid, DECODER)
      if (pid === undefined) continue
      process.kill(pid, 'SIGSTOP')
      return pid
    }
    return undefined
  }
  // The process may end before it is found.
  for (let attempt = 0; attempt < 20; attempt++) {
    let isOver = false
    const answer = cut(image).finally(() => (isOver = true))
    const pid = await stop(() => isOver).catch(() => undefined)
    if (pid !== undefined)
      return {
        pid,
        end: (signal: NodeJS.Signals) => {
          process.kill(pid, signal)
          process.kill(pid, 'SIGCONT')
          return answer
        },
      }
    await answer
  }
  throw new Error('no process was found')
}

const frameOf = (background: string) =>
  sharp({ create: { width: 90, height: 90, channels: 3, background } })
    .png()
    .toBuffer()

/** An AVIF whose header states a width and height (ISO/IEC 23008-12 §6.5.3). */
async function avifOf(edge: number): Promise<Buffer> {
  const image = await makeImage('avif')
  const at = image.indexOf('ispe') + 8
  image.writeUInt32BE(edge, at)
  image.writeUInt32BE(edge, at + 4)
  return image
}

/** The mean color of a region of a square image. `left` and `top` are fractions of the edge length. */
async function colorAt(square: Buffer, left: number, top: number): Promise<{ red: number; blue: number }> {
  const size = (await sharp(square).metadata()).width
  const region = { left: Math.floor(left * size), top: Math.floor(top * size), width: 8, height: 8 }
  const { channels } = await sharp(await sharp(square).extract(region).png().toBuffer()).stats()
  return { red: channels[0]!.mean, blue: channels[2]!.mean }
}

describe('a cover', () => {
  it.each<ImageFormat>(['jpeg', 'png', 'webp', 'gif', 'avif'])(
    'in %s is converted into a palette and JPEG squares of three exact sizes',
    async (format) => {
      const { status, answer, square, name } = await cut(await makeImage(format))
      expect(status).toBe(200)
      for (const [size, edge] of Object.entries(SIZES)) {
        expect(await sharp(square(size)).metadata(), size).toMatchObject({ format: 'jpeg', width: edge, height: edge })
        const cache = 'private, max-age=31536000, immutable'
        const put = storage.requests.find((request) => request.path === `${name}/${size}`)
        expect(put).toMatchObject({ type: 'image/jpeg', cache })
      }
      const colors = answer.ok ? answer.result.image_colors : []
      expect(colors.length).toBeGreaterThanOrEqual(2)
      expect(colors.length).toBeLessThanOrEqual(6)
      const areas = colors.map((color) => color.area)
      expect(areas).toEqual(areas.toSorted((a, b) => b - a))
      expect(areas.reduce((sum, area) => sum + area)).toBeLessThanOrEqual(1)
      for (const color of colors.slice(0, 2)) {
        expect(Math.abs(color.area - 0.5)).toBeLessThan(0.1)
        expect(color.hex).toMatch(/^#[0-9A-F]{6}$/)
        expect(color.saturation).toBeGreaterThan(0.6)
        expect(color.lightness).toBeLessThan(0.6)
      }
      const isRed = (hex: string) => parseInt(hex.slice(1, 3), 16) > 150 && parseInt(hex.slice(5, 7), 16) < 80
      const isBlue = (hex: string) => parseInt(hex.slice(1, 3), 16) < 80 && parseInt(hex.slice(5, 7), 16) > 150
      const two = colors.slice(0, 2).map((color) => color.hex)
      expect(two.some(isRed) && two.some(isBlue), two.join(' ')).toBe(true)
    },
  )

  it('applies its EXIF orientation', async () => {
    const { square } = await cut(await makeRotatedImage())
    const [above, below] = [await colorAt(square('regular'), 0.5, 0.1), await colorAt(square('regular'), 0.5, 0.9)]
    expect(above.red).toBeGreaterThan(above.blue)
    expect(below.blue).toBeGreaterThan(below.red)
  })

  it('becomes white where it is transparent', async () => {
    const clear = await sharp({ create: { width: 90, height: 90, channels: 4, background: '#00000000' } })
      .png()
      .toBuffer()
    const { answer } = await cut(clear)
    expect(answer).toMatchObject({ ok: true, result: { image_colors: [{ hex: '#FFFFFF', area: 1 }] } })
  })

  it('is the first frame of an animation', async () => {
    const frames = await Promise.all(['#ff0000', '#0000ff'].map((color) => frameOf(color)))
    const animation = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer()
    const { answer } = await cut(animation)
    expect(answer).toMatchObject({ ok: true, result: { image_colors: [{ hex: '#FF0000', area: 1 }] } })
  })

  it('is enlarged when it is smaller than the squares', async () => {
    const { square } = await cut(await makeImage('png', 16, 16))
    expect(await sharp(square('regular')).metadata()).toMatchObject({ width: 400, height: 400 })
  })

  it.each([
    ['limits the large square to 1,400 pixels', 3000, 3200, 1400],
    ['keeps all 900 pixels in the large square', 1200, 900, 900],
    ['has no large square for 400 pixels', 400, 500, undefined],
  ])('%s', async (_, width, height, large) => {
    const { answer, square } = await cut(await makeImage('jpeg', width, height))
    expect(answer.ok && answer.result.large).toBe(large)
    const largeSquare = square('large') as Buffer | undefined
    expect(largeSquare && (await sharp(largeSquare).metadata())).toEqual(
      large && expect.objectContaining({ format: 'jpeg', width: large, height: large }),
    )
  })
})

it('a slow cover occupies only one of two slots, so other covers are processed meanwhile', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const image = await makeImage('png')
  const slow = cut(image, { ready: promise })
  for (let time = 0; time < 3; time++) expect((await cut(image)).status).toBe(200)
  resolve()
  expect((await slow).status).toBe(200)
})

describe('an unusable cover', () => {
  it.each([
    ['text', 422, 'unsupported_image', async () => Buffer.from('no image')],
    ['nothing', 422, 'unsupported_image', async () => Buffer.alloc(0)],
    [
      'SVG',
      422,
      'unsupported_image',
      async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    ],
    [
      'TIFF',
      422,
      'unsupported_image',
      async () =>
        sharp(await makeImage('png'))
          .tiff()
          .toBuffer(),
    ],
    ['half a JPEG', 422, 'unsupported_image', async () => truncate(await makeImage('jpeg'), 0.5)],
    ['more than 40 megapixels', 422, 'image_too_large', () => makeImage('png', 8000, 5200)],
    ['a small PNG of a gigabyte', 422, 'image_too_large', async () => pngBomb(20_000)],
    ['an AVIF that states 60,000 by 60,000 pixels', 422, 'image_too_large', async () => avifOf(60_000)],
    ['half an AVIF', 422, 'unsupported_image', async () => truncate(await makeImage('avif'), 0.5)],
  ])('%s is rejected with %i %s', async (_, status, code, make) => {
    const { answer, ...response } = await cut(await make())
    expect(response.status).toBe(status)
    expect(answer).toMatchObject({ ok: false, error: { code, retryable: false } })
  })

  it('is not fetched when it is larger than 10 MB', async () => {
    const { status, answer, name } = await cut(Buffer.from('x'), { size: 10 * 1024 * 1024 + 1 })
    expect(status).toBe(422)
    expect(answer).toMatchObject({ error: { code: 'image_too_large' } })
    expect(storage.requests.some((request) => request.path === name)).toBe(false)
  })

  it('fails with 502 when its source or its output is unavailable', async () => {
    const missing = await cut(Buffer.from('x'), { status: 404 })
    expect(missing.status).toBe(502)
    expect(missing.answer).toMatchObject({ error: { code: 'source_unavailable' } })

    storage.refuse(`image-${names}/small`, 403)
    const refused = await cut(await makeImage('jpeg'))
    expect(refused.status).toBe(502)
    expect(refused.answer).toMatchObject({ error: { code: 'upload_failed', retryable: true } })
  })

  it('fails with 400 when the request is invalid', async () => {
    const response = await fetch(`${service.url}/covers`, { method: 'POST', headers: JSON_BODY, body: '{}' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ ok: false, code: 'invalid' })
  })
})

describe('the process that decodes a cover', () => {
  // The first picture also starts processes that test the restrictions.
  beforeAll(async () => void (await cut(await makeImage('png', 9, 9))))

  it('has the restrictions that the service logs', async ({ skip }) => {
    skip(noLimits !== null, noLimits ?? '')
    const { pid, end } = await holdDecoder()
    const proc = (name: string) => readFile(`/proc/${pid}/${name}`, 'latin1')
    const [status, environment, limits] = await Promise.all([proc('status'), proc('environ'), proc('limits')])
    const [network, serviceNetwork] = await Promise.all(
      [pid, service.pid].map((process) => readlink(`/proc/${process}/ns/net`)),
    )
    const { status: end_status } = await end('SIGCONT')
    const { confined } = service.logs.find(({ event }) => event === 'covers_confined') as { confined: string[] }

    expect(end_status).toBe(200)
    expect(
      environment
        .split('\0')
        .filter(Boolean)
        .map((line) => line.split('=')[0]),
    ).toEqual(['PATH', 'GCONV_PATH'])
    expect(confined).toEqual(expect.arrayContaining(['limits', 'no_new_privs']))
    expect(status).toMatch(/NoNewPrivs:\s1\n/)
    expect(limits).toMatch(/Max address space\s+3221225472 /)
    expect(confined.includes('files')).toBe(noLandlock === null)
    expect(confined.includes('network')).toBe(network !== serviceNetwork)
    if (confined.includes('user')) {
      expect(status).toMatch(/Uid:\s65534\s65534\s65534\s65534\n/)
      expect(status).toMatch(/CapEff:\s0{16}\n/)
    }
  })

  it('may crash, which rejects the image and nothing else', async () => {
    const { end } = await holdDecoder()
    const { status, answer } = await end('SIGSEGV')
    expect(status).toBe(422)
    expect(answer).toMatchObject({ error: { code: 'unsupported_image', retryable: false } })
    expect((await cut(await makeImage('png'))).status).toBe(200)
  })

  it('causes a retryable error if it is killed from outside', async () => {
    const { end } = await holdDecoder()
    const { status, answer } = await end('SIGKILL')
    expect(status).toBe(500)
    expect(answer).toMatchObject({ error: { code: 'internal', retryable: true } })
  })
})

it('the service leaves no file behind after failures', async () => {
  expect(await service.leftovers()).toEqual([])
})
