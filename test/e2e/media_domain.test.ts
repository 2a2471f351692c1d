import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import type { AccountState } from '../../scripts/deploy/account.ts'
import { checkMediaDomain, requireMedia } from '../../scripts/deploy/media_domain.ts'
import type { Plan } from '../../scripts/deploy/plan.ts'
import { deploy, IMAGE, playAccount } from './deploy_setup.ts'
import { DOMAIN, FILE, startZone, type Zone } from './media_setup.ts'
import { joinStack } from './shared_stack.ts'

/** `npm run deploy -- --media-domain` against a simulated account, whose zone answers over HTTP (docs/decisions/0088). */

let zone: Zone
beforeAll(async () => {
  const stack = await joinStack()
  zone = await startZone(() => playAccount(stack))
})
afterAll(() => zone?.close())
beforeEach(() => zone.reset())

describe('a domain for files is refused before anything changes', () => {
  const refusals: [string, () => unknown, RegExp, string?][] = [
    [
      'for a plan without the rule',
      () => (zone.account.rules.zonePlan = 'free'),
      /zone example\.com has the plan free.*needs Pro/,
    ],
    [
      'for a token that may not change rules',
      () => zone.account.rules.permissions.delete('rulesets'),
      /lacks "Zone WAF: Edit"/,
    ],
    [
      'for a token that may not change records',
      () => zone.account.rules.permissions.delete('dns'),
      /lacks "DNS: Edit"/,
    ],
    [
      'for a bucket that is public at r2.dev',
      () => (zone.account.buckets.get('tonearm-media')!.isPublic = true),
      /public at its r2\.dev/,
    ],
    [
      'for a name that is in use',
      () => zone.account.records.set('a', { id: 'a', name: DOMAIN, type: 'A', content: '192.0.2.1' }),
      /has a DNS record already/,
    ],
    [
      'for a bucket that is public at another domain',
      () => zone.account.buckets.get('tonearm-media')!.domains.add('old.example.com'),
      /also public at old\.example\.com/,
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
    await expect(zone.setUp(domain)).rejects.toThrow(says)
    expect(zone.changes()).toEqual([])
    expect(zone.domains()).not.toContain(domain)
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
    const { keys } = await zone.setUp()
    expect(zone.changes()).toEqual([
      'POST /zones/zone1/rulesets',
      'POST /zones/zone1/rulesets',
      'POST /zones/zone1/rulesets',
      'POST /zones/zone1/dns_records',
      'DELETE /zones/zone1/dns_records/…',
      'POST /r2/buckets/tonearm-media/domains/custom',
    ])
    expect(zone.domains()).toEqual([DOMAIN])
    expect(zone.account.records.size).toBe(0)
    expect((await zone.setUp()).keys).toEqual(keys)
  })

  test('leaves other rules as they are, and its own rule comes first', async () => {
    const other = {
      id: 'other',
      description: 'Mine',
      expression: 'http.host eq "shop.example.com"',
      action: 'skip',
      enabled: true,
    }
    const ruleset = { id: 'r'.repeat(32), phase: 'http_request_firewall_custom', rules: [other] }
    zone.account.rulesets.set(ruleset.id, ruleset)
    await zone.setUp()
    await zone.setUp()
    const { rules } = zone.account.rulesets.get(ruleset.id)!
    expect(rules.map(({ description }) => description)).toEqual([`Tonearm: tokens of ${DOMAIN}`, 'Mine'])
    expect(rules[1]).toEqual(other)
  })

  test('is not attached if the rule does not work, and the record does not stay', async () => {
    zone.account.rules.unguarded = 'always'
    await expect(zone.setUp()).rejects.toThrow(
      /rule does not work at media\.example\.com: without a token 522, with one 522.*Nothing was attached/,
    )
    expect(zone.domains()).toEqual([])
    expect(zone.account.records.size).toBe(0)
  })

  test('is detached at once if it serves a request without a token, even if it was attached before', async () => {
    zone.account.rules.unguarded = 'attached'
    await expect(zone.setUp()).rejects.toThrow(/answers 404 without a token\. The domain was detached/)
    expect(zone.domains()).toEqual([])
    zone.account.rules.unguarded = 'never'
    await zone.setUp()
    zone.account.rules.unguarded = 'attached'
    await expect(zone.setUp()).rejects.toThrow(/detached/)
    expect(zone.domains()).toEqual([])
  })

  test('that was attached before stays if it does not respond, or refuses tokens', async () => {
    await zone.setUp()
    const { edge } = zone
    vi.stubEnv('MEDIA_BASE_URL', 'http://127.0.0.1:1')
    await expect(zone.setUp()).rejects.toThrow(/does not serve the bucket: no answer with a token\. The domain was not/)
    expect(zone.domains()).toEqual([DOMAIN])
    vi.stubEnv('MEDIA_BASE_URL', edge.url)
    edge.clock.offset = 7200
    await expect(zone.setUp()).rejects.toThrow(/403 with a token\. The domain was not detached/)
    expect(zone.domains()).toEqual([DOMAIN])
  })

  test('is named in the error if it is open and cannot be detached', async () => {
    Object.assign(zone.account.rules, { unguarded: 'attached', keepsDomains: true })
    await expect(zone.setUp()).rejects.toThrow(/ANYONE MAY READ THE BUCKET at media\.example\.com.*internal error/)
    zone.account.rules.keepsDomains = false
    await expect(zone.setUp()).rejects.toThrow(/was detached/)
    expect(zone.domains()).toEqual([])
  })

  test('can get another name, because the previous one has its own rule', async () => {
    await zone.setUp()
    await checkMediaDomain({ bucket: 'tonearm-media', mediaDomain: 'files.example.com' } as Plan, {
      ...zone.account,
      hasApiToken: true,
    })
  })

  test('keeps its key out of all errors', async () => {
    vi.stubEnv('MEDIA_KEY', 'abcd'.repeat(16))
    zone.account.rules.refusesExpressions = true
    const error = await zone.setUp().catch((error: Error) => error)
    expect(error).toMatchObject({ message: expect.stringContaining('is_timed_hmac_valid_v0("…"') })
    expect(String((error as Error).stack)).not.toContain('abcd')
  })

  test('gets its rule back after the rule was deleted', async () => {
    await zone.setUp()
    for (const ruleset of zone.account.rulesets.values()) ruleset.rules = []
    expect((await zone.send(`/${FILE}`)).status).toBe(200)
    const { keys } = await zone.setUp()
    expect((await zone.send(`/${FILE}`)).status).toBe(403)
    expect((await zone.send(zone.pathTo(FILE, keys[0]!))).status).toBe(200)
  })

  test('accepts previous keys until a deployment without a new one has deployed the Worker', async () => {
    const [first = ''] = (await zone.setUp()).keys
    const second = 'abcd'.repeat(16)
    const statuses = async () => [
      (await zone.send(zone.pathTo(FILE, first))).status,
      (await zone.send(zone.pathTo(FILE, second))).status,
    ]
    vi.stubEnv('MEDIA_KEY', second)
    expect((await zone.setUp()).keys).toEqual([second, first])
    expect(await statuses()).toEqual([200, 200])
    vi.stubEnv('MEDIA_KEY', '')
    // If the deployment above failed after the rule was changed, the Worker still signs with the first key.
    const failed = zone.setUp(DOMAIN, () => Promise.reject(new Error('wrangler deploy failed')))
    await expect(failed).rejects.toThrow('wrangler deploy failed')
    expect(await statuses()).toEqual([200, 200])
    expect((await zone.setUp()).keys[0]).toBe(second)
    expect(await statuses()).toEqual([403, 200])
    vi.stubEnv('MEDIA_KEY', 'x") or (1 eq 1')
    await expect(zone.setUp()).rejects.toThrow(/MEDIA_KEY must have at least 32 letters and digits/)
  })
})

