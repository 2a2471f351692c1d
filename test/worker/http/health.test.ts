import { expect, it } from 'vitest'

import { call } from '../support/api.ts'
import { startTranscoder } from '../support/transcoder.ts'

it('GET /health reports ok only while the transcoder responds', async () => {
  expect(await call('GET', '/health')).toMatchObject({ status: 503, body: { ok: false } })
  startTranscoder({ health: () => Response.json({ ok: true }) })
  expect(await call('GET', '/health')).toMatchObject({ status: 200, body: { ok: true } })
  startTranscoder({ health: () => new Response('starting', { status: 500 }) })
  expect(await call('GET', '/health')).toMatchObject({ status: 503, body: { ok: false } })
})
