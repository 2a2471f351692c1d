import { describe, expect, it } from 'vitest'

import { isPublicAddress } from '../../container/transfer/address.ts'
import { nameIn } from '../../container/transfer/disposition.ts'
import { ownHosts, sourceRefusal } from '../../src/contract/public_url.ts'

/** The functions that judge what a `source_url` leads to (docs/decisions/0127). Nothing is contacted. */

const HOSTS = ownHosts(['https://audio.shop.com'], 'https://0123.r2.cloudflarestorage.com')

describe('an address', () => {
  const judged = (list: string) => list.trim().split(/\s+/)

  it('is public only outside of all special ranges, in IPv4', () => {
    const refused = `0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 100.100.100.200 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1
      172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
      239.255.255.255 240.0.0.1 255.255.255.255 168.63.129.16`
    expect(judged(refused).filter(isPublicAddress)).toEqual([])
    const allowed =
      '1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.167.1.1 198.20.0.1 223.255.255.255'
    expect(judged(allowed).filter((address) => !isPublicAddress(address))).toEqual([])
  })

  it('is public only as a global unicast address without an IPv4 address inside, in IPv6', () => {
    const refused = `:: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 0:0:0:0:0:ffff:a00:1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1
      64:ff9b::8.8.8.8 64:ff9b:1::a00:1 100::1 2001::1 2001:0:7f00:1::1 2001:10::1 2001:20::1 2001:1ff::1 2001:db8::1 2002:7f00:1::1 2002:808:808::1
      3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1 2606:4700::1111%eth0`
    expect(judged(refused).filter(isPublicAddress)).toEqual([])
    const allowed = '2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001:81b::200e 2400:cb00::1 2001:200::1'
    expect(judged(allowed).filter((address) => !isPublicAddress(address))).toEqual([])
  })

  it('is not public in any other notation', () => {
    const refused =
      '2130706433 134744072 0x8080808 0x8.8.8.8 010.8.8.8 8.8.8 8.8.8.8. [2606:4700::1111] 8.8.8.8:80 localhost 8.8.8.256'
    expect(judged(refused).filter(isPublicAddress)).toEqual([])
    expect(isPublicAddress('')).toBe(false)
  })
})

describe('the URL of a source', () => {
  const refusals = (urls: string[], closedPorts: number[] | null) =>
    urls.map((url) => [url, sourceRefusal(url, HOSTS, closedPorts) === null])

  it('follows the rules for webhooks, except for fragments', () => {
    const allowed = [
      'https://radio.shop.com/a.mp3?sign=1',
      'https://radio.shop.com:8443/',
      'https://radio.shop.com/a#t=1',
    ]
    expect(refusals(allowed, null)).toEqual(allowed.map((url) => [url, true]))
    const refused = `http://radio.shop.com/ https://radio.shop.com:8080/ https://user:word@radio.shop.com/ https://127.0.0.1/ https://2130706433/
      https://0177.0.0.1/ https://[::ffff:7f00:1]/ https://8.8.8.8/ https://localhost/ https://10.0.0.1.nip.io/ https://db.internal/ file:///etc/passwd
      ftp://radio.shop.com/ data:audio/mpeg,a https://audio.shop.com/ https://tonearm-media.0123.r2.cloudflarestorage.com/a http://127.0.0.1:9000/ radio`
    const urls = refused.split(/\s+/)
    expect(refusals(urls, null)).toEqual(urls.map((url) => [url, false]))
  })

  it('may be http://127.0.0.1 on a developer’s machine, except for the ports of the service', () => {
    const allowed = ['http://127.0.0.1:9000/a', 'http://127.0.0.1/', 'http://0x7f.1:9000/', 'https://radio.shop.com/']
    expect(refusals(allowed, [8787, 9229])).toEqual(allowed.map((url) => [url, true]))
    const refused = `http://127.0.0.1:8787/ http://127.0.0.1:9229/json http://user@127.0.0.1:9000/ https://127.0.0.1:9000/ http://localhost:9000/
      http://[::1]:9000/ http://127.0.0.2:9000/ http://10.0.0.1:9000/ http://radio.shop.com/`
    const urls = refused.split(/\s+/)
    expect(refusals(urls, [8787, 9229])).toEqual(urls.map((url) => [url, false]))
    expect(sourceRefusal('http://127.0.0.1/', HOSTS, [80])).toBe('must not be a port of this service')
  })
})

it('the name of a file is read from Content-Disposition', () => {
  const headers = [
    'attachment; filename="Side A.mp3"',
    'attachment; filename=a.mp3; size=1',
    `attachment; filename="b.mp3"; filename*=UTF-8''Bj%C3%B6rk%20%2F%201.mp3`,
    `attachment; filename*=UTF-8''%ZZ; filename="c.mp3"`,
    'inline; filename="say \\"hi\\".mp3"',
    `attachment; filename="${Buffer.from('Björk.mp3').toString('latin1')}"`,
    'attachment; filename="Bj\xf6rk.mp3"',
    `attachment; filename="${'a'.repeat(300)}"`,
    'attachment',
    'attachment; filename=""',
    undefined,
  ]
  expect(headers.map(nameIn)).toEqual([
    'Side A.mp3',
    'a.mp3',
    'Björk / 1.mp3',
    'c.mp3',
    'say "hi".mp3',
    'Björk.mp3',
    'Björk.mp3',
    'a'.repeat(255),
    null,
    null,
    null,
  ])
})
