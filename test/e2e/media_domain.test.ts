import { request } from 'node:http'

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import type { AccountState } from '../../scripts/deploy/account.ts'
import { attachMediaDomain, checkMediaDomain, requireMedia } from '../../scripts/deploy/media_domain.ts'
import { withToken } from '../../scripts/deploy/media_rules.ts'
import type { Plan } from '../../scripts/deploy/plan.ts'
import { reset } from '../support/cloudflare/account.ts'
import { type Edge, startEdge } from '../support/cloudflare/edge.ts'
import type { Cloudflare } from '../support/cloudflare/server.ts'
import { deploy, IMAGE, playAccount } from './deploy_setup.ts'
import { joinStack } from './shared_stack.ts'

/** `npm run deploy -- --media-domain` against a simulated account, whose zone answers over HTTP (docs/decisions/0088). */

const DOMAIN = 'media.example.com'
const FILE = 'media/org/col/idx/j1/aac-160.m4a'
const SOUND = Uint8Array.from({ length: 5000 }, (_, at) => at % 251)
const files = new Map([
  [FILE, SOUND],
  ['media/org/col/idx/j1/lossless.flac', new Uint8Array(20_000)],
])

let cloudflare: Cloudflare
let edge: Edge

beforeAll(async () => {
  cloudflare = await playAccount(await joinStack())
  edge = await startEdge(cloudflare.account, {
    host: DOMAIN,
    limit: 10_000,
    async read(key) {
      const body = files.get(key)
      const headers = { 'content-type': 'audio/mp4', 'cache-control': 'private, max-age=31536000, immutable' }
      return body ? { body, headers } : null
    },
  })
  vi.stubEnv('CLOUDFLARE_API_BASE_URL', `${cloudflare.url}/client/v4`)
  vi.stubEnv('MEDIA_BASE_URL', edge.url)
  vi.stubEnv('MEDIA_PATIENCE', '1')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await edge?.close()
  await cloudflare?.close()
})
beforeEach(() => {
  reset(cloudflare.account)
  cloudflare.account.buckets.set('tonearm-media', bucket())
  cloudflare.changes = []
  edge.reset()
})

const bucket = () => ({ location: undefined, cors: null, rules: [], domains: new Set<string>(), isPublic: false })
const domains = () => [...cloudflare.account.buckets.get('tonearm-media')!.domains]
const changes = () => cloudflare.changes.map((change) => change.replaceAll(/[0-9a-f]{32}/g, '…'))

/** Runs the part of a deployment that sets up the domain. */
async function setUp(domain = DOMAIN) {
  const plan = { bucket: 'tonearm-media', mediaDomain: domain, domain: 'audio.example.com' } as Plan
  const account = { id: cloudflare.account.id, token: cloudflare.account.token, hasApiToken: true }
  const media = await checkMediaDomain(plan, account)
  await attachMediaDomain(plan, account, media)
  return media
}

/** Sends a request with exactly this path, which `fetch` would normalize. */
const send = (
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
) =>
  new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
    const { hostname, port } = new URL(edge.url)
    const sent = request({ hostname, port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      )
    })
    sent.on('error', reject).end()
  })
const pathTo = (file: string, key: string) => withToken(`${edge.url}/${file}`, key).slice(edge.url.length)

describe('a domain for files is refused before anything changes', () => {
  const refusals: [string, () => unknown, RegExp, string?][] = [
    [
      'for a plan without the rule',
      () => (cloudflare.account.rules.zonePlan = 'free'),
      /zone example\.com has the plan free.*needs Pro/,
    ],
    [
      'for a token that may not change rules',
      () => cloudflare.account.rules.permissions.delete('rulesets'),
      /lacks "Zone WAF: Edit"/,
    ],
    [
      'for a token that may not change records',
      () => cloudflare.account.rules.permissions.delete('dns'),
      /lacks "DNS: Edit"/,
    ],
    [
      'for a bucket that is public at r2.dev',
      () => (cloudflare.account.buckets.get('tonearm-media')!.isPublic = true),
      /public at its r2\.dev/,
    ],
    [
      'for a name that is in use',
      () => cloudflare.account.records.set('a', { id: 'a', name: DOMAIN, type: 'A', content: '192.0.2.1' }),
      /has a DNS record already/,
    ],
    ['for a name of another account', () => undefined, /belongs to no zone/, 'media.example.org'],
    ['for the name of the zone', () => undefined, /no name below a zone/, 'example.com'],
    ['for the name of the service', () => undefined, /needs a name of its own/, 'audio.example.com'],
    [
      'for text that would end the expression',
      () => undefined,
      /no name below a zone/,
      'a") or (http.host eq "b.example.com',
    ],
  ]
  test.each(refusals)('%s', async (_, spoil, says, domain = DOMAIN) => {
    spoil()
    await expect(setUp(domain)).rejects.toThrow(says)
    expect(changes()).toEqual([])
    expect(domains()).toEqual([])
  })
})

