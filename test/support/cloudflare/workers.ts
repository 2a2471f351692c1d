import { randomUUID } from 'node:crypto'

import { type Binding, type Call, ApiError, lookUp, type Routes, type Version, type Worker } from './account.ts'

/** Simulates Workers, their versions and domains, and containers. */

const workerOf = ({ account, words }: Call) => lookUp(account.workers, words[0], 10_007)

interface Metadata {
  bindings: Binding[]
  /** Kinds of bindings that the Worker keeps, unless the upload has one with the same name. */
  keep_bindings?: string[]
  containers?: unknown
  main_module: string
  /** Class migrations that this upload applies, after `old_tag`. */
  migrations?: { old_tag?: string; new_tag: string; steps: { new_sqlite_classes?: string[] }[] }
}

/** Returns the names that a bundled module exports. */
function exportsOf(code: string): Set<string> {
  const [, names = ''] = /export\s*\{([^{}]*)\}[^{}]*$/.exec(code) ?? []
  return new Set(
    names.split(',').map((name) =>
      name
        .trim()
        .split(/\s+as\s+/)
        .at(-1)!,
    ),
  )
}

/** Applies class migrations by Cloudflare's rules (Durable Objects, Durable Objects migrations). Returns the new tag and all classes. */
function migrateClasses(before: Worker | undefined, { migrations, bindings }: Metadata, exported: Set<string>) {
  const classes = new Set(before?.classes)
  const tag = before?.migration_tag
  if (migrations && migrations.old_tag !== tag)
    throw new ApiError(
      412,
      10_079,
      `Actor migration tag precondition failed, got tag '${migrations.old_tag ?? ''}' when expected tag is '${tag ?? ''}'.`,
    )
  for (const name of migrations?.steps.flatMap(({ new_sqlite_classes = [] }) => new_sqlite_classes) ?? []) {
    if (classes.has(name))
      throw new ApiError(
        400,
        10_074,
        `Cannot apply new-sqlite-class migration to class '${name}' that is already depended on by existing Durable Objects`,
      )
    if (!exported.has(name))
      throw new ApiError(
        400,
        10_070,
        `Cannot apply new-class migration to class '${name}' that is not exported by script`,
      )
    classes.add(name)
  }
  const lost = [...classes].find((name) => !exported.has(name))
  if (lost)
    throw new ApiError(
      403,
      10_064,
      `New version of script does not export class '${lost}' which is depended on by existing Durable Objects.`,
    )
  const unknown = bindings.find(({ class_name }) => class_name && !classes.has(class_name))
  if (unknown)
    throw new ApiError(
      400,
      10_061,
      `Cannot create binding for class '${unknown.class_name}' because it is not currently configured to implement Durable Objects.`,
    )
  return { migration_tag: migrations?.new_tag ?? tag, classes: [...classes] }
}

/** Accepts the upload of a Worker if all resources in its bindings exist. */
async function putWorker({ account, words: [name = ''], form }: Call): Promise<unknown> {
  if (account.rules.failedUploads-- > 0) throw new ApiError(400, 10_021, 'Uncaught Error: the upload is refused.')
  const parts = await form()
  const textOf = async (part: FormDataEntryValue | null) => (part instanceof Blob ? part.text() : String(part))
  const metadata = JSON.parse(await textOf(parts.get('metadata'))) as Metadata
  const before = account.workers.get(name)
  const migrated = migrateClasses(before, metadata, exportsOf(await textOf(parts.get(metadata.main_module))))
  const existing = before ? allBindings(before) : []
  const { containers } = metadata
  const { migration_tag } = migrated
  const version: Version = { id: randomUUID(), vars: {}, secrets: {}, bindings: [], containers, migration_tag }
  const uploaded = metadata.bindings.map((binding) =>
    binding.type === 'inherit' ? inherited(binding, existing) : binding,
  )
  const kept = existing.filter(
    ({ type, name }) => metadata.keep_bindings?.includes(type) && !uploaded.some((binding) => binding.name === name),
  )
  for (const binding of [...kept, ...uploaded]) {
    if (binding.type === 'plain_text') version.vars[binding.name] = binding.text ?? ''
    else if (binding.type === 'secret_text') version.secrets[binding.name] = binding.text ?? ''
    else version.bindings.push(complete(name, binding))
    if (binding.type === 'r2_bucket') lookUp(account.buckets, binding.bucket_name, 10_006)
    if (binding.type === 'queue') lookUp(account.queues, binding.queue_name, 11_000)
    if (binding.type === 'd1' && ![...account.databases.values()].some(({ uuid }) => uuid === binding.id))
      throw new ApiError(400, 10_181, `The database of ${binding.name} does not exist.`)
  }
  const versions = [...(before?.versions ?? []), version]
  const served = [...(before?.served ?? []), version.id]
  account.workers.set(name, { ...boundOf(version), ...migrated, versions, served })
  return { id: name, tag: version.id, etag: version.id, startup_time_ms: 5, deployment_id: version.id }
}

const boundOf = ({ vars, secrets, bindings }: Version | Worker) => ({ vars, secrets, bindings })

/** Returns the binding of the previous version that has the same name. */
function inherited({ name }: Binding, existing: Binding[]): Binding {
  const found = existing.find((binding) => binding.name === name)
  if (found) return found
  throw new ApiError(400, 10_057, `There is no binding ${name} to inherit.`)
}

