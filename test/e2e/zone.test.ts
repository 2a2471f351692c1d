import { spawn } from 'node:child_process'
import { once } from 'node:events'

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { attachMediaDomain } from '../../scripts/deploy/media_domain.ts'
import type { Plan } from '../../scripts/deploy/plan.ts'
import { createClient } from '../../src/client/index.ts'
import { type Edge, startEdge } from '../support/cloudflare/edge.ts'
import { type Cloudflare, startFakeCloudflare } from '../support/cloudflare/server.ts'
import type { Stack } from '../support/stack.ts'
import { root } from './deploy_setup.ts'
import { aBucket, bucketOf, DOMAIN } from './media_setup.ts'
import { openPage, setUp, type Workspace } from './player_setup.ts'
import { startOther } from './shared_stack.ts'
import { must } from './steps.ts'

/** A service that delivers from a domain (docs/decisions/0088): its bucket is behind a zone with the rules of a deployment. */

const KEY = 'f00d'.repeat(16)

let cloudflare: Cloudflare
let edge: Edge
let stack: Stack
let workspace: Workspace
let play_session_id: string

beforeAll(async () => {
  cloudflare = await startFakeCloudflare(async () => new Response())
  edge = await startEdge(cloudflare.account, { host: DOMAIN, read: bucketOf(() => stack) })
  cloudflare.account.buckets.set('tonearm-media', aBucket(DOMAIN))
  const settings = { MEDIA_DELIVERY: 'zone', MEDIA_BASE_URL: edge.url, MEDIA_KEY: KEY }
  // The rule exists before the service starts, because its first sweep requests a file without a token.
  vi.stubEnv('CLOUDFLARE_API_BASE_URL', `${cloudflare.url}/client/v4`)
  await guard()
  workspace = await setUp(async () => (stack = await startOther({ settings })))
  const album = await workspace.anAlbum({
    One: { seconds: 3, expression: '0.5*sin(2*PI*440*t)' },
    Two: { seconds: 3, expression: '0.5*sin(2*PI*660*t)' },
  })
  play_session_id = await workspace.aSession(album)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await workspace?.dispose()
  await edge?.close()
  await cloudflare?.close()
})

/** Makes the rules of a deployment in the zone. */
const guard = () =>
  attachMediaDomain(
    { bucket: 'tonearm-media' } as Plan,
    { ...cloudflare.account, hasApiToken: true },
    { domain: DOMAIN, zone_id: 'zone1', keys: [KEY], url: edge.url, isAttached: true },
  )

async function firstUrl(): Promise<string> {
  const listener = createClient({ base_url: stack.base_url })
  const { first_track } = await must(listener.get('/v1/play/{play_session_id}', { params: { play_session_id } }))
  return first_track!.variants[0]!.url
}

test('a browser plays an album without silence from the domain, and the next listener gets it from the cache', async () => {
  edge.reset()
  const counted: Edge['counts'][] = []
  for (let listener = 0; listener < 2; listener++) {
    const opened = await openPage(workspace.browser, `${stack.base_url}/embed/${play_session_id}`)
    await opened.until('ready')
    await opened.call('play')
    await opened.until('trackchange', 1)
    await opened.untilTime(0.5)
    await opened.until('ended')
    expect(opened.hosts).toEqual(new Set([stack.base_url, edge.url]))
    expect(opened.problems).toEqual([])
    await opened.close()
    counted.push({ ...edge.counts })
  }
  const [first, second] = counted
  expect(first!.ranges).toBeGreaterThan(0)
  expect(second!.misses).toBe(first!.misses)
  expect(second!.hits).toBeGreaterThan(first!.hits)
})

describe('a page of another origin', () => {
  const read = async (page: Page, url: string) =>
    page.evaluate(async (address) => {
      const whole = await fetch(address)
      const sound = await new OfflineAudioContext(1, 1, 44_100).decodeAudioData(await whole.arrayBuffer())
      const part = await fetch(address, { headers: { range: 'bytes=0-99' }, cache: 'no-store' })
      const parts = await fetch(address, { headers: { range: 'bytes=0-0,10-19' }, cache: 'no-store' })
      const refused = await fetch(address.split('?')[0]!, { cache: 'no-store' }).then(
        (response) => response.status,
        () => 'unreadable',
      )
      return {
        seconds: Math.round(sound.duration),
        part: [part.status, (await part.arrayBuffer()).byteLength, part.headers.get('content-range')?.split('/')[0]],
        parts: [parts.status, parts.headers.get('content-type')],
        refused,
      }
    }, url)

  test('decodes a file with Web Audio, and reads one range and several at once, which need a preflight request', async () => {
    workspace.host.show('<!doctype html><title>Elsewhere</title>', {})
    const { page, close } = await openPage(workspace.browser, workspace.host.origin)
    expect(await read(page, await firstUrl())).toEqual({
      seconds: 3,
      part: [206, 100, 'bytes 0-99'],
      parts: [206, 'multipart/byteranges; boundary=part'],
      refused: 'unreadable',
    })
    await close()
  })
})

describe('the doctor', () => {
  async function doctor() {
    const env = { ...process.env, ROOT_KEY: stack.root_key, TONEARM_KEY: stack.api_key }
    const args = ['scripts/doctor.ts', '--url', stack.base_url, '--media']
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (output += part))
    const [code] = await once(child, 'close')
    return { code: code as number, output }
  }
  const system = async () =>
    (await must(createClient({ base_url: stack.base_url, api_key: stack.root_key }).get('/v1/system'))).system

  test('measures the cache with two tokens, and finds the domain guarded', async () => {
    edge.reset()
    const { code, output } = await doctor()
    expect(output).toMatch(/ok {6}files come from a domain: 127\.0\.0\.1:\d+\n/)
    expect(output).toMatch(/ok {6}the domain refuses requests without the right token: 8 requests got 403\n/)
    expect(output).toMatch(/ok {6}the cache of the domain: [56] of 6 requests with two tokens from the cache \(/)
    expect(output).toMatch(/- {7}listening: not tested, because the statistics of the organization of TONEARM_KEY keep/)
    expect(output).toMatch(/All is well\.\n$/)
    expect(code).toBe(0)
    expect(await system()).toMatchObject({ media: { delivery: 'zone', is_open: false } })
  })

  test('reports a deleted rule, as the sweep does, until the rule is restored', async () => {
    const ruleset = [...cloudflare.account.rulesets.values()].find(({ phase }) => phase.includes('firewall'))!
    const rules = ruleset.rules.splice(0)
    const { code, output } = await doctor()
    const says =
      /FAILED {2}the domain refuses requests without the right token: 200 without a token \(GET\), not 403\n.*remove the domain/
    expect(output).toMatch(says)
    expect(code).toBe(1)
    // The sweep has checked the domain today.
    await fetch(`${stack.base_url}/cdn-cgi/local/explorer/api/d1/database/DB/raw`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sql: `update heartbeats set at = 0 where name = 'media'` }),
    })
    const sweep = () => fetch(`${stack.base_url}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`)
    await sweep()
    expect(await system()).toMatchObject({ failing: ['media'], media: { is_open: true } })
    expect(rules).toHaveLength(1)
    await guard()
    await sweep()
    expect(await system()).toMatchObject({ failing: [], media: { is_open: false } })
  })
})
