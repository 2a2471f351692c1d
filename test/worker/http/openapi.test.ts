import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'

import { operations } from '../../../src/contract/index.ts'
import { openApiDocument } from '../../../src/http/api/openapi.ts'
import { call } from '../support/api.ts'
import { startTranscoder } from '../support/transcoder.ts'

/** Tests the endpoints that are not operations. `test/contract/openapi.test.ts` checks the content of the document. */

it('GET /openapi.json serves the document publicly, with the requested origin as its server', async () => {
  const { status, body, headers } = await call('GET', '/openapi.json')
  expect(status).toBe(200)
  expect(headers.get('access-control-allow-origin')).toBe('*')
  expect(body).toEqual(JSON.parse(JSON.stringify(openApiDocument(operations, 'https://tonearm.test'))))
  expect(JSON.stringify(body)).not.toContain(env.ROOT_KEY)
})

it('GET /health reports ok only while the transcoder responds', async () => {
  expect(await call('GET', '/health')).toMatchObject({ status: 503, body: { ok: false } })
  startTranscoder({ health: () => Response.json({ ok: true }) })
  expect(await call('GET', '/health')).toMatchObject({ status: 200, body: { ok: true } })
  startTranscoder({ health: () => new Response('starting', { status: 500 }) })
  expect(await call('GET', '/health')).toMatchObject({ status: 503, body: { ok: false } })
})