/** Adds what Cloudflare adds to an uploaded binding. */
const complete = (script: string, binding: Binding) =>
  binding.type === 'durable_object_namespace'
    ? { ...binding, namespace_id: `${script}_${binding.class_name}` }
    : binding

/** Returns all bindings, with the values of secrets. */
const allBindings = ({ vars, secrets, bindings }: Pick<Worker, 'vars' | 'secrets' | 'bindings'>): Binding[] => [
  ...Object.entries(vars).map(([name, text]) => ({ type: 'plain_text', name, text })),
  ...Object.entries(secrets).map(([name, text]) => ({ type: 'secret_text', name, text })),
  ...bindings,
]

/** Returns all bindings as Cloudflare responds with them, without the values of secrets. */
const bindingsOf = (worker: Pick<Worker, 'vars' | 'secrets' | 'bindings'>) =>
  allBindings(worker).map(({ text, ...binding }) => (binding.type === 'plain_text' ? { ...binding, text } : binding))

function versionOf(call: Call, id = call.words[1]): Version {
  const version = workerOf(call).versions.find((candidate) => candidate.id === id)
  if (version) return version
  throw new ApiError(404, 10_007, `There is no version ${id}.`)
}

function describeVersion(version: Version) {
  const created_on = new Date(0).toISOString()
  return {
    id: version.id,
    metadata: { created_on, source: 'wrangler', author_email: 'a@example.com' },
    resources: { bindings: bindingsOf(version), script_runtime: { containers: version.containers } },
  }
}

/** Makes an uploaded version serve again, as a rollback does. Its bindings and its class migration must still be those of the Worker. */
function serveVersion(call: Call): unknown {
  const worker = workerOf(call)
  const version = versionOf(call, call.body.versions[0]?.version_id)
  // Cloudflare documents the rule (Workers, Rollbacks), but not the code.
  if (version.migration_tag !== worker.migration_tag)
    throw new ApiError(400, 0, 'A Durable Object class lifecycle change has occurred since this version.')
  Object.assign(worker, boundOf(version))
  worker.served.push(version.id)
  return { id: version.id }
}

/** Changes a secret by serving a new version, as Cloudflare does. */
function changeSecret(call: Call, name: string, text?: string): unknown {
  const worker = workerOf(call)
  const { [name]: _, ...others } = worker.secrets
  const secrets = text === undefined ? others : { ...others, [name]: text }
  const { containers } = worker.versions.at(-1) ?? { containers: undefined }
  const { migration_tag } = worker
  const version: Version = { ...boundOf(worker), secrets, id: randomUUID(), containers, migration_tag }
  Object.assign(worker, boundOf(version))
  worker.versions.push(version)
  worker.served.push(version.id)
  return { name, type: 'secret_text' }
}

const describeDeployment = (version_id: string) => ({
  id: version_id,
  source: 'wrangler',
  strategy: 'percentage',
  author_email: 'a@example.com',
  created_on: new Date(0).toISOString(),
  versions: [{ version_id, percentage: 100 }],
})

const SUBDOMAIN = { enabled: true, previews_enabled: true }

export const workers: Routes = {
  'GET /workers/scripts/:name/settings': (call) => ({ bindings: bindingsOf(workerOf(call)) }),
  'GET /workers/services/:name': ({ account, words: [id] }) => {
    const { migration_tag } = lookUp(account.workers, id, 10_090)
    const script = { id, tag: 't', last_deployed_from: 'wrangler', migration_tag }
    return { id, default_environment: { environment: 'production', script } }
  },
  'GET /workers/durable_objects/namespaces': ({ account, query }) => {
    const [size, page] = ['per_page', 'page'].map((name) => Number(query.get(name)))
    const all = [...account.workers].flatMap(([script, { classes }]) =>
      classes.map((name) => ({ id: `${script}_${name}`, name: `${script}_${name}`, script, class: name })),
    )
    return all.slice(size! * (page! - 1), size! * page!)
  },
  'GET /workers/scripts/:name/secrets': (call) =>
    Object.keys(workerOf(call).secrets).map((name) => ({ name, type: 'secret_text' })),
  'PUT /workers/scripts/:name/secrets': (call) => changeSecret(call, call.body.name, call.body.text),
  'DELETE /workers/scripts/:name/secrets/:secret': (call) => changeSecret(call, call.words[1]!),
  'GET /workers/scripts/:name/versions': (call) => ({ items: workerOf(call).versions.map(describeVersion) }),
  'GET /workers/scripts/:name/deployments': (call) => ({
    deployments: workerOf(call).served.toReversed().map(describeDeployment),
  }),
  'POST /workers/scripts/:name/deployments': serveVersion,
  'GET /workers/scripts/:name/versions/:id': (call) => describeVersion(versionOf(call)),
  'POST /workers/scripts/:name/assets-upload-session': () => ({ jwt: 'none is missing', buckets: [] }),
  'PUT /workers/scripts/:name': putWorker,
  'DELETE /workers/scripts/:name': (call) => (workerOf(call), call.account.workers.delete(call.words[0]!), {}),
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
    const application = applicationOf(call)
    Object.assign(application.configuration, call.body.target_configuration)
    application.rollout_steps = call.body.steps.map(({ step_size }) => step_size.percentage)
    return { id: 'r1' }
  },
  'DELETE /containers/applications/:name': (call) => (
    applicationOf(call),
    call.account.containers.delete(call.words[0]!),
    {}
  ),
}
