import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'

import { refusalOf } from '../../../src/domain/webhooks/url.ts'

const settings: Env = {
  ...env,
  WEBHOOK_LOCAL: 'false',
  PUBLIC_BASE_URL: 'https://audio.shop.com',
  S3_ENDPOINT: 'https://0123.r2.cloudflarestorage.com',
}
const refused = (list: string[], env = settings, origin?: string) =>
  list.filter((url) => refusalOf(url, env, origin) === null)
const accepted = (list: string[], env = settings) => list.filter((url) => refusalOf(url, env) !== null)

it('wrangler.toml prevents webhooks from bypassing the protection of the operator’s own zone', () => {
  expect(Cloudflare.compatibilityFlags.global_fetch_strictly_public).toBe(true)
})

/** Only the function is tested: no request is sent. */
describe('a webhook URL', () => {
  it('may contain a public host name with https', () => {
    expect(
      accepted([
        'https://shop.com/hooks',
        'https://SHOP.com',
        'https://shop.com.',
        'https://shop.com:443/',
        'https://hooks.shop.co.uk:8443/a?b=c',
        'https://audio.shop.com.evil.net/',
        'https://bücher.com/',
        'https://xn--bcher-kva.com/',
        'https://local.shop.com/',
        'https://internal-tools.com/',
        'https://1.shop.com/',
        'https://shop.xn--p1ai/',
        'https://_hooks.shop.com/',
        // A backslash is treated as a slash, so the part after it is the path.
        'https://shop.com\\@127.0.0.1/',
      ]),
    ).toEqual([])
  })

  it('must not contain an IP address in any notation', () => {
    const hosts =
      `127.0.0.1 0.0.0.0 0 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7f.0.0.1 0177.0.0.1 017700000001 127.0.0.1. 127.1. 0x7f000001.
      10.0.0.1 172.16.0.1 192.168.0.1 169.254.169.254 0xa9fea9fe 2852039166 100.64.0.1 8.8.8.8 255.255.255.255
      [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1] [fe80::1] [fd00::1] [64:ff9b::7f00:1] [2606:4700:4700::1111]
      １２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1 127%2e0%2e0%2e1 %31%32%37.0.0.1`.split(/\s+/)
    expect(refused(hosts.map((host) => `https://${host}/`))).toEqual([])
  })

  it('must not contain a name that only a private network resolves', () => {
    const hosts =
      `localhost LOCALHOST localhost. LOCALHOST. foo.localhost ｌｏｃａｌｈｏｓｔ local printer.local router.lan a.home nas.home.arpa
      metadata.google.internal metadata metadata. intranet db.corp api.private 1.0.0.127.in-addr.arpa abc.onion a.test a.invalid a.example
      a.alt host.docker.internal kubernetes.default.svc.localdomain shop com. - .com
      kubernetes.default.svc api.namespace.svc.cluster.local web.cluster vault.service.consul fritz.box fritz.loc printer.dhcp db.lxd web.docker
      nas.localnet pc.workgroup router.gateway api.priv web.private a.intra b.prv`.split(/\s+/)
    expect(refused(hosts.map((host) => `https://${host}/`))).toEqual([])
  })

  it('must not contain a name that a wildcard DNS service resolves to an address in the name', () => {
    const hosts =
      `127.0.0.1.nip.io app.10.0.0.1.nip.io app-192-168-0-1.nip.io 7f000001.nip.io 10-0-0-1.sslip.io www.169.254.169.254.sslip.io
      --1.sslip.io 10.0.0.1.xip.io 127.0.0.1.traefik.me 10-0-0-1.my.local-ip.co 192-168-1-2.abc.plex.direct localtest.me app.localtest.me
      lvh.me a.lvh.me vcap.me a.lacolhost.com a.localho.st 127-0-0-1.shop.com 10.1.2.3.shop.com hook-172-16-0-1.shop.com
      app.192.168.0.1.shop.com web.127.0.0.1.shop.com 100-64-0-1.shop.com`.split(/\s+/)
    expect(refused(hosts.map((host) => `https://${host}/`))).toEqual([])
    expect(
      accepted([
        'https://8-8-8-8.shop.com/',
        'https://ec2-54-10-0-1.compute.amazonaws.com/',
        'https://v10-0-1.shop.com/',
        'https://release-2026-10-0-11.shop.com/',
        'https://10-0-0-256.shop.com/',
      ]),
    ).toEqual([])
  })

  it('must not be the URL of this service or of its bucket', () => {
    const urls = ['https://audio.shop.com/', 'https://AUDIO.shop.com./', 'https://0123.r2.cloudflarestorage.com/x']
    expect(refused([...urls, 'https://tonearm-media.0123.r2.cloudflarestorage.com/'])).toEqual([])
    expect(refused(['https://own.net/'], { ...settings, PUBLIC_BASE_URL: '' }, 'https://own.net')).toEqual([])
  })

  it('must not contain a scheme other than https, a port other than 443 and 8443, a user, or a fragment', () => {
    expect(
      refused([
        'http://shop.com/',
        'ftp://shop.com/',
        'file:///etc/passwd',
        'javascript:alert(1)',
        'data:text/plain,a',
        'wss://shop.com/',
        'https://shop.com:80/',
        'https://shop.com:22/',
        'https://shop.com:8444/',
        'https://user@shop.com/',
        'https://user:word@shop.com/',
        'https://shop.com@127.0.0.1/',
        'https://shop.com/#',
        'https://shop.com/#a',
        'https://shop..com/',
        'https://-shop.com/',
        `https://${'a.'.repeat(130)}com/`,
        `https://${'a'.repeat(64)}.com/`,
        'https://',
        'shop.com',
        '',
        'http://127.0.0.1:9000/',
      ]),
    ).toEqual([])
  })

  it('may be an http loopback address if the settings allow it, but must not be the URL of this service', () => {
    const local = { ...settings, WEBHOOK_LOCAL: 'true', PUBLIC_BASE_URL: 'http://localhost:8787' }
    expect(
      accepted(['http://localhost:9000/a', 'http://127.0.0.1:9000', 'http://0x7f.1:9000/', 'https://shop.com'], local),
    ).toEqual([])
    expect(
      refused(
        [
          'http://localhost:8787/',
          'http://127.0.0.1:8787/v1',
          'http://10.0.0.1/',
          'http://[::1]/',
          'https://127.0.0.1/',
          'http://shop.com/',
        ],
        local,
      ),
    ).toEqual([])
    const local_message = 'must begin with http://localhost or http://127.0.0.1 on this machine'
    for (const url of ['https://localhost:9000/', 'http://[::1]:9000/'])
      expect(refusalOf(url, local)).toBe(local_message)
    const remote_message = 'must begin with https://, http://localhost or http://127.0.0.1'
    expect(refusalOf('http://shop.com/', local)).toBe(remote_message)
  })
})