test('MEDIA_DELIVERY=zone is refused if the bucket never got a domain', () => {
  const plan = { vars: { MEDIA_DELIVERY: 'zone' } } as unknown as Plan
  const state = (...names: string[]) =>
    ({ media: null, bindings: names.map((name) => ({ type: 'secret_text', name })) }) as unknown as AccountState
  expect(() => requireMedia(plan, state('MEDIA_KEY'))).toThrow(/no domain: give it one with --media-domain/)
  expect(() => requireMedia(plan, state('MEDIA_KEY', 'MEDIA_BASE_URL'))).not.toThrow()
})

describe('the domain', () => {
  test('is attached after the rule was proven on a record that leads nowhere, and keeps its key', async () => {
    const { keys } = await setUp()
    expect(changes()).toEqual([
      'POST /zones/zone1/rulesets',
      'POST /zones/zone1/rulesets',
      'POST /zones/zone1/rulesets',
      'POST /zones/zone1/dns_records',
      'DELETE /zones/zone1/dns_records/…',
      'POST /r2/buckets/tonearm-media/domains/custom',
    ])
    expect(domains()).toEqual([DOMAIN])
    expect(cloudflare.account.records.size).toBe(0)
    expect((await setUp()).keys).toEqual(keys)
  })

  test('leaves other rules as they are, and none of them can come first', async () => {
    const other = {
      id: 'other',
      description: 'Mine',
      expression: 'http.host eq "shop.example.com"',
      action: 'skip',
      enabled: true,
    }
    const ruleset = { id: 'r'.repeat(32), phase: 'http_request_firewall_custom', rules: [other] }
    cloudflare.account.rulesets.set(ruleset.id, ruleset)
    await setUp()
    await setUp()
    const { rules } = cloudflare.account.rulesets.get(ruleset.id)!
    expect(rules.map(({ description }) => description)).toEqual([`Tonearm: tokens of ${DOMAIN}`, 'Mine'])
    expect(rules[1]).toEqual(other)
  })

  test('is not attached if the rule does not work, and the record does not stay', async () => {
    cloudflare.account.rules.unguarded = 'always'
    await expect(setUp()).rejects.toThrow(
      /rule does not work at media\.example\.com: without a token 522, with one 522.*Nothing was attached/,
    )
    expect(domains()).toEqual([])
    expect(cloudflare.account.records.size).toBe(0)
  })

  test('is detached at once if it answers without a token, also one that was attached before', async () => {
    cloudflare.account.rules.unguarded = 'attached'
    await expect(setUp()).rejects.toThrow(/answers 404 without a token\. The domain was detached/)
    expect(domains()).toEqual([])
    cloudflare.account.rules.unguarded = 'never'
    await setUp()
    cloudflare.account.rules.unguarded = 'attached'
    await expect(setUp()).rejects.toThrow(/detached/)
    expect(domains()).toEqual([])
  })

  test('whose rule was deleted gets it back', async () => {
    await setUp()
    for (const ruleset of cloudflare.account.rulesets.values()) ruleset.rules = []
    expect((await send(`/${FILE}`)).status).toBe(200)
    const { keys } = await setUp()
    expect((await send(`/${FILE}`)).status).toBe(403)
    expect((await send(pathTo(FILE, keys[0]!))).status).toBe(200)
  })

  test('accepts the previous key until the deployment after the new one', async () => {
    const [first = ''] = (await setUp()).keys
    const second = 'abcd'.repeat(16)
    vi.stubEnv('MEDIA_KEY', second)
    expect((await setUp()).keys).toEqual([second, first])
    const statuses = async () => [(await send(pathTo(FILE, first))).status, (await send(pathTo(FILE, second))).status]
    expect(await statuses()).toEqual([200, 200])
    vi.stubEnv('MEDIA_KEY', '')
    expect((await setUp()).keys).toEqual([second])
    expect(await statuses()).toEqual([403, 200])
    vi.stubEnv('MEDIA_KEY', 'x") or (1 eq 1')
    await expect(setUp()).rejects.toThrow(/MEDIA_KEY must have at least 32 letters and digits/)
    vi.stubEnv('MEDIA_KEY', '')
  })
})

