import { randomBytes, randomUUID } from 'node:crypto'

import {
  type Account,
  ApiError,
  type Binding,
  type Bucket,
  callApi,
  findResource,
  type AccountState,
  Refusal,
} from './account.ts'
import { checkClasses } from './classes.ts'
import { checkDatabase } from './database.ts'
import { checkMediaDomain, requireMedia } from './media_domain.ts'
import { checkPlace } from './place.ts'
import { isBuiltHere, type Plan } from './plan.ts'
import { check, countFailures, expect } from './report_check.ts'
import { readKeyPair } from './secrets.ts'
import { capture } from './wrangler.ts'
import { findZone } from './zone.ts'

/** Checks all requirements of a deployment without changing anything. Throws when a requirement is not met. */
export async function preflight(plan: Plan, account: Account): Promise<AccountState> {
  const found: AccountState = {
    bucket: null,
    queues: {},
    database: null,
    bindings: null,
    url: '',
    domain: plan.domain,
    media: null,
    pair: {},
    addsClasses: false,
    newer: null,
  }
  const before = countFailures()
  const isFine = () => countFailures() === before
  await checkRights(plan, account)
  if (isFine()) await checkNames(plan, account, found)
  if (!plan.leavesContainer && !plan.vars.TRANSCODER_URL) await checkImage(plan)
  if (isFine()) await checkAddress(plan, account, found)
  if (isFine()) await checkDelivery(plan, account, found)
  if (isFine())
    await check('keys of the bucket', 'docs/deploy.md#the-keys-of-the-bucket', async () => {
      found.pair = await readKeyPair(plan, account, found)
      return [Object.keys(found.pair).length > 0 ? 'to be set' : 'are set', true]
    })
  if (!isFine()) throw new Refusal('Nothing was changed.')
  return found
}

const RIGHTS: [name: string, permission: string, path: () => string][] = [
  ['Workers', 'Workers Scripts: Edit', () => `/workers/scripts/tonearm-${randomBytes(16).toString('hex')}`],
  ['R2', 'Workers R2 Storage: Edit', () => `/r2/buckets/tonearm-${randomBytes(16).toString('hex')}`],
  ['D1', 'D1: Edit', () => `/d1/database/${randomUUID()}`],
  ['Queues', 'Queues: Edit', () => `/queues/${randomBytes(16).toString('hex')}`],
  ['Containers', 'Containers: Edit', () => `/containers/applications/${randomUUID()}`],
]

/**
 * Checks the permissions of the token by deleting resources with random names, which do not exist. Cloudflare responds with a permission
 * error only if the token lacks the permission.
 */
async function checkRights(plan: Plan, { id, token }: Account): Promise<void> {
  const planPage = `https://dash.cloudflare.com/${id}/workers/plans`
  const needed = RIGHTS.filter(([name]) => name !== 'Containers' || !(plan.leavesContainer || plan.vars.TRANSCODER_URL))
  for (const [name, permission, path] of needed) {
    const remedy =
      name === 'Containers'
        ? `switch on Workers Paid (${planPage}), and give the token the permission "${permission}"`
        : name === 'R2'
          ? `switch on R2 (https://dash.cloudflare.com/${id}/r2), and give the token the permission "${permission}"`
          : `give the token the permission "${permission}", or run npx wrangler login again`
    await check(name, remedy, async () => {
      await callApi(token, 'DELETE', `/accounts/${id}${path()}`).catch((error: unknown) => {
        const isRefused = error instanceof ApiError && (error.status === 401 || error.status === 403)
        if (isRefused || !(error instanceof ApiError) || error.status >= 500) throw error
      })
      return ['may be edited', true]
    })
  }
}

async function checkNames(plan: Plan, account: Account, found: AccountState): Promise<void> {
  const { id, token } = account
  const renameAdvice = (kind: string) =>
    `another ${kind} has this name: choose others in a file of your own (docs/operate.md#a-second-one)`
  await check(`bucket ${plan.bucket}`, renameAdvice('bucket'), async () => {
    found.bucket = await findResource<Bucket>(token, `/accounts/${id}/r2/buckets/${plan.bucket}`, plan.jurisdiction)
    return [state(found.bucket), true]
  })
  await check(`Worker ${plan.name}`, renameAdvice('Worker'), async () => {
    const path = `/accounts/${id}/workers/scripts/${plan.name}/settings`
    found.bindings = (await findResource<{ bindings: Binding[] }>(token, path))?.bindings ?? null
    expect(found.bindings?.some(({ name }) => name === 'TRANSCODE_QUEUE') ?? true, 'is not Tonearm')
    return [state(found.bindings), true]
  })
  await checkPlace(plan, found)
  await checkClasses(plan, account, found)
  for (const queue of plan.queues)
    await check(`queue ${queue}`, renameAdvice('queue'), async () => {
      const list = await callApi<Queue[]>(token, 'GET', `/accounts/${id}/queues?name=${queue}`)
      const existing = list.find(({ queue_name }) => queue_name === queue)
      const script = existing?.consumers?.map((consumer) => consumer.script ?? consumer.service).find(Boolean)
      expect(!script || script === plan.name, `is consumed by the Worker ${script}`)
      if (existing) found.queues[queue] = existing.queue_id
      return [state(existing), true]
    })
  await checkDatabase(plan, account, found, renameAdvice('database'))
}

