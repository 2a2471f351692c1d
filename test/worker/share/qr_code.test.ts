import { exports } from 'cloudflare:workers'
import { encode } from 'uqr'
import { expect, it } from 'vitest'

it('a QR code contains the URL of a share, and a request for the QR code of an invalid slug returns 404', async () => {
  const open = (slug: string) => exports.default.fetch(`https://tonearm.test/s/${slug}/qr.svg`)
  const response = await open('Blue')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  const svg = await response.text()
  const dark = new Set(Array.from(svg.matchAll(/M(\d+) (\d+)h1/g), ([, x, y]) => `${x} ${y}`))
  const { data, size } = encode('https://tonearm.test/s/blue', { ecc: 'M', border: 4 })
  expect(svg).toContain(`viewBox="0 0 ${size} ${size}"`)
  expect(dark).toEqual(new Set(data.flatMap((row, y) => row.flatMap((is, x) => (is ? [`${x} ${y}`] : [])))))
  expect((await open('%3Cscript%3E')).status).toBe(404)
})