describe('a zone with these rules', () => {
  let key: string
  beforeEach(async () => {
    key = (await setUp()).keys[0]!
    edge.reset()
  })
  const signed = () => pathTo(FILE, key)

  test('serves a file once from the bucket and then from its cache, whatever the token', async () => {
    const first = signed()
    expect((await send(first)).headers['cf-cache-status']).toBe('MISS')
    expect((await send(first)).headers['cf-cache-status']).toBe('HIT')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5000 })
    const later = signed()
    expect(later).not.toBe(first)
    const { status, headers, body } = await send(later)
    expect([status, headers['cf-cache-status'], Buffer.compare(body, SOUND)]).toEqual([200, 'HIT', 0])
    expect(edge.counts).toMatchObject({ hits: 2, misses: 1, blocked: 0 })
    vi.useRealTimers()
  })

  test('delivers nothing for other spellings, other files, altered and expired tokens, by any method', async () => {
    await send(signed())
    const path = signed()
    const [file = '', query = ''] = path.split('?')
    const spellings = [
      file,
      `${file}?`,
      `${file.replace('aac-160.m4a', 'lossless.flac')}?${query}`,
      `${file.replace('/j1/', '%2Fj1/')}?${query}`,
      `${file.replace('/j1/', '%2fj1%2f')}?${query}`,
      `${file.replace('/j1/', '//j1/')}?${query}`,
      `/${file}?${query}`,
      `${file.replace('/j1/', '/x/../j1/')}?${query}`,
      `${file.replace('/j1/', '/./j1/')}?${query}`,
      `${file.replace('/org/', '/ORG/')}?${query}`,
      `${file.replace('aac', '%61ac')}?${query}`,
      `${path}&x=1`,
      `${file}?x=1&${query}`,
      path.replace('X-Amz-Expires=60', 'X-Amz-Expires=3600'),
      path.replace(/verify=(\d+)/, (_, time) => `verify=${Number(time) + 1}`),
      path.replace(/-.{43}$/, `-${'A'.repeat(43)}`),
      path.replace(/-.{43}$/, '-'),
      path.replace('verify', 'Verify').toUpperCase(),
      '/',
      '/?list-type=2',
    ]
    for (const other of spellings)
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
        expect((await send(other, { method })).status, `${method} ${other}`).toBe(403)
    expect(edge.counts.blocked).toBe(spellings.length * 5)
    expect(edge.counts).toMatchObject({ hits: 0, misses: 1 })
    // The token of this URL is valid for a minute. A cached file is no exception.
    edge.clock.offset = 58
    expect((await send(path)).status).toBe(200)
    edge.clock.offset = 61
    expect((await send(path)).status).toBe(403)
    edge.clock.offset = 300
    expect((await send(path)).status).toBe(403)
    edge.clock.offset = -300
    expect((await send(path)).status).toBe(200)
  })

  test('answers HEAD, ranges and preflight requests, and lets pages read the answers', async () => {
    const origin = { origin: 'https://shop.example' }
    const get = async (range: string, method = 'GET') => {
      const { status, headers, body } = await send(signed(), { method, headers: { range, ...origin } })
      return {
        status,
        length: body.length,
        range: headers['content-range'],
        cors: headers['access-control-allow-origin'],
        type: headers['content-type'],
        body,
      }
    }
    expect(await get('', 'HEAD')).toMatchObject({ status: 200, length: 0, cors: '*' })
    expect(await get('bytes=0-99')).toMatchObject({ status: 206, length: 100, range: 'bytes 0-99/5000', cors: '*' })
    expect(await get('bytes=4990-9000')).toMatchObject({ status: 206, length: 10, range: 'bytes 4990-4999/5000' })
    expect(await get('bytes=-1')).toMatchObject({ status: 206, length: 1, range: 'bytes 4999-4999/5000' })
    expect(await get('bytes=5000-')).toMatchObject({ status: 416, length: 0, range: 'bytes */5000', cors: '*' })
    const three = await get('bytes=0-0,10-19,4999-')
    expect(three).toMatchObject({ status: 206, type: 'multipart/byteranges; boundary=part', cors: '*' })
    expect(three.body.toString('latin1').match(/content-range: bytes (0-0|10-19|4999-4999)\/5000/g)).toHaveLength(3)
    expect(edge.counts).toMatchObject({ ranges: 5, misses: 1 })
    const headers = { ...origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'range' }
    const preflight = await send(signed(), { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([204, 'range'])
    const { headers: seen } = await send(signed(), { headers: origin })
    expect(seen['access-control-expose-headers']).toContain('Content-Range')
    expect(seen['x-content-type-options']).toBe('nosniff')
  })

  test('passes on a file above the limit of its cache, with ranges, and never stores it', async () => {
    const large = () => pathTo('media/org/col/idx/j1/lossless.flac', key)
    for (let i = 0; i < 2; i++) {
      const { status, headers, body } = await send(large(), { headers: { range: 'bytes=19990-' } })
      expect([status, headers['cf-cache-status'], body.length]).toEqual([206, 'BYPASS', 10])
    }
    expect((await send(pathTo('media/none', key))).status).toBe(404)
  })
})

