import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import {
  type Account,
  type AccountState,
  ApiError,
  callApi,
  findResource,
  type MediaDomain,
  Refusal,
} from './account.ts'
import { putRule, readRules, rulesOf, tokenRule, withToken } from './media_rules.ts'
import type { Plan } from './plan.ts'
import { expect } from './report_check.ts'
import { findZone } from './zone.ts'

/**
 * Gives the bucket a domain of its own whose files only open with a token (docs/decisions/0088). A bucket with a domain is public until a rule guards it.
 * Therefore the rule is made and proven first, on a record that leads nowhere.
 */

/** Plans that have `is_timed_hmac_valid_v0` (Ruleset Engine, Functions, HMAC validation). */
const PLANS = ['pro', 'business', 'enterprise']
/** Returns the milliseconds within which the rule and the domain must work. A new certificate takes minutes. */
const patience = () => Number(process.env.MEDIA_PATIENCE || 300) * 1000
/** Lifetime in seconds of the tokens that test the rule. It allows for a wrong clock of this machine. */
const TOKEN_LIFE = 900
const pause = () => sleep(Math.min(1000, patience() / 10))
const DETACH_ATTEMPTS = 5
/** The address of a record that leads nowhere: the discard prefix (RFC 6666). */
const NOWHERE = '100::'

interface CustomDomain {
  domain: string
  enabled: boolean
  zoneId: string
}

interface DnsRecord {
  id: string
  name: string
  type: string
  content: string
}

const domainsOf = (plan: Plan, id: string) => `/accounts/${id}/r2/buckets/${plan.bucket}/domains`

/** Checks whether the zone can guard the domain. Changes nothing. */
export async function checkMediaDomain(plan: Plan, { id, token }: Account): Promise<MediaDomain> {
  const domain = plan.mediaDomain!
  expect(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.){2,}[a-z]{2,}$/.test(domain), `${domain} is no name below a zone`)
  expect(domain !== plan.domain, 'needs a name of its own: the service has this one')
  const zone = await findZone(token, id, domain)
  expect(
    PLANS.includes(zone.plan?.legacy_id ?? ''),
    `the zone ${zone.name} has the plan ${zone.plan?.name ?? 'unknown'}, whose rules cannot check tokens: it needs Pro or above. MEDIA_DELIVERY=r2 works with every plan`,
  )
  const known = await readRules(token, zone.id, domain)
  await callApi(token, 'DELETE', `/zones/${zone.id}/dns_records/${randomBytes(16).toString('hex')}`).catch(
    (error: unknown) => {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      if (error.status === 401 || error.status === 403) throw new Error('the token lacks "DNS: Edit"')
    },
  )
  const domains = domainsOf(plan, id)
  const managed = await findResource<{ enabled: boolean }>(token, `${domains}/managed`, plan.jurisdiction)
  expect(!managed?.enabled, 'the bucket is public at its r2.dev address: disable that in the settings of the bucket')
  const list = await findResource<{ domains: CustomDomain[] }>(token, `${domains}/custom`, plan.jurisdiction)
  const custom = list?.domains ?? []
  for (const other of custom)
    if (other.domain !== domain && other.enabled)
      expect(
        (await readRules(token, other.zoneId, other.domain)).length > 0,
        `the bucket is also public at ${other.domain}: remove that domain in the settings of the bucket`,
      )
  const attached = custom.find((one) => one.domain === domain)
  expect(attached?.enabled !== false, `${domain} is disabled in the settings of the bucket: enable or remove it there`)
  const records = await callApi<DnsRecord[]>(token, 'GET', `/zones/${zone.id}/dns_records?name=${domain}`)
  const isFree = records.every(({ content }) => content === NOWHERE)
  expect(attached || isFree, `${domain} has a DNS record already: delete it, or take another name`)
  const given = process.env.MEDIA_KEY
  expect(!given || /^\w{32,}$/.test(given), 'MEDIA_KEY must have at least 32 letters and digits')
  // A new key is used at once. The previous ones stay valid for the URLs that they have signed, and for the Worker until it is deployed.
  const keys = [...new Set([...(given ? [given] : []), ...known])]
  return {
    domain,
    zone_id: zone.id,
    keys: keys.length > 0 ? keys : [randomBytes(32).toString('hex')],
    url: process.env.MEDIA_BASE_URL || `https://${domain}`,
    isAttached: Boolean(attached),
  }
}

/**
 * Makes the rules, proves them, and attaches the domain. Detaches it at once if it answers a request without a token. A domain that was attached before stays
 * if it does not answer at all, because the reason may be the network of this machine.
 */
export async function attachMediaDomain(plan: Plan, { id, token }: Account, media: MediaDomain): Promise<void> {
  const { domain, zone_id, keys, isAttached } = media
  for (const rule of rulesOf(domain, keys)) {
    await putRule(token, zone_id, rule)
    console.log(`ok      rule "${rule.definition.description}"`)
  }
  const path = `${domainsOf(plan, id)}/custom`
  if (!isAttached) {
    await proveRule(token, media)
    console.log(`ok      ${domain} refuses requests without a token, before it leads anywhere`)
    const body = { domain, zoneId: zone_id, enabled: true, minTLS: '1.2' }
    await callApi(token, 'POST', path, body, plan.jurisdiction)
  }
  const { isOpen, fault } = await watchDomain(media)
  if (fault && isAttached && !isOpen) throw new Refusal(`${fault} The domain was not detached. Run this again.`)
  if (fault) {
    await detach(() => callApi(token, 'DELETE', `${path}/${domain}`, undefined, plan.jurisdiction), media)
    const back = 'If the Worker uses the domain already: npm run deploy -- --var MEDIA_DELIVERY:r2'
    throw new Refusal(`${fault} The domain was detached from the bucket. ${back}`)
  }
  console.log(`ok      ${domain} serves files of the bucket, and only with a token`)
}

