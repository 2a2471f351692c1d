import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'

import { call, HOUR } from '../support/api.ts'
import { stopTime } from '../support/fixtures.ts'
import { countRows } from '../support/row_counter.ts'
import { startTranscoder } from '../support/transcoder.ts'

it('GET /health reports ok only while the transcoder responds', async () => {
  expect(await call('GET', '/health')).toMatchObject({ status: 503, body: { ok: false } })
  startTranscoder({ health: () => Response.json({ ok: true }) })
  expect(await call('GET', '/health')).toMatchObject({ status: 200, body: { ok: true } })
  startTranscoder({ health: () => new Response('starting', { status: 500 }) })
  expect(await call('GET', '/health')).toMatchObject({ status: 503, body: { ok: false } })
})

it('GET /health reads the database at most once in five seconds, and in two seconds while it fails', async () => {
  startTranscoder({ health: () => Response.json({ ok: true }) })
  stopTime()
  const bindings = { ...env, REUSE_ANSWERS: 'true' }
  const read = async (at: number) => {
    vi.setSystemTime(at)
    const { result, statements } = await countRows(() => call('GET', '/health', { bindings }))
    return [result.status, statements > 0 ? 'read' : 'reused']
  }
  const started = Date.now() + HOUR
  expect(await read(started)).toEqual([200, 'read'])
  expect(await read(started + 4999)).toEqual([200, 'reused'])
  expect(await read(started + 5000)).toEqual([200, 'read'])
  // No sweep has run for an hour.
  expect(await read(started + HOUR)).toEqual([503, 'read'])
  expect(await read(started + HOUR + 1999)).toEqual([503, 'reused'])
  expect(await read(started + HOUR + 2000)).toEqual([503, 'read'])
})