test('a deployment sets up the domain, keeps it without the option, and goes back to R2', async () => {
  cloudflare.account.buckets.clear()
  const { account } = cloudflare
  account.hasOrganization = true
  const given = { MEDIA_BASE_URL: edge.url, MEDIA_PATIENCE: '1' }
  account.rules.zonePlan = 'free'
  const refused = await deploy(cloudflare, [...IMAGE, '--media-domain', DOMAIN], given)
  expect(refused.output).toMatch(
    /FAILED {2}media domain media\.example\.com: the zone example\.com has the plan free.*\n.*docs\/media\.md[^]*Nothing was changed/,
  )
  expect([refused.code, refused.changes]).toEqual([1, []])
  account.rules.zonePlan = 'pro'
  const first = await deploy(cloudflare, [...IMAGE, '--media-domain', DOMAIN], given)
  expect(first.output).toMatch(/ok {6}media\.example\.com serves files of the bucket, and only with a token/)
  expect(first.code).toBe(0)
  const worker = () => account.workers.get('tonearm')!
  const { secrets, vars } = worker()
  expect(vars.MEDIA_DELIVERY).toBe('zone')
  expect(secrets.MEDIA_BASE_URL).toBe(edge.url)
  expect(first.output).not.toContain(secrets.MEDIA_KEY)
  expect((await send(pathTo(FILE, secrets.MEDIA_KEY!))).status).toBe(200)

  const again = await deploy(cloudflare, IMAGE, { ...given, ROOT_KEY: secrets.ROOT_KEY! })
  expect(again.output).toMatch(/ok {6}media domain: stays\n/)
  expect(worker().vars.MEDIA_DELIVERY).toBe('zone')
  expect(worker().secrets).toEqual(secrets)

  const back = await deploy(cloudflare, [...IMAGE, '--var', 'MEDIA_DELIVERY:r2'], {
    ...given,
    ROOT_KEY: secrets.ROOT_KEY!,
  })
  expect(back.code).toBe(0)
  expect(worker().vars.MEDIA_DELIVERY).toBe('r2')
  const wrong = await deploy(cloudflare, [...IMAGE, '--var', 'MEDIA_DELIVERY:cdn'], given)
  expect(wrong.output).toMatch(/FAILED: MEDIA_DELIVERY may be r2 or zone, not cdn/)
})
