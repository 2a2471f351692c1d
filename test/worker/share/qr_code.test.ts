import { exports } from 'cloudflare:workers'
import decode from 'qr/decode.js'
import { expect, it } from 'vitest'

/** Pixels of each module. */
const SCALE = 4

const open = (slug: string) => exports.default.fetch(`https://tonearm.test/s/${slug}/qr.svg`)

/** Reads a QR code whose dark modules are paths of one unit. The decoder is by other authors than the encoder. */
function read(svg: string): string {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)![1])
  const width = size * SCALE
  const data = new Uint8Array(4 * width * width).fill(255)
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1/g))
    for (let i = 0; i < SCALE * SCALE; i++) {
      const column = Number(x) * SCALE + (i % SCALE)
      const row = Number(y) * SCALE + Math.floor(i / SCALE)
      data.fill(0, 4 * (row * width + column), 4 * (row * width + column) + 3)
    }
  return decode({ data, width, height: width })
}

it('a QR code contains the URL of a share, and a request for the QR code of an invalid slug returns 404', async () => {
  const response = await open('Blue')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  expect(read(await response.text())).toBe('https://tonearm.test/s/blue')
  const long = 'a'.repeat(64)
  expect(read(await (await open(long)).text())).toBe(`https://tonearm.test/s/${long}`)
  expect((await open('%3Cscript%3E')).status).toBe(404)
})
