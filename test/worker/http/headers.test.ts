import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'

import worker from '../../../src/index.ts'
import { UNKNOWN_ID } from '../support/api.ts'
import { theWorkspace, type Workspace } from '../support/contract_workspace.ts'

/** The security headers of every kind of response. Those of the studio and other static files are tested in test/e2e/studio_pages.test.ts. */

const view = ({ play_session_id, track_id }: Workspace) => `/v1/play/${play_session_id}/${track_id}`
const oembed = (url: string) => `/oembed?url=${encodeURIComponent(url)}`

it.each<[string, number, (workspace: Workspace) => string, RequestInit?]>([
  ['a list', 200, () => '/v1/collection'],
  ['a change', 200, () => '/v1/collection', { method: 'POST', body: '{"title":"New"}' }],
  ['a request without a key', 401, () => '/v1/collection', { headers: {} }],
  ['an unknown path', 404, () => '/v1/nothing'],
  ['a wrong method', 405, () => '/v1/limits', { method: 'DELETE' }],
  ['an invalid body', 400, () => '/v1/collection', { method: 'POST', body: '{' }],
  ['a preflight', 204, () => '/v1/collection', { method: 'OPTIONS' }],
  ['a play session', 200, ({ play_session_id }) => `/v1/play/${play_session_id}`],
  ['a play view', 200, view],
  ['an unknown play view', 404, () => `/v1/play/${UNKNOWN_ID}/${UNKNOWN_ID}`],
  ['oEmbed', 200, ({ play_session_id }) => oembed(`https://tonearm.test/embed/${play_session_id}`)],
  ['oEmbed of an unknown URL', 404, () => oembed('https://tonearm.test/other')],
  ['the health check', 503, () => '/health'],
  ['a frame', 200, ({ play_session_id }) => `/embed/${play_session_id}`],
  ['the page of an unknown share', 404, () => '/s/unknown'],
  ['an unknown ZIP', 404, () => `/zip/${UNKNOWN_ID}`],
])('%s: nosniff, and Strict-Transport-Security if the request used TLS', async (_, status, path, init = {}) => {
  const workspace = await theWorkspace()
  const headers = { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' }
  for (const scheme of ['https', 'http']) {
    const request = new Request(`${scheme}://tonearm.test${path(workspace)}`, { headers, ...init })
    const bindings = { ...env, TRANSCODER_URL: 'http://transcoder.invalid', PUBLIC_BASE_URL: 'https://tonearm.test' }
    const response = await worker.fetch(request, bindings, createExecutionContext())
    await response.text()
    expect(response.status).toBe(status)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('strict-transport-security')).toBe(scheme === 'https' ? 'max-age=31536000' : null)
  }
})

it('a cached play view has them too', async () => {
  const workspace = await theWorkspace()
  const bindings = { ...env, REUSE_ANSWERS: 'true' }
  const fetchView = async (scheme: string) => {
    const request = new Request(`${scheme}://tonearm.test${view(workspace)}`)
    const response = await worker.fetch(request, bindings, createExecutionContext())
    await response.text()
    return response
  }
  for (const scheme of ['https', 'http']) await fetchView(scheme)
  await env.DB.exec('delete from play_sessions')
  for (const scheme of ['https', 'http']) {
    const cached = await fetchView(scheme)
    expect(cached.status).toBe(200)
    expect(cached.headers.get('x-content-type-options')).toBe('nosniff')
    expect(cached.headers.get('strict-transport-security')).toBe(scheme === 'https' ? 'max-age=31536000' : null)
  }
})
