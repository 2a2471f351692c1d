import { createHash, randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'

import type { Ruleset } from './rulesets.ts'

/** The contents and permissions of a simulated account. Tests read and change them. */
export interface Account {
  id: string
  token: string
  /** The keys of R2, which are derived from the API token. */
  pair: { R2_ACCESS_KEY_ID: string; R2_SECRET_ACCESS_KEY: string }
  buckets: Map<string, Bucket>
  queues: Map<string, Queue>
  databases: Map<string, Database>
  /** Uploaded imports and prepared exports, by the last part of their URL. */
  files: Map<string, string>
  workers: Map<string, Worker>
  containers: Map<string, Application>
  /** Maps each domain to its Worker. */
  domains: Map<string, string>
  /** The DNS records of the zone, by id. */
  records: Map<string, DnsRecord>
  /** The rules of the zone, by the id of their ruleset. */
  rulesets: Map<string, Ruleset>
  /** Whether the service reports existing organizations. */
  hasOrganization: boolean
  /** Path at which the service responds with 500. */
  brokenPath: string
  rules: Rules
}

export interface Bucket {
  location: string | undefined
  jurisdiction: string | null
  cors: unknown
  rules: { queueId: string; rules: unknown[] }[]
  /** Domains at which the bucket is public. */
  domains: Set<string>
  /** Whether the bucket is public at its r2.dev address. */
  isPublic: boolean
}

export interface DnsRecord {
  id: string
  name: string
  type: string
  content: string
}

export interface Database {
  uuid: string
  sql: DatabaseSync
  jurisdiction: string | null
  location: string | undefined
  /** Whether D1 keeps copies for reading near the callers. */
  replication: 'auto' | 'disabled'
}

export interface Queue {
  queue_id: string
  consumer: string | null
  /** Whether the delivery of messages is paused. */
  isPaused?: boolean
}

/** The bindings of a deployed Worker, and its versions. */
export interface Worker extends Bound {
  /** All uploads, the oldest first. */
  versions: Version[]
  /** Ids of the versions in the order in which they served. A rollback adds an earlier one again. */
  served: string[]
  /** The last class migration. */
  migration_tag?: string | undefined
  /** The classes that have a namespace, and so may have objects. */
  classes: string[]
}

interface Bound {
  vars: Record<string, string>
  secrets: Record<string, string>
  /** All other bindings, as Cloudflare returns them. */
  bindings: Binding[]
}

export interface Version extends Bound {
  id: string
  /** Which classes run in containers. */
  containers: unknown
  /** The last class migration when it was uploaded. */
  migration_tag: string | undefined
}

export interface Binding {
  type: string
  name: string
  text?: string
  queue_name?: string
  bucket_name?: string
  class_name?: string
  /** The id of a D1 database. */
  id?: string
}

export interface Application {
  id: string
  name: string
  version: number
  max_instances: number
  configuration: { image: string }
  /** The percentages of the last rollout. */
  rollout_steps?: number[]
}

export type Permission = 'workers' | 'r2' | 'd1' | 'queues' | 'containers' | 'zones' | 'dns' | 'rulesets'

interface Rules {
  permissions: Set<Permission>
  hasR2: boolean
  isPaid: boolean
  hasSubdomain: boolean
  /** The plan of the zone. */
  zonePlan: 'free' | 'pro'
  /** When the edge does not apply the rules of the zone: never, always, or once the bucket has the domain. */
  unguarded: 'never' | 'always' | 'attached'
  /** Whether every expression of a rule is rejected. */
  refusesExpressions: boolean
  /** Whether domains of a bucket cannot be detached. */
  keepsDomains: boolean
  /** The number of queries that create a trigger and are refused, which D1 does occasionally. Imports with triggers are accepted. */
  refusedTriggers: number
  refusesImports: boolean
  hasReplication: boolean
  /** The number of Worker uploads that will be refused. */
  failedUploads: number
}

/** Deletes the contents of an account and restores its permissions. */
export function reset(account: Account): void {
  for (const held of Object.values(account)) if (held instanceof Map) held.clear()
  account.hasOrganization = false
  account.brokenPath = ''
  account.rules = {
    permissions: new Set<Permission>(['workers', 'r2', 'd1', 'queues', 'containers', 'zones', 'dns', 'rulesets']),
    hasR2: true,
    isPaid: true,
    hasSubdomain: true,
    zonePlan: 'pro',
    unguarded: 'never',
    refusesExpressions: false,
    keepsDomains: false,
    refusedTriggers: 0,
    refusesImports: false,
    hasReplication: true,
    failedUploads: 0,
  }
}

export function openAccount(): Account {
  const token = randomBytes(20).toString('hex')
  const pair = {
    R2_ACCESS_KEY_ID: randomBytes(16).toString('hex'),
    R2_SECRET_ACCESS_KEY: createHash('sha256').update(token).digest('hex'),
  }
  const maps = [
    'buckets',
    'queues',
    'databases',
    'files',
    'workers',
    'containers',
    'domains',
    'records',
    'rulesets',
  ].map((name) => [name, new Map()])
  const account = { id: randomBytes(16).toString('hex'), token, pair, ...Object.fromEntries(maps) } as Account
  reset(account)
  return account
}

/** An API error in Cloudflare's format. */
export class ApiError extends Error {
  readonly status: number
  readonly code: number
  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** One call to the API: the variable segments of its path, its query and its body. */
export interface Call {
  words: string[]
  query: URLSearchParams
  /** The jurisdiction in which R2 looks for the bucket. */
  jurisdiction: string | null
  body: Body
  form: () => Promise<FormData>
  account: Account
  /** The base URL of the simulation. */
  url: string
}

/** The fields of all request bodies. Each call has some of them. */
interface Body {
  name: string
  queue_name: string
  script_name: string
  sql: string
  /** The value of a secret. */
  text: string
  settings: { delivery_paused: boolean }
  action: string
  etag: string
  rules: unknown[]
  origins: { hostname: string }[]
  configuration: { image: string }
  target_configuration: object
  steps: { step_size: { percentage: number } }[]
  max_instances: number
  locationHint?: string
  primary_location_hint?: string
  jurisdiction?: string
  read_replication: { mode: 'auto' | 'disabled' }
  versions: { version_id: string }[]
  /** Type and content are fields of DNS records. */
  type: string
  content: string
  /** Phase and position are fields of rulesets and their rules. */
  phase: string
  position?: { index: number }
  /** A custom domain of a bucket. */
  domain: string
}

/** Handlers by `METHOD /path/:word`. */
export type Routes = Record<string, (call: Call) => unknown>

export const lookUp = <T>(map: Map<string, T>, name: string | undefined, code: number): T => {
  const found = map.get(name ?? '')
  if (found === undefined) throw new ApiError(404, code, `${name} does not exist.`)
  return found
}
