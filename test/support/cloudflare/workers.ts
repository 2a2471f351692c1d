import { randomUUID } from 'node:crypto'

import { type Call, ApiError, lookUp, type Routes, type Worker } from './account.ts'

/** Simulates Workers, their domains, and containers. */

const workerOf = ({ account, words }: Call) => lookUp(account.workers, words[0], 10_007)

interface Binding {
  type: string
  name: string
  text?: string
  queue_name?: string
  bucket_name?: string
  database_id?: string
  id?: string
}

/** Accepts the upload of a Worker if all resources in its bindings exist. */
async function putWorker({ account, words: [name = ''], form }: Call): Promise<unknown> {
  if (account.rules.failedUploads-- > 0) throw new ApiError(400, 10_021, 'Uncaught Error: the upload is refused.')
  const metadata = (await form()).get('metadata')
  const { bindings } = JSON.parse(metadata instanceof Blob ? await metadata.text() : String(metadata)) as {
    bindings: Binding[]
  }
  const before = account.workers.get(name)
  const worker: Worker = { vars: {}, secrets: {}, queues: [] }
  for (const { type, name: binding, text = '', ...of } of bindings) {
    if (type === 'plain_text') worker.vars[binding] = text
    if (type === 'secret_text') worker.secrets[binding] = text
    if (type === 'inherit') worker.secrets[binding] = before?.secrets[binding] ?? ''
    if (type === 'r2_bucket') lookUp(account.buckets, of.bucket_name, 10_006)
    if (type === 'queue') lookUp(account.queues, of.queue_name, 11_000)
    if (type === 'queue') worker.queues.push(binding)
    if (type === 'd1' && ![...account.databases.values()].some(({ uuid }) => uuid === (of.database_id ?? of.id)))
      throw new ApiError(400, 10_181, `The database of ${binding} does not exist.`)
  }
  account.workers.set(name, worker)
  const deployment_id = randomUUID().replaceAll('-', '')
  return { id: name, tag: deployment_id, etag: deployment_id, startup_time_ms: 5, deployment_id }
}

const CONTAINER = {
  type: 'durable_object_namespace',
  name: 'TRANSCODER',
  class_name: 'TranscoderContainer',
  namespace_id: 'n1',
}
const SUBDOMAIN = { enabled: true, previews_enabled: true }

export const workers: Routes = {
  'GET /workers/scripts/:name/settings': (call) => {
    const { vars, secrets, queues } = workerOf(call)
    const texts = Object.entries(vars).map(([name, text]) => ({ type: 'plain_text', name, text }))
    const hidden = Object.keys(secrets).map((name) => ({ type: 'secret_text', name }))
    return { bindings: [...texts, ...hidden, ...queues.map((name) => ({ type: 'queue', name, queue_name: name }))] }
  },
  'GET /workers/services/:name': ({ account, words: [id] }) => {
    lookUp(account.workers, id, 10_090)
    return {
      id,
      default_environment: { environment: 'production', script: { id, tag: 't', last_deployed_from: 'wrangler' } },
    }
  },
  'GET /workers/scripts/:name/secrets': (call) =>
    Object.keys(workerOf(call).secrets).map((name) => ({ name, type: 'secret_text' })),
  'GET /workers/scripts/:name/deployments': () => ({ deployments: [] }),
  'GET /workers/scripts/:name/versions/:id': () => ({ resources: { bindings: [CONTAINER] } }),
  'POST /workers/scripts/:name/assets-upload-session': () => ({ jwt: 'none is missing', buckets: [] }),
  'PUT /workers/scripts/:name': putWorker,
  'DELETE /workers/scripts/:name': (call) => (workerOf(call), {}),
  'POST /workers/scripts/:name/subdomain': () => SUBDOMAIN,
  'GET /workers/workers/:name': (call) => (workerOf(call), { subdomain: SUBDOMAIN }),
  'PUT /workers/scripts/:name/schedules': () => ({}),
  'POST /workers/scripts/:name/domains/changeset': () => ({ added: [], removed: [], updated: [], conflicting: [] }),
  'PUT /workers/scripts/:name/domains/records': ({ account, words: [name = ''], body }) => {
    for (const { hostname } of body.origins) account.domains.set(hostname, name)
    return {}
  },
  'GET /workers/domains': ({ account }) =>
    [...account.domains].map(([hostname, service]) => ({ id: hostname, hostname, service })),
  'GET /workers/subdomain': ({ account }) => {
    if (account.rules.hasSubdomain) return { subdomain: 'played' }
    throw new ApiError(404, 10_007, 'This account has no workers.dev subdomain.')
  },
}

const applicationOf = ({ account, words }: Call) => lookUp(account.containers, words[0], 1000)

export const containers: Routes = {
  'GET /containers/me': () => ({
    limits: {
      vcpu_per_deployment: 4,
      memory_mib_per_deployment: 12_288,
      disk_mb_per_deployment: 20_000,
      node_group: 'metal',
    },
    defaults: { vcpus: 0.0625, memory_mib: 256, disk_mb: 2000 },
    locations: [],
  }),
  'GET /containers/applications': ({ account }) => [...account.containers.values()],
  'POST /containers/applications': ({ account, body }) => {
    account.containers.set(body.name, { ...body, id: body.name, version: 1 })
    return { id: body.name, name: body.name }
  },
  'PATCH /containers/applications/:name': (call) => Object.assign(applicationOf(call), call.body),
  'POST /containers/applications/:name/rollouts': (call) => {
    Object.assign(applicationOf(call).configuration, call.body.target_configuration)
    return { id: 'r1' }
  },
  'DELETE /containers/applications/:name': (call) => (applicationOf(call), {}),
}
