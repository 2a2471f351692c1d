import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'

import { LATEST_MIGRATION } from '../../../src/adapters/db/latest_migration.ts'
import worker from '../../../src/index.ts'
import { aPlaySession, call, expectError, ok, query } from '../support/api.ts'
import { aTenant, aTenantWithTrack, aTrackWithJob, runSweep } from '../support/fixtures.ts'
import { createStorage } from '../support/storage.ts'

/** A Worker that lacks a setting, and a database that lacks a migration (docs/decisions/0074). */

const root = env.ROOT_KEY

const without = (...names: (keyof Env)[]): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name as keyof Env))) as unknown as Env

let logged: MockInstance<typeof console.error>
beforeEach(() => {
  logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
})

/** Every value that must never appear in a response. */
const VALUES = [env.ROOT_KEY, env.SIGNING_SECRET, env.TRANSCODER_SECRET, env.R2_ACCESS_KEY_ID, env.R2_SECRET_ACCESS_KEY]

/** Calls the Worker, and expects the 503 that names these settings and no value. */
async function expectLacking(names: RegExp, ...[method, path, options]: Parameters<typeof call>) {
  const { message } = await expectError(503, 'not_configured', method, path, options)
  expect(message).toMatch(names)
  for (const value of VALUES) expect(message).not.toContain(value)
}

describe('a Worker without a setting', () => {
  it.each([
    'ROOT_KEY',
    'SIGNING_SECRET',
    'TRANSCODER_SECRET',
    'R2_ACCESS_KEY_ID',
    'R2_SECRET_ACCESS_KEY',
    'S3_ENDPOINT',
    'S3_BUCKET',
    'MAX_UPLOAD_BYTES',
  ] as const)('names %s in its 503, and in /v1/system if the root key is known', async (name) => {
    const { key } = await aTenant()
    for (const bindings of [without(name), { ...env, [name]: '' } as Env]) {
      await expectLacking(new RegExp(`The Worker lacks ${name}\\.`), 'GET', '/v1/collection', { key, bindings })
      await expectLacking(new RegExp(`lacks ${name}\\.`), 'GET', '/s/some-share', { bindings })
      const { status, body } = await call('GET', '/health', { bindings })
      expect([status, body.failing]).toEqual([503, expect.arrayContaining(['configuration'])])
      if (name === 'ROOT_KEY') {
        await expectLacking(/lacks ROOT_KEY\./, 'GET', '/v1/system', { key: root, bindings })
        continue
      }
      const { system } = await ok('GET', '/v1/system', { key: root, bindings })
      await expectLacking(/lacks/, 'POST', '/v1/system/retry', { key: root, body: {}, bindings })
      expect(system).toMatchObject({ missing: [name], failing: expect.arrayContaining(['configuration']) })
    }
  })

  it('works with a short ROOT_KEY, but its health fails until the key is replaced', async () => {
    const key = 'k'.repeat(23)
    const bindings = { ...env, ROOT_KEY: key }
    const health = async (ROOT_KEY: string) =>
      (await call('GET', '/health', { bindings: { ...env, ROOT_KEY } })).body.failing
    expect(await health(key)).toContain('configuration')
    expect(await health(`${key}k`)).not.toContain('configuration')
    const { system } = await ok('GET', '/v1/system', { key, bindings })
    expect(system).toMatchObject({
      missing: ['ROOT_KEY with at least 24 characters'],
      failing: expect.arrayContaining(['configuration']),
    })
    await ok('POST', '/v1/organization', { key, body: { name: 'Shop' }, bindings })
  })

  it('still answers the preflight of browsers, so that pages can read the 503', async () => {
    const request = new Request('https://tonearm.test/v1/collection', { method: 'OPTIONS' })
    expect((await worker.fetch(request, without('SIGNING_SECRET'), createExecutionContext())).status).toBe(204)
  })

  it('names all that it lacks', async () => {
    const bindings = without('SIGNING_SECRET', 'R2_ACCESS_KEY_ID', 'S3_ENDPOINT')
    await expectLacking(/lacks SIGNING_SECRET, R2_ACCESS_KEY_ID, S3_ENDPOINT\./, 'GET', '/v1/track', { bindings })
  })

  it('serves play views if they do not need it, and names it otherwise', async () => {
    const { key, track_id } = await aTenantWithTrack()
    const { play_session_id } = await aPlaySession(key, 'track', track_id)
    const path = `/v1/play/${play_session_id}/${track_id}`
    for (const name of [
      'ROOT_KEY',
      'SIGNING_SECRET',
      'TRANSCODER_SECRET',
      'PUBLIC_BASE_URL',
      'TRANSCODER_URL',
    ] as const)
      await ok('GET', path, { bindings: without(name) })
    for (const name of ['R2_ACCESS_KEY_ID', 'R2_SECRET_ACCESS_KEY', 'S3_ENDPOINT', 'S3_BUCKET'] as const)
      await expectLacking(new RegExp(`lacks ${name}\\.`), 'GET', path, { bindings: without(name) })
  })

  it.each(['MEDIA_BASE_URL', 'MEDIA_KEY'] as const)(
    'is rejected with MEDIA_DELIVERY=zone and without %s',
    async (name) => {
      const { key, track_id } = await aTenantWithTrack()
      const { play_session_id } = await aPlaySession(key, 'track', track_id)
      const view = `/v1/play/${play_session_id}/${track_id}`
      const complete = { ...env, MEDIA_DELIVERY: 'zone', MEDIA_BASE_URL: 'https://media.example.com', MEDIA_KEY: 'key' }
      await ok('GET', view, { bindings: complete })
      for (const value of [undefined, '']) {
        const bindings = { ...complete, [name]: value } as Env
        await expectLacking(new RegExp(`lacks ${name}\\.`), 'GET', '/v1/collection', { key, bindings })
        await expectLacking(new RegExp(`lacks ${name}\\.`), 'GET', view, { bindings })
        await expectLacking(new RegExp(`lacks ${name}\\.`), 'GET', `/embed/${play_session_id}`, { bindings })
        const { system } = await ok('GET', '/v1/system', { key: root, bindings })
        expect(system).toMatchObject({ missing: [name], failing: expect.arrayContaining(['configuration']) })
      }
      expect((await ok('GET', '/v1/system', { key: root })).system).toMatchObject({ missing: [] })
    },
  )

  it('does not start jobs, which would use up their attempts, and logs what it lacks', async () => {
    const work = await aTrackWithJob()
    const [before] = await query('select * from jobs')
    const bindings = without('TRANSCODER_SECRET')
    await runSweep(bindings)
    const retryAll = vi.fn<MessageBatch['retryAll']>()
    await worker.queue({ queue: 'tonearm-transcode', messages: [], retryAll } as unknown as MessageBatch, bindings)
    expect(retryAll).toHaveBeenCalledWith({ delaySeconds: 60 })
    expect(await query('select * from jobs')).toEqual([before])
    expect((await work.read()).status).toBe('processing')
    expect(logged).toHaveBeenCalledWith('{"event":"not_configured","missing":["TRANSCODER_SECRET"]}')
  })
})

