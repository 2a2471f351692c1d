import { exports } from 'cloudflare:workers'
import { encode } from 'uqr'
import { expect, it } from 'vitest'

import { qrModules } from '../../../src/http/pages/qr_code.ts'

/** The QR code that another library generates with the same mask. */
const reference = (text: string, border: number) => encode(text, { ecc: 'M', boostEcc: false, maskPattern: 0, border })

it('a QR code contains the URL of a share, and a request for the QR code of an invalid slug returns 404', async () => {
  const open = (slug: string) => exports.default.fetch(`https://tonearm.test/s/${slug}/qr.svg`)
  const response = await open('Blue')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  const svg = await response.text()
  const dark = new Set(Array.from(svg.matchAll(/M(\d+) (\d+)h1/g), ([, x, y]) => `${x} ${y}`))
  const { data, size } = reference('https://tonearm.test/s/blue', 4)
  expect(svg).toContain(`viewBox="0 0 ${size} ${size}"`)
  expect(dark).toEqual(new Set(data.flatMap((row, y) => row.flatMap((is, x) => (is ? [`${x} ${y}`] : [])))))
  expect((await open('%3Cscript%3E')).status).toBe(404)
})

it('a QR code is correct for URLs of every length', () => {
  for (let length = 20; length <= 213; length++) {
    const address = 'https://a.example/s/'.padEnd(length, 'so-what-')
    expect([length, qrModules(address)]).toEqual([length, reference(address, 0).data])
  }
  expect(qrModules('x'.repeat(214))).toBe(null)
})
