import { createExecutionContext, createMessageBatch, getQueueResult } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'

import { openWithRetries } from '../../../src/adapters/db/database.ts'
import { createQueryBudget, limitQueries } from '../../../src/adapters/db/query_budget.ts'
import { consume } from '../../../src/background/consume.ts'
import { FILL_WARNING } from '../../../src/contract/facts.ts'
import { System } from '../../../src/contract/system.ts'
import { MINUTE } from '../../../src/contract/time.ts'
import { aTrack, call, DAY, HOUR, ok, query, silentQueue } from '../support/api.ts'
import { aTenant, deliver, runSweep, stopTime } from '../support/fixtures.ts'
import { countRows } from '../support/row_counter.ts'
import { seed, seedEvents } from '../support/seed.ts'
import { startTranscoder } from '../support/transcoder.ts'
import { allowReceivers, aSubscriber, insertEvents } from '../support/webhooks.ts'

/** How the sweep and the consumers divide their work, because D1 allows 1,000 queries per invocation. */

/** The real bindings, except that queues discard their messages: no consumer does the work of the sweep. */
const quiet: Env = {
  ...env,
  TASK_QUEUE: silentQueue,
  TRANSCODE_QUEUE: silentQueue,
  WEBHOOK_QUEUE: silentQueue,
  INGEST_QUEUE: silentQueue,
}
const lastSweep = async () => System.parse((await ok('GET', '/v1/system', { key: env.ROOT_KEY })).system).last_sweep!
/** Selects the numbers 1 to `count` as `n(i)`. */
const numbers = (count: number) => `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`

beforeEach(() => {
  startTranscoder({ health: () => Response.json({ ok: true }) })
  stopTime()
})

/** Fills every phase of the sweep with more work than one sweep can do. Returns the number of rows that are left of each kind. */
async function fillAll() {
  const tenant = await aTenant()
  const { organization_id } = tenant
  await seed('tracks', 1, 300, tenant, {
    change: () => query(`update tracks set awaiting_upload = 1, status = 'initializing', source_suffix = null`),
  })
  await seed('trash', 1, 250, tenant, { change: () => query('update trash set expires_at = 1') })
  await query(`insert into jobs (id, organization_id, payload, lease_until, wake_at, created_at)
    ${numbers(300)} select 'job' || i, '${organization_id}', '{"kind":"purge","prefixes":[]}', 0, 0, ${Date.now()} from n`)
  await query(`insert into multipart_uploads (id, organization_id, track_id, path, upload_id, file_size, part_size, part_count, parts, state, expires_at, created_at)
    ${numbers(250)} select 'upload' || i, '${organization_id}', 'track' || i, '', '', 1, 1, 1, '[]', 'complete', 1, 1 from n`)
  await query(`insert into upload_handles (track_id, path, expires_at, check_at, listed_name)
    ${numbers(250)} select 'track' || i, 'uploads/' || i, 1, 1, '' from n`)
  const endOf = Math.floor((Date.now() - 30 * DAY) / HOUR)
  await query(`insert into play_sessions
    (id, organization_id, scope, resource_id, metadata, variants, is_downloadable, expires_at, created_at)
    ${numbers(200)} select printf('000%05x-0000-8000-8000-000000000000', ${endOf} + i), '${organization_id}', 'track', '', '{}', '[]', 0, 1, ${Date.now()} from n`)
  await seedEvents(1, 20_000, tenant)
  await query(`insert into webhook_endpoints (id, organization_id, url, title, events, is_ordered, state, secret, swept_until, seq, created_at)
    ${numbers(150)} select 'endpoint' || i, '${organization_id}', '', '', '[]', 0, 'deleted', '', -1, i, 1 from n`)
  await query(`insert into search_fills values ('tracks', 300000)`)
  const count = async (rows: string) => (await query<{ n: number }>(`select count(*) as n from ${rows}`))[0]!.n
  return async () => ({
    jobs: await count('jobs where wake_at = 0'),
    ingest: await count(`tracks where status = 'initializing'`),
    multipart: await count('multipart_uploads'),
    handles: await count('upload_handles'),
    trash: await count('trash'),
    expired: await count(
      `play_sessions where id >= coalesce((select at from usage_cursors where name = 'sessions'), '')`,
    ),
    deliveries: await count('webhook_endpoints'),
    search: (await query<{ cursor: number }>('select cursor from search_fills'))[0]?.cursor ?? 0,
  })
}

