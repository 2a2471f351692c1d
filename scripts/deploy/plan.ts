import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { unstable_readConfig as readConfig } from 'wrangler'

import { ADDRESSES, PLACES, root } from '../shared/settings.ts'
import { Refusal } from './account.ts'

/** A migration of the classes of Durable Objects. */
export interface ClassMigration {
  tag: string
  new_classes?: string[]
  new_sqlite_classes?: string[]
  renamed_classes?: { from: string; to: string }[]
  deleted_classes?: string[]
}

/** The settings of a deployment, from the arguments, the environment and wrangler.toml. */
export interface Plan {
  /** Path of wrangler's configuration. */
  config: string
  account_id: string | undefined
  name: string
  bucket: string
  /** Where bucket, database and objects of listening must stay, from `jurisdiction` of the bucket. */
  jurisdiction: string | undefined
  /** The jurisdiction of the containers. */
  containerJurisdiction: string | undefined
  /** Where bucket and database are created. Cloudflare ignores it if there is a jurisdiction. */
  location: string | undefined
  database: string
  /** Directory of the migrations. */
  migrations: string
  /** `[[migrations]]` of wrangler.toml, the oldest first. */
  classMigrations: ClassMigration[]
  /** Names of the queues. The first queue receives R2's events. */
  queues: string[]
  /** Path of a Dockerfile, or name of an image in a registry. */
  image: string
  /** Maximum number of containers: one more than the Worker uses, so that a new one can start while an old one finishes its jobs. */
  max_instances: number
  secrets: string[]
  /** Values of `[vars]` in wrangler.toml, and of the addresses. An empty address keeps the value of the last deployment. */
  vars: Record<string, string>
  /** Names of variables that the command line sets to an empty value, which replaces the Worker's value. */
  cleared: string[]
  domain: string | undefined
  /** The domain from which listeners get files. */
  mediaDomain: string | undefined
  /** Whether the command line sets MEDIA_DELIVERY. */
  setsDelivery: boolean
  leavesContainer: boolean
  skipsDoctor: boolean
  /** Whether nothing is created in the deployed service, so that a backup can be restored into it. */
  isEmpty: boolean
  isDry: boolean
}

const OPTIONS = {
  config: { type: 'string', default: 'wrangler.toml' },
  domain: { type: 'string' },
  'media-domain': { type: 'string' },
  location: { type: 'string' },
  image: { type: 'string' },
  var: { type: 'string', multiple: true },
  'containers-rollout': { type: 'string' },
  'skip-doctor': { type: 'boolean', default: false },
  empty: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
} as const

const USAGE = `npm run deploy [-- OPTIONS]      docs/deploy.md
  --dry-run                    looks at the account, changes nothing
  --domain audio.example.com   a custom domain, of a zone in the account
  --media-domain media.example.com
                               a cached domain for files, of a zone with the Pro plan or above (docs/media.md)
  --location weur              where bucket, database and listening are created: wnam, enam, weur, eeur, apac or oc
  --config wrangler.staging.toml
  --image docker.io/NAME/tonearm-transcoder:VERSION
  --var NAME:VALUE             one of [vars], PUBLIC_BASE_URL, S3_ENDPOINT or TRANSCODER_URL
  --containers-rollout none    leaves the container as it is
  --skip-doctor                does not test the deployed service
  --empty                      creates no organization and skips the doctor, so that a backup can be restored`

/** The location hints that both D1 and R2 accept. */
export const LOCATIONS = ['wnam', 'enam', 'weur', 'eeur', 'apac', 'oc']

/** The role of a queue is the last word of its name (src/background/consume.ts). */
const ROLES = ['ingest', 'transcode', 'task', 'webhook', 'dead']