describe('a database', () => {
  afterEach(createStorage)

  it('without any table is reported, and every request names what to do', async () => {
    const { key, track_id } = await aTenantWithTrack()
    const { play_session_id } = await aPlaySession(key, 'track', track_id)
    for (const table of ['play_sessions', 'heartbeats', 'variants', 'jobs', 'd1_migrations'])
      await query(`drop table ${table}`)
    const says = (table: string) =>
      new RegExp(`not migrated \\(no such table: ${table}\\)\\. Run npm run deploy;.* migrations apply DB --local`)
    await expectLacking(says('play_sessions'), 'GET', `/v1/play/${play_session_id}/${track_id}`)
    await expectLacking(says('variants'), 'GET', '/v1/variant', { key })
    expect((await call('GET', '/health')).body.failing).toContain('migrations')
    const { system } = await ok('GET', '/v1/system', { key: root })
    expect(system).toMatchObject({ missing: [LATEST_MIGRATION], failing: expect.arrayContaining(['migrations']) })
  })

  it('without the last migration is reported, and only requests that need it fail', async () => {
    await query('delete from d1_migrations where name = ?', LATEST_MIGRATION)
    await query('alter table collections rename column title to name')
    expect((await call('GET', '/health')).body.failing).toContain('migrations')
    const { secret } = await ok('POST', '/v1/organization', { key: root, body: { name: 'Shop' } })
    await expectLacking(/not migrated \((no such column|table collections has no column)/, 'POST', '/v1/collection', {
      key: secret,
      body: { title: 'New' },
    })
    const { system } = await ok('GET', '/v1/system', { key: root })
    expect(system).toMatchObject({ missing: [LATEST_MIGRATION], database: { answers: true } })
  })

  it('with a later migration is complete, as after a rollback of the Worker', async () => {
    await query("insert into d1_migrations (name) values ('9999_later.sql')")
    expect((await ok('GET', '/v1/system', { key: root })).system).toMatchObject({ missing: [] })
  })
})