describe('the queries of a sweep', () => {
  it('are at most 700 with every phase full, each phase advances, and the sweeps that follow finish all of it', async () => {
    const remaining = await fillAll()
    const before = await remaining()
    const first = await countRows(() => runSweep(quiet))
    expect(first.trips).toBeLessThanOrEqual(700)
    const report = await lastSweep()
    expect(report.queries).toBe(first.trips)
    expect(report.left.length).toBeGreaterThan(0)
    expect(report.failed).toEqual([])
    for (const [kind, rows] of Object.entries(await remaining()))
      expect(rows, kind).toBeLessThan(before[kind as keyof typeof before])
    for (let sweeps = 1; (await lastSweep()).left.length > 0; sweeps++) {
      expect(sweeps).toBeLessThan(12)
      // The consumer has done the jobs whose messages were sent.
      await query('delete from jobs where wake_at > ?', Date.now())
      vi.setSystemTime(Date.now() + MINUTE)
      expect((await countRows(() => runSweep(quiet))).trips).toBeLessThanOrEqual(700)
    }
    expect(await lastSweep()).toMatchObject({ left: [], failed: [] })
    const done = { ingest: 0, multipart: 0, handles: 0, trash: 0, expired: 0, deliveries: 0, search: 0 }
    expect(await remaining()).toMatchObject(done)
    expect(await query('select 1 from play_sessions union all select 1 from events where seq < 20000')).toEqual([])
    const [{ sessions }] = (await query('select sum(sessions) as sessions from usage_days')) as [{ sessions: number }]
    expect(sessions).toBe(200)
  })
})

describe('a phase that fails', () => {
  it('does not stop the others, is reported, and makes the health check fail after five minutes', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const tenant = await aTenant()
    await aTrack(tenant.key, tenant.collection_id)
    await query('update tracks set next_check_at = 0')
    const MEDIA = new Proxy(env.MEDIA, {
      get: () => () => {
        throw new Error('R2 is down')
      },
    })
    const failing = async () => (await call('GET', '/health')).body.failing
    const started = Date.now()
    for (let minute = 0; minute <= 5; minute++) {
      vi.setSystemTime(started + minute * MINUTE)
      await runSweep({ ...quiet, MEDIA })
      expect((await lastSweep()).failed).toEqual(['ingest'])
      expect(await failing()).toBeUndefined()
    }
    vi.setSystemTime(started + 5 * MINUTE + 1)
    expect(await failing()).toEqual(['sweep'])
    expect(error.mock.calls.join()).toContain('"event":"sweep_failed","phase":"ingest"')
    await runSweep(quiet)
    expect(await lastSweep()).toMatchObject({ left: [], failed: [] })
    expect(await failing()).toBeUndefined()
  })
})

it('the sweep warns once an hour from 80 % on', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const warnings = () => error.mock.calls.filter(([line]) => String(line).includes('database_filling')).length
  const hour = Math.ceil(Date.now() / 3600_000) * 3600_000
  const sweepAt = async (time: number, fraction: number) => {
    vi.setSystemTime(time)
    const { size_after } = (await env.DB.prepare('select 1').run()).meta
    await runSweep({ ...env, DATABASE_LIMIT_BYTES: String(Math.floor(size_after / fraction)) })
    return warnings()
  }
  expect(await sweepAt(hour, FILL_WARNING - 0.05)).toBe(0)
  expect(await sweepAt(hour, FILL_WARNING + 0.05)).toBe(1)
  expect(await sweepAt(hour + 60_000, FILL_WARNING + 0.05)).toBe(1)
  expect(await sweepAt(hour + 3600_000, FILL_WARNING + 0.05)).toBe(2)
})