export function readPlan(): Plan {
  const {
    config,
    domain,
    'media-domain': mediaDomain,
    location,
    image,
    var: overrides = [],
    'containers-rollout': rollout,
    'skip-doctor': skipsDoctor,
    empty: isEmpty,
    'dry-run': isDry,
  } = readArguments()
  if (rollout !== undefined && rollout !== 'none')
    throw new Refusal(`--containers-rollout may only be none\n\n${USAGE}`)
  if (location !== undefined && !LOCATIONS.includes(location))
    throw new Refusal(`--location may be ${LOCATIONS.join(', ')}\n\n${USAGE}`)
  const path = resolve(root, config)
  const wranglerConfig = readConfig({ config: path }, { hideWarnings: true })
  const [bucket] = wranglerConfig.r2_buckets
  const [database] = wranglerConfig.d1_databases
  const queues: string[] = (wranglerConfig.queues.consumers ?? []).map(({ queue }: { queue: string }) => queue)
  const queueSuffixes = queues.map((queue) => queue.split('-').at(-1) ?? '')
  if (queueSuffixes.toString() !== ROLES.toString())
    throw new Refusal(`${config}: the queues of [[queues.consumers]] must end, in this order, in -${ROLES.join(', -')}`)
  const vars: Record<string, string> = {
    ...Object.fromEntries(ADDRESSES.map((name) => [name, ''])),
    ...(wranglerConfig.vars as Record<string, string>),
    S3_BUCKET: bucket?.bucket_name ?? '',
  }
  for (const name of ADDRESSES) if (process.env[name]) vars[name] = process.env[name]
  for (const override of overrides) {
    const [, name = '', value = ''] = /^(\w+):(.*)$/s.exec(override) ?? []
    if (!(name in vars))
      throw new Refusal(`--var ${override}: NAME:VALUE, with a name of [vars] in ${config}, ${ADDRESSES.join(', ')}`)
    vars[name] = value
  }
  const [container] = wranglerConfig.containers ?? []
  const expected = maxInstances(wranglerConfig.vars.TRANSCODER_INSTANCES)
  if (container?.max_instances !== expected)
    throw new Refusal(`${config}: max_instances of [[containers]] must be ${expected}, TRANSCODER_INSTANCES plus one`)
  const published = image ?? process.env.TRANSCODER_IMAGE
  if (published && !isPublished(published) && !existsSync(resolve(dirname(path), published)))
    throw new Refusal(
      `--image ${published} is neither a file nor an image with its registry, such as docker.io/NAME/tonearm-transcoder:VERSION`,
    )
  if (domain) vars.PUBLIC_BASE_URL = `https://${domain}`
  const setsDelivery = mediaDomain !== undefined || overrides.some((override) => override.startsWith('MEDIA_DELIVERY:'))
  if (mediaDomain !== undefined) vars.MEDIA_DELIVERY = 'zone'
  if (!/^(r2|zone)$/.test(vars.MEDIA_DELIVERY ?? ''))
    throw new Refusal(`MEDIA_DELIVERY may be r2 or zone, not ${vars.MEDIA_DELIVERY}`)
  return {
    config: path,
    account_id: wranglerConfig.account_id,
    name: wranglerConfig.name ?? '',
    bucket: bucket?.bucket_name ?? '',
    jurisdiction: bucket?.jurisdiction,
    containerJurisdiction: container.constraints?.jurisdiction,
    location,
    database: database?.database_name ?? '',
    migrations: join(dirname(path), database?.migrations_dir ?? ''),
    classMigrations: wranglerConfig.migrations,
    queues,
    image: published ?? container.image ?? '',
    max_instances: maxInstances(vars.TRANSCODER_INSTANCES),
    secrets: (wranglerConfig.secrets?.required ?? []).filter(
      (name: string) => ![...ADDRESSES, ...PLACES].includes(name),
    ),
    vars,
    cleared: overrides.filter((override) => override.endsWith(':')).map((override) => override.slice(0, -1)),
    domain,
    mediaDomain,
    setsDelivery,
    leavesContainer: rollout === 'none',
    skipsDoctor: skipsDoctor || isEmpty,
    isEmpty,
    isDry,
  }
}

function maxInstances(setting: unknown): number {
  const instances = Number(setting || 1)
  if (Number.isInteger(instances) && instances > 0) return instances + 1
  throw new Refusal(`TRANSCODER_INSTANCES must be a positive whole number, not ${String(setting)}`)
}

function readArguments() {
  try {
    return parseArgs({ options: OPTIONS }).values
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

/** Whether an image is in a registry, and not a Dockerfile. */
const isPublished = (image: string) => /^[\w.-]+\.[a-z]+\//.test(image)

/** Whether wrangler builds the image on this machine, with Docker. */
export const isBuiltHere = ({ image }: Plan) => !isPublished(image)
