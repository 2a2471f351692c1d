import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'

import { operations } from '../../src/contract/index.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { call } from './support.ts'
import { startTranscoder } from './transcoder.ts'

/** What is served beside the operations. What the document says is judged by `test/contract/openapi.test.ts`. */

it('serves the document to everybody, with the address it was asked at', async () => {
  const { status, body, headers } = await call('GET', '/openapi.json')
  expect(status).toBe(200)
  expect(headers.get('access-control-allow-origin')).toBe('*')
  expect(body).toEqual(JSON.parse(JSON.stringify(openApiDocument(operations, 'https://tonearm.test'))))
  expect(JSON.stringify(body)).not.toContain(env.ROOT_KEY)
})

it('is healthy only while the transcoder serves', async () => {
  expect(await call('GET', '/health')).toMatchObject({ status: 503, body: { ok: false } })
  startTranscoder({ health: () => Response.json({ ok: true }) })
  expect(await call('GET', '/health')).toMatchObject({ status: 200, body: { ok: true } })
  startTranscoder({ health: () => new Response('starting', { status: 500 }) })
  expect(await call('GET', '/health')).toMatchObject({ status: 503, body: { ok: false } })
})