/** Detaches the domain. After several errors, throws what to do by hand. */
async function detach(attempt: () => Promise<unknown>, { domain }: MediaDomain): Promise<void> {
  let reason = ''
  for (let i = 0; i < DETACH_ATTEMPTS; i++, await pause()) {
    const error = await attempt().then(
      () => null,
      (error: unknown) => error as Error,
    )
    if (!error || (error instanceof ApiError && error.status === 404)) return
    reason = error.message
  }
  throw new Refusal(
    `ANYONE MAY READ THE BUCKET at ${domain}, and it cannot be detached: ${reason}. Remove it now in the dashboard: R2, the bucket, Settings, Custom Domains.`,
  )
}

/** Ends the validity of previous keys, unless this deployment has brought a new one. Must run after the Worker was deployed, which signs with the first. */
export async function retireKeys(token: string, { domain, zone_id, keys }: MediaDomain): Promise<void> {
  if (process.env.MEDIA_KEY || keys.length < 2) return
  await putRule(token, zone_id, tokenRule(domain, keys.slice(0, 1)))
  console.log('ok      the previous key of the media domain opens nothing')
}

/** Returns the status of a response; null without one. */
async function statusOf(url: string): Promise<number | null> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(10_000) }).catch(() => null)
  await response?.body?.cancel()
  return response?.status ?? null
}

/** Requests a file that does not exist, without and with a token. */
async function probe({ url, keys: [key = ''] }: MediaDomain) {
  const file = `${url}/media/${randomUUID()}`
  return { unsigned: await statusOf(file), signed: await statusOf(withToken(file, key, TOKEN_LIFE)) }
}

/** Repeats a function until it returns something or the time is up. */
async function patiently<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const deadline = Date.now() + patience(); ; await pause()) {
    const result = await attempt()
    if (result !== undefined || Date.now() > deadline) return result
  }
}

/** Throws unless the rule blocks requests without a token, and only those, on a record that leads nowhere. The record is deleted in any case. */
async function proveRule(token: string, media: MediaDomain): Promise<void> {
  const records = `/zones/${media.zone_id}/dns_records`
  const left = await callApi<DnsRecord[]>(token, 'GET', `${records}?name=${media.domain}`)
  const comment = 'Tonearm tests its rule with this record and deletes it'
  const body = { type: 'AAAA', name: media.domain, content: NOWHERE, proxied: true, ttl: 1, comment }
  const record = left[0] ?? (await callApi<DnsRecord>(token, 'POST', records, body))
  let last: Awaited<ReturnType<typeof probe>> | undefined
  const isProven = await patiently(async () => {
    last = await probe(media)
    return (last.unsigned === 403 && last.signed !== null && last.signed !== 403) || undefined
  })
  await callApi(token, 'DELETE', `${records}/${record.id}`)
  if (isProven) return
  const found = `without a token ${last?.unsigned ?? 'no answer'}, with one ${last?.signed ?? 'no answer'}`
  throw new Refusal(
    `The rule does not work at ${media.domain}: ${found}; expected 403, and any other status. Nothing was attached. Look at the other rules of the zone, and run this again.`,
  )
}

/** Statuses of Cloudflare for a domain that is not ready yet. A response of the bucket has another one. */
const isPending = (status: number | null) => status === null || status === 409 || status === 429 || status >= 500

/** Waits until the domain serves the bucket. Returns what is wrong, if anything, and whether the domain answers without a token. */
async function watchDomain(media: MediaDomain): Promise<{ isOpen: boolean; fault?: string }> {
  let last: Awaited<ReturnType<typeof probe>> | undefined
  const outcome = await patiently(async () => {
    last = await probe(media)
    const { unsigned, signed } = last
    if (unsigned !== 403)
      return isPending(unsigned) ? undefined : `${media.domain} answers ${unsigned} without a token.`
    return signed === 403 || isPending(signed) ? undefined : 'guarded'
  })
  if (outcome === 'guarded') return { isOpen: false }
  if (outcome) return { isOpen: true, fault: outcome }
  return {
    isOpen: false,
    fault: `${media.domain} does not serve the bucket: ${last?.signed ?? 'no answer'} with a token.`,
  }
}

/** Throws if the deployment would deliver from a domain that was never set up. */
export function requireMedia(plan: Plan, { bindings, media }: AccountState): void {
  const isSecret = (name: string) => bindings?.some((binding) => binding.name === name)
  if (plan.vars.MEDIA_DELIVERY !== 'zone' || media || (isSecret('MEDIA_BASE_URL') && isSecret('MEDIA_KEY'))) return
  throw new Error('MEDIA_DELIVERY is zone, but the bucket has no domain: give it one with --media-domain')
}