describe('the queries of a consumer', () => {
  it('are at most 900, and a large purge continues in the next message without counting as an attempt', async () => {
    const tenant = await aTenant()
    await seed('collections', 1, 170, tenant, { plain: true })
    const { TASK_QUEUE: _, ...others } = env
    const messages: { job_id: string }[] = []
    const TASK_QUEUE = { send: async (body: { job_id: string }) => void messages.push(body) } as unknown as Queue
    const bindings = { ...others, TASK_QUEUE } as Env
    await ok('DELETE', `/v1/organization/${tenant.organization_id}`, { key: env.ROOT_KEY, bindings })
    for (let runs = 1; messages.length > 0; runs++) {
      expect(runs).toBeLessThan(5)
      const { trips, result } = await countRows(() => deliver('task', messages.pop(), { bindings }))
      expect(result).toEqual({ acknowledged: true, retried_in: undefined })
      expect(trips).toBeLessThanOrEqual(900)
      if (runs === 1) expect(messages).toHaveLength(1)
    }
    expect(await query('select id from collections')).toEqual([])
    const jobs = await query(`select state, attempt from jobs where lease_until < created_at + 6 * ${HOUR}`)
    expect(jobs).toEqual([{ state: 'done', attempt: 1 }])
  })

  /** Passes messages of a queue to its consumer, each with this number of queries, until no message is left. Returns the number of messages. */
  async function consumeAll(role: 'task' | 'webhook', queries: number, first: object): Promise<number> {
    const messages = [first]
    const queue = { send: async (body: object) => void messages.push(body) } as unknown as Queue
    const bindings = { ...quiet, [role === 'task' ? 'TASK_QUEUE' : 'WEBHOOK_QUEUE']: queue }
    for (let count = 0; ; count++) {
      const body = messages.pop()
      if (!body) return count
      expect(count).toBeLessThan(20)
      const budget = createQueryBudget(queries)
      const db = openWithRetries(limitQueries(env.DB, budget))
      const system = { env: bindings, db, now: Date.now(), invalidate: () => undefined, actor: null, queries: budget }
      const batch = createMessageBatch(`tonearm-${role}`, [{ id: 'message', timestamp: new Date(), attempts: 1, body }])
      await consume(system, batch)
      expect((await getQueueResult(batch, createExecutionContext())).explicitAcks).toEqual(['message'])
    }
  }

  it('let the files of a deleted variant be removed page by page, each run after the last page', async () => {
    const tenant = await aTenant()
    await seed('tracks', 1, 2500, tenant, { plain: true })
    const payload = JSON.stringify({ kind: 'purge', prefixes: [], variant: { id: 'variant', index: 'radio' } })
    await query(
      `insert into jobs (id, organization_id, payload, lease_until, wake_at, created_at) values ('job', ?1, ?2, 0, ?3, ?3)`,
      tenant.organization_id,
      payload,
      Date.now(),
    )
    expect(await consumeAll('task', 26, { job_id: 'job' })).toBeGreaterThan(1)
    expect(await query('select state, attempt from jobs')).toEqual([{ state: 'done', attempt: 1 }])
  })

  it('let a sender of webhooks write every outcome before the next message continues', async () => {
    allowReceivers()
    const error = vi.spyOn(console, 'error')
    const { organization_id, id, receiver } = await aSubscriber('ok')
    await insertEvents(organization_id, ...Array.from({ length: 40 }, (_, at): [string] => [`track:${at}`]))
    expect(await consumeAll('webhook', 90, {})).toBeGreaterThan(1)
    expect(await receiver.received()).toHaveLength(40)
    expect(
      await query(`select state from webhook_deliveries where endpoint_id = ? and due_at is not null`, id),
    ).toEqual([])
    expect(error).not.toHaveBeenCalled()
  })
})
