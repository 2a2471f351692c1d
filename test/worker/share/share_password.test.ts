import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import worker from '../../../src/index.ts'
import { callPlaySession, HOUR, ok, expectError } from '../support/api.ts'
import { aReadyTrack, aTenant, stopTime } from '../support/fixtures.ts'
import {
  aShare,
  weakenPasswordHashes,
  apiKeyIn,
  fakeRateLimit,
  openPage,
  PROTECTED_TEXT,
} from '../support/share_visitor.ts'

/** Shares that are protected by a password, and the limits for wrong passwords. */

let key: string
let collection_id: string

beforeEach(async () => {
  ;({ key, collection_id } = await aTenant())
  await aReadyTrack(key, collection_id, { player_title: 'So "What" <b>', player_subtitle: 'Miles Davis' })
})

const play = (secret: string, body?: object) => callPlaySession(secret, 'collection', collection_id, body)

describe('a share with a password', () => {
  it('reveals nothing about its contents without the password', async () => {
    const { slug, url } = await aShare(key, collection_id, {
      password: 'swordfish',
      slug: 'kind',
      title: 'Kind of Blue',
    })
    for (const path of [`/s/${slug}`, `/embed/s/${slug}`]) {
      const form = await openPage(path)
      const wrong = await openPage(path, 'Swordfish')
      expect([form.status, wrong.status]).toEqual([200, 403])
      expect(wrong.text).toContain('This is not the password.')
      for (const { text, headers } of [form, wrong]) {
        expect(text).toContain('<input')
        expect(text).not.toMatch(PROTECTED_TEXT)
        expect(text).not.toContain(collection_id)
        expect(headers.get('x-robots-tag')).toBe('noindex')
      }
      expect((await openPage(path, '')).status).toBe(403)
    }
    await expectError(404, 'not_found', 'GET', `/oembed?url=${encodeURIComponent(url)}`)
    await expectError(401, 'unauthorized', 'POST', '/v1/play_session/collection', {
      key: `ta_sh_${slug}`,
      body: { collection_id },
    })
  })

  it('can be opened with the password for a day, or until the password changes', async () => {
    const { id, slug } = await aShare(key, collection_id, { password: 'swordfish' })
    const opened = await openPage(`/s/${slug}`, 'swordfish')
    expect([opened.status, /<h1>Kind of Blue/.test(opened.text), opened.text.includes('og:')]).toEqual([
      200,
      true,
      false,
    ])
    const secret = apiKeyIn(opened)
    expect((await play(secret)).status).toBe(200)
    // The key is invalid with another slug, another expiry, or another signature.
    const [, , ends = '', signature = ''] = /^(ta_sh_[^.]+)\.(\d+)\.(\w+)$/.exec(secret) ?? []
    const other = await aShare(key, collection_id, { password: 'swordfish' })
    const forged = [
      secret.replace(slug, other.slug),
      secret.replace(ends, String(Number(ends) + 1)),
      secret.replace(
        signature,
        signature.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      ),
      `ta_sh_${slug}.${ends}.${'0'.repeat(64)}`,
    ]
    for (const forged_secret of forged)
      expect([forged_secret, (await play(forged_secret)).status]).toEqual([forged_secret, 401])
    await ok('PUT', `/v1/share/${id}`, { key, body: { password: 'swordfish 2' } })
    expect((await play(secret)).status).toBe(401)
    const again = apiKeyIn(await openPage(`/s/${slug}`, 'swordfish 2'))
    expect((await play(again)).status).toBe(200)
    stopTime()
    vi.setSystemTime(Date.now() + 25 * HOUR)
    expect((await play(again)).status).toBe(401)
  })

  it('refuses a client after 60 of 100 wrong passwords, but no other client and no other share is affected', async () => {
    const { slug } = await aShare(key, collection_id, { password: 'swordfish' })
    const other = await aShare(key, collection_id, { password: 'swordfish' })
    const bindings = { ...env, MISS_RATE_LIMIT: fakeRateLimit(60) }
    await weakenPasswordHashes()
    const statuses: number[] = []
    for (let at = 0; at < 100; at++) statuses.push((await openPage(`/s/${slug}`, `wrong ${at}`, bindings)).status)
    expect(statuses).toEqual([...Array.from({ length: 60 }, () => 403), ...Array.from({ length: 40 }, () => 429)])
    const last = await openPage(`/embed/s/${slug}`, 'swordfish', bindings)
    expect([last.status, last.text.includes('Too many attempts'), last.headers.get('retry-after')]).toEqual([
      429,
      true,
      '60',
    ])
    expect((await openPage(`/s/${slug}`, 'wrong', bindings, '192.0.2.2')).status).toBe(403)
    expect((await openPage(`/s/${other.slug}`, 'wrong', bindings)).status).toBe(403)
  })

  it('limits the attempts of each client and of all clients together, and treats an IPv6 network as one client', async () => {
    const { slug } = await aShare(key, collection_id, { password: 'swordfish' })
    const bindings = { ...env, MISS_RATE_LIMIT: fakeRateLimit(2), API_RATE_LIMIT: fakeRateLimit(7) }
    await weakenPasswordHashes()
    const attempts = async (...clients: string[]) => {
      const statuses: number[] = []
      for (const client of clients) statuses.push((await openPage(`/s/${slug}`, 'wrong', bindings, client)).status)
      return statuses
    }
    const client = '192.0.2.1'
    expect(await attempts(client, client, client, client, client, client, client, client)).toEqual([
      403, 403, 429, 429, 429, 429, 429, 429,
    ])
    expect(await attempts('2001:db8:0:1::5', '2001:db8::1:a:b:c:d', '2001:db8:0:1:f::')).toEqual([403, 403, 429])
    expect(await attempts('2001:db8:0:2::5', '2001:db8::5', '2001:db8::6', '2001:db8::7')).toEqual([403, 403, 403, 429])
    expect(await attempts('192.0.2.2')).toEqual([429])
  })

  it('opens for a client that was never wrong, after others have used up the limit for all clients', async () => {
    const { slug } = await aShare(key, collection_id, { password: 'swordfish' })
    const bindings = { ...env, MISS_RATE_LIMIT: fakeRateLimit(60), API_RATE_LIMIT: fakeRateLimit(3) }
    const enter = async (client: string, password: string) =>
      (await openPage(`/s/${slug}`, password, bindings, client)).status
    const attackers = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5']
    const statuses: number[] = []
    for (const attacker of attackers) statuses.push(await enter(attacker, 'wrong'))
    expect(statuses).toEqual([403, 403, 403, 429, 429])
    expect(await enter('198.51.100.1', 'swordfish')).toBe(200)
    // An attacker learns nothing more, even with the right password.
    expect(await enter('192.0.2.1', 'swordfish')).toBe(429)
  })

  it('counts only wrong passwords, so any number of visitors behind one address can open it', async () => {
    const { slug } = await aShare(key, collection_id, { password: 'swordfish' })
    const bindings = { ...env, MISS_RATE_LIMIT: fakeRateLimit(2), API_RATE_LIMIT: fakeRateLimit(2) }
    const statuses: number[] = []
    for (let at = 0; at < 5; at++) statuses.push((await openPage(`/s/${slug}`, 'swordfish', bindings)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200])
  })

  it('rejects a form without a valid password', async () => {
    const { slug } = await aShare(key, collection_id, { password: 'swordfish' })
    expect((await openPage(`/s/${slug}`, 'x'.repeat(5000))).status).toBe(413)
    const file = new FormData()
    file.set('password', new File(['swordfish'], 'a.txt'))
    const request = new Request(`https://tonearm.test/s/${slug}`, { method: 'POST', body: file })
    expect((await worker.fetch(request, env, createExecutionContext())).status).toBe(403)
  })

  it('can only be framed by the sites that it lists, while a share without a password can be framed by any site', async () => {
    const ancestors = async (body: object) => {
      const { slug } = await aShare(key, collection_id, body)
      const answers = await Promise.all(
        [`/s/${slug}`, `/embed/s/${slug}`].flatMap((path) => [openPage(path), openPage(path, 'swordfish')]),
      )
      const found = answers.map(
        ({ headers }) => headers.get('content-security-policy')?.match(/frame-ancestors (.*)/)?.[1],
      )
      return [...new Set(found)]
    }
    expect(await ancestors({})).toEqual(['*'])
    expect(await ancestors({ password: 'swordfish' })).toEqual(["'self'"])
    const allowed_origins = ['https://a.example']
    expect(await ancestors({ password: 'swordfish', allowed_origins })).toEqual(["'self' https://a.example"])
  })
})
