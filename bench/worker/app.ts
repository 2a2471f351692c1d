import { randomBytes } from 'node:crypto'

import { unstable_readConfig } from 'wrangler'

import type { Bundle } from './bundle.ts'
import { type Config, file, socket, startWorkerd, type Value } from './workerd.ts'

/** The Worker with the bindings from wrangler.toml. Each binding is served by another process. */

export type Addresses = {
  d1: string
  r2: string
  /** Address of the server that receives the messages of all queues. */
  queue: string
  transcoder: string
}

/** The parts of wrangler.toml that the bench reads. The types that wrangler exports need packages that are not installed. */
type Settings = {
  compatibility_date: string
  compatibility_flags: string[]
  vars: Record<string, string>
  secrets: { required: string[] }
  d1_databases: { binding: string }[]
  r2_buckets: { binding: string }[]
  queues: { producers: { binding: string; queue: string }[] }
  durable_objects: { bindings: { name: string; class_name: string }[] }
  ratelimits: { name: string }[]
  assets?: { binding?: string }
  containers: { instance_type: { vcpu: number; memory_mib: number; disk_mb: number } }[]
}

export const config: Settings = unstable_readConfig({ config: 'wrangler.toml' }, { hideWarnings: true })

/** This address has the same length as a real endpoint. */
const S3_ENDPOINT = 'https://0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com'
export const S3_BUCKET = config.vars.S3_BUCKET!
const secrets = Object.fromEntries(config.secrets.required.map((name) => [name, randomBytes(24).toString('hex')]))
export const ROOT_KEY = secrets.ROOT_KEY ?? ''

/**
 * A rate limiter that allows every request. In production, Cloudflare decides in the Worker's process, but the simulator would add a
 * request to another process.
 */
const RATE_LIMIT = 'export default () => ({ limit: () => Promise.resolve({ success: true }) })'

const service = (name: string, url: string, headers: Value[] = []): Value => ({
  name,
  external: { address: url.replace('http://', ''), http: { injectRequestHeaders: headers } },
})

const modules = (bundle: Bundle): Value => Object.keys(bundle).map((name) => ({ name, esModule: file(name) }))

/**
 * Returns workerd's configuration of the Worker as one service. The binding of each queue leads to the service `queue:{queue}`. Its Durable Objects have SQL
 * only if `objects` are on a disk.
 */
function worker(bundle: Bundle, { transcoder }: Addresses, objects: Value = { inMemory: null }): Value {
  const places = { JURISDICTION: '', LOCATION_HINT: '' }
  const addresses = { PUBLIC_BASE_URL: '', S3_ENDPOINT, TRANSCODER_URL: transcoder, ...places }
  const texts = { ...config.vars, ...secrets, ...addresses, WEBHOOK_LOCAL: 'true' }
  const bindings: Value[] = [
    ...Object.entries(texts).map(([name, text]) => ({ name, text })),
    ...config.d1_databases.map(({ binding }) => ({
      name: binding,
      wrapped: { moduleName: 'cloudflare-internal:d1-api', innerBindings: [{ name: 'fetcher', service: 'd1' }] },
    })),
    ...config.r2_buckets.map(({ binding }) => ({ name: binding, r2Bucket: 'r2' })),
    ...config.queues.producers.map(({ binding, queue }) => ({ name: binding, queue: `queue:${queue}` })),
    ...config.durable_objects.bindings.map(({ name, class_name }) => ({ name, durableObjectNamespace: class_name })),
    ...config.ratelimits.map(({ name }) => ({ name, wrapped: { moduleName: 'bench:rate-limit' } })),
    ...(config.assets?.binding ? [{ name: config.assets.binding, service: 'internet' }] : []),
  ]
  return {
    modules: modules(bundle),
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags,
    bindings,
    durableObjectNamespaces: config.durable_objects.bindings.map(({ class_name }) => ({
      className: class_name,
      uniqueKey: class_name,
      enableSql: true,
    })),
    durableObjectStorage: objects,
    globalOutbound: 'internet',
  }
}

const peers = ({ d1, r2, queue }: Addresses): Value[] => [
  service('d1', d1),
  service('r2', r2),
  ...config.queues.producers.map((producer) =>
    service(`queue:${producer.queue}`, queue, [{ name: 'queue', value: producer.queue }]),
  ),
  // The Worker can only reach local addresses, such as the fake transcoder.
  { name: 'internet', network: { allow: ['local'] } },
]

const extensions: Value[] = [{ modules: [{ name: 'bench:rate-limit', internal: true, esModule: RATE_LIMIT }] }]

/** Starts `isolates` copies of the Worker in one process, each with a socket: `0`, `1`, … They do not share Durable Objects. */
export function startApp(bundle: Bundle, addresses: Addresses, isolates = 1) {
  const names = Array.from({ length: isolates }, (_, at) => String(at))
  const objects = names.map((name) => `objects-${name}`)
  const services = names.flatMap((name, at): Value[] => [
    { name, worker: worker(bundle, addresses, { localDisk: objects[at]! }) },
    { name: objects[at]!, disk: { path: objects[at]!, writable: true } },
  ])
  const setting: Config = {
    services: [...services, ...peers(addresses)],
    sockets: names.map((name) => socket(name)),
    extensions,
  }
  return startWorkerd(setting, bundle, objects)
}

/** Starts the Worker with Durable Objects that are stored in a directory, and with a heap of at most so many megabytes. */
export function startStored(bundle: Bundle, addresses: Addresses, directory: string, heap: number) {
  const setting: Config = {
    services: [
      { name: '0', worker: worker(bundle, addresses, { localDisk: 'objects' }) },
      { name: 'objects', disk: { path: directory, writable: true } },
      ...peers(addresses),
    ],
    sockets: [socket('0')],
    extensions,
    v8Flags: [`--max-old-space-size=${heap}`],
  }
  return startWorkerd(setting, bundle)
}

/** Starts a Worker without bindings, in `isolates` copies. */
export function startPlain(bundle: Bundle, isolates = 1) {
  const names = Array.from({ length: isolates }, (_, at) => String(at))
  const services = names.map((name): Value => ({
    name,
    worker: { modules: modules(bundle), compatibilityDate: config.compatibility_date },
  }))
  return startWorkerd({ services, sockets: names.map((name) => socket(name)) }, bundle)
}

/**
 * Starts the Worker with the clock of `clock.ts` on the socket `0`, and the driver on the socket `driver`. Operations on the driver's
 * bucket are not counted.
 */
export function startCounted(bundle: Bundle, driver: Bundle, addresses: Addresses, r2: string) {
  const setting: Config = {
    services: [
      { name: '0', worker: worker(bundle, addresses) },
      ...peers(addresses),
      service('unmetered-r2', r2),
      {
        name: 'driver',
        worker: {
          modules: modules(driver),
          compatibilityDate: config.compatibility_date,
          compatibilityFlags: ['service_binding_extra_handlers', 'experimental'],
          bindings: [
            { name: 'APP', service: '0' },
            { name: 'MEDIA', r2Bucket: 'unmetered-r2' },
          ],
        },
      },
    ],
    sockets: [socket('0'), socket('driver')],
    extensions,
  }
  return startWorkerd(setting, { ...bundle, ...driver })
}