test('a deployment sets up the domain, keeps it without the option, and goes back to R2', async () => {
  zone.account.buckets.clear()
  const { account, cloudflare, edge } = zone
  account.hasOrganization = true
  const given = { MEDIA_BASE_URL: edge.url, MEDIA_PATIENCE: '1' }
  account.rules.zonePlan = 'free'
  const refused = await deploy(cloudflare, [...IMAGE, '--media-domain', DOMAIN], given)
  expect(refused.output).toMatch(
    /FAILED {2}media domain media\.example\.com: the zone example\.com has the plan free.*\n.*docs\/media\.md[^]*Nothing was changed/,
  )
  expect([refused.code, refused.changes]).toEqual([1, []])
  account.rules.zonePlan = 'pro'
  const dry = await deploy(cloudflare, [...IMAGE, '--media-domain', DOMAIN, '--dry-run'], given)
  expect(dry.output).toMatch(/ok {6}media domain media\.example\.com: will be attached\n/)
  expect(dry.changes).toEqual([])

  const first = await deploy(cloudflare, [...IMAGE, '--media-domain', DOMAIN], given)
  expect(first.output).toMatch(/ok {6}media\.example\.com serves files of the bucket, and only with a token/)
  expect(first.code).toBe(0)
  const worker = () => account.workers.get('tonearm')!
  const { secrets, vars } = worker()
  expect(vars.MEDIA_DELIVERY).toBe('zone')
  expect(secrets.MEDIA_BASE_URL).toBe(edge.url)
  expect(first.output).not.toContain(secrets.MEDIA_KEY)
  expect((await zone.send(zone.pathTo(FILE, secrets.MEDIA_KEY!))).status).toBe(200)

  const again = await deploy(cloudflare, IMAGE, { ...given, ROOT_KEY: secrets.ROOT_KEY! })
  expect(again.output).toMatch(/ok {6}media domain: stays\n/)
  expect(worker().vars.MEDIA_DELIVERY).toBe('zone')
  expect(worker().secrets).toEqual(secrets)

  // A deployment that names R2 does not need the domain.
  const back = await deploy(cloudflare, [...IMAGE, '--var', 'MEDIA_DELIVERY:r2', '--dry-run'], given)
  expect(back.code).toBe(0)
  expect(back.output).not.toContain('media domain')
  const wrong = await deploy(cloudflare, [...IMAGE, '--var', 'MEDIA_DELIVERY:cdn'], given)
  expect(wrong.output).toMatch(/FAILED: MEDIA_DELIVERY may be r2 or zone, not cdn/)
})