interface Queue {
  queue_id: string
  queue_name: string
  consumers?: { script?: string; service?: string }[]
}

const state = (exists: unknown) => (exists ? 'exists' : 'will be created')

async function checkImage(plan: Plan): Promise<void> {
  if (isBuiltHere(plan)) {
    const published = 'or name a published image: npm run deploy -- --image docker.io/NAME/tonearm-transcoder:VERSION'
    return void (await check('Docker', `start Docker, ${published} (docs/deploy.md#without-docker)`, async () => {
      const { ok, output } = await capture(process.env.WRANGLER_DOCKER_BIN || 'docker', 'info')
      expect(ok, output.split('\n').at(-1) || 'does not answer')
      return ['builds the transcoder here', true]
    }))
  }
  await check(
    `image ${plan.image}`,
    'publish it first (docs/deploy.md#without-docker), or correct its name',
    async () => {
      const [, name, tag] = /^docker\.io\/([\w./-]+):([\w.-]+)$/.exec(plan.image) ?? []
      // Images in other registries cannot be checked, because only Cloudflare has the credentials.
      if (!name) return ['is used as it is', true]
      const hub = process.env.DOCKER_HUB_URL || 'https://hub.docker.com'
      const response = await fetch(`${hub}/v2/repositories/${name}/tags/${tag}`, {
        signal: AbortSignal.timeout(30_000),
      })
      await response.body?.cancel()
      expect(response.status !== 404, 'is not on Docker Hub')
      return [response.ok ? 'is published' : `cannot be looked up (${response.status})`, true]
    },
  )
}

/** Checks the domain of the files, if they are delivered from one. */
async function checkDelivery(plan: Plan, account: Account, found: AccountState): Promise<void> {
  const deployed = found.bindings?.find(({ name }) => name === 'MEDIA_DELIVERY')?.text
  // A deployment keeps the delivery of the last one, unless the command line names another.
  if (deployed === 'zone' && !plan.setsDelivery) plan.vars.MEDIA_DELIVERY = deployed
  if (!plan.mediaDomain && plan.vars.MEDIA_DELIVERY !== 'zone') return
  const remedy = 'docs/media.md lists what the zone and the token need'
  await check(`media domain ${plan.mediaDomain ?? ''}`.trim(), remedy, async () => {
    if (plan.mediaDomain) found.media = await checkMediaDomain(plan, account)
    requireMedia(plan, found)
    return [found.media ? (found.media.isAttached ? 'is attached' : 'will be attached') : 'stays', true]
  })
}

/** Determines the URL of the service: the custom domain, the URL of the last deployment, or a subdomain of workers.dev. */
async function checkAddress(plan: Plan, { id, token }: Account, found: AccountState): Promise<void> {
  const remedy = plan.domain
    ? 'add the domain to this account (dashboard, Add a site), and give the token "Zone: Read" and "Workers Routes: Edit"'
    : `open https://dash.cloudflare.com/${id}/workers once, which creates a workers.dev subdomain, or give --domain`
  await check('address', remedy, async () => {
    const path = `/accounts/${id}/workers/domains`
    const domains = await callApi<{ hostname: string; service: string }[]>(token, 'GET', path).catch(() => [])
    found.domain ??= domains.find(({ service }) => service === plan.name)?.hostname
    const owner = domains.find(({ hostname }) => hostname === plan.domain)?.service
    expect(!owner || owner === plan.name, `${plan.domain} belongs to the Worker ${owner}`)
    if (plan.domain && !owner) await requireZone(token, id, plan.domain)
    const deployed = found.bindings?.find(({ name }) => name === 'PUBLIC_BASE_URL')?.text
    found.url = plan.vars.PUBLIC_BASE_URL || deployed || (found.domain ? `https://${found.domain}` : '')
    if (!found.url) {
      const { subdomain } =
        (await findResource<{ subdomain: string }>(token, `/accounts/${id}/workers/subdomain`)) ?? {}
      expect(subdomain, 'the account has no workers.dev subdomain yet')
      found.url = `https://${plan.name}.${subdomain}.workers.dev`
    }
    return [found.url, true]
  })
}

/**
 * Throws unless a custom domain is in a zone of the account and has no DNS record. Wrangler would replace an existing record without
 * asking.
 */
async function requireZone(token: string, id: string, domain: string): Promise<void> {
  const zone = await findZone(token, id, domain)
  // The token may lack the permission to read DNS records.
  const records = await callApi<unknown[]>(token, 'GET', `/zones/${zone.id}/dns_records?name=${domain}`).catch(() => [])
  expect(records.length === 0, `${domain} has a DNS record already: delete it, or take another name`)
}
