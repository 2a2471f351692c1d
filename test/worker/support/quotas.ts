import { env } from 'cloudflare:workers'

import { anApiKey, anUploadSession, call, expectError, ok } from './api.ts'
import { aTenant } from './fixtures.ts'

export type QuotaTenant = Awaited<ReturnType<typeof aQuotaTenant>>

/** Creates an organization with a collection, and the calls that use up its quotas and read them. */
export async function aQuotaTenant() {
  const tenant = await aTenant()
  const { key, organization_id, collection_id } = tenant
  const pathOf = (session_id: string) => `/v1/upload/${session_id}/track` as const
  return {
    ...tenant,
    /** Creates an uploader key. Returns its id and secret. */
    async anUploader(body: object = {}) {
      const { api_key_id: id, secret } = await anApiKey(key, { type: 'uploader', ...body })
      return { id, secret }
    },
    /** Creates an upload session. Returns its id. */
    aSession: async (secret: string, body: object = {}) =>
      (await anUploadSession(secret, collection_id, body)).upload_session_id,
    /** Requests a track of this size in a session. */
    add: (secret: string, session_id: string, file_size?: number, headers = {}) =>
      call('POST', `/v1/upload/${session_id}/track`, { key: secret, body: { file_name: 'a.mp3', file_size }, headers }),
    /** Returns the quota that rejects a track of this size. */
    async rejection(secret: string, session_id: string, file_size?: number) {
      const request = { key: secret, body: { file_name: 'a.mp3', file_size } }
      return (await expectError(409, 'quota_exceeded', 'POST', pathOf(session_id), request)).quota
    },
    quotaOfKey: async (id: string) => (await ok('GET', `/v1/api_key/${id}`, { key })).quota!,
    quotaOfSession: async (id: string, secret = key) =>
      (await ok('GET', `/v1/upload_session/${id}`, { key: secret })).quota,
    usedBytes: async (of = key) => (await ok('GET', '/v1/usage', { key: of })).quota.used_bytes,
    limitOrganization: (max_bytes: number | null, id = organization_id) =>
      ok('PUT', `/v1/organization/${id}`, { key: env.ROOT_KEY, body: { max_bytes } }),
    /** Returns the events of quotas, without the fields that all events have. */
    quotaEvents: async () =>
      (await ok('GET', '/v1/event?type=quota.*', { key })).events.map(({ type, subject, data }) => ({
        type,
        subject,
        data,
      })),
  }
}
