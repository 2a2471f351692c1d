import { exports } from 'cloudflare:workers'
import { encode } from 'uqr'
import { expect, it } from 'vitest'

import { qrModules } from '../../src/http/qr_code.ts'

/** Judged by another encoder, with the same mask. */
const drawn = (text: string, border: number) => encode(text, { ecc: 'M', boostEcc: false, maskPattern: 0, border })

it('draws the address of a share, and nothing that is none', async () => {
  const open = (slug: string) => exports.default.fetch(`https://tonearm.test/s/${slug}/qr.svg`)
  const response = await open('Blue')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  const svg = await response.text()
  const dark = new Set(Array.from(svg.matchAll(/M(\d+) (\d+)h1/g), ([, x, y]) => `${x} ${y}`))
  const { data, size } = drawn('https://tonearm.test/s/blue', 4)
  expect(svg).toContain(`viewBox="0 0 ${size} ${size}"`)
  expect(dark).toEqual(new Set(data.flatMap((row, y) => row.flatMap((is, x) => (is ? [`${x} ${y}`] : [])))))
  expect((await open('%3Cscript%3E')).status).toBe(404)
})

it('is right however long an address is', () => {
  for (let length = 20; length <= 213; length++) {
    const address = 'https://a.example/s/'.padEnd(length, 'so-what-')
    expect([length, qrModules(address)]).toEqual([length, drawn(address, 0).data])
  }
  expect(qrModules('x'.repeat(214))).toBe(null)
})
