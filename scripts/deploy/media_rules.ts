import { createHmac } from 'node:crypto'

import { PLAYBACK_TTL } from '../../src/contract/facts.ts'
import { ApiError, callApi, findResource, Refusal } from './account.ts'

/** The rules of a zone for the bucket's domain (docs/decisions/0088), and the tokens that the first of them accepts. */

const YEAR = 365 * 86_400
/** The separator in front of a token. */
const SEPARATOR = '&verify='

interface Rule {
  /** The phase of the Ruleset Engine (Ruleset Engine, Phases list). */
  phase: string
  /** The permission of an API token that may change rules of this phase. */
  permission: string
  /** Set for a rule that must be the first of its phase, so that no other rule can skip it. */
  position?: { index: number }
  definition: { description: string; expression: string; action: string; action_parameters?: object }
}

interface Ruleset {
  id: string
  rules?: { id: string; description?: string; expression: string }[]
}

const named = (domain: string, what: string) => `Tonearm: ${what} of ${domain}`

/**
 * Blocks every request to the domain without a valid token. The message is the URI as it was sent: in the normalized one, other spellings of a path would
 * pass. The host may have a port.
 */
export function tokenRule(domain: string, keys: string[]): Rule {
  const valid = keys.map(
    (key) =>
      `is_timed_hmac_valid_v0("${key}", raw.http.request.uri, ${PLAYBACK_TTL}, http.request.timestamp.sec, ${SEPARATOR.length}, "s")`,
  )
  const expression = `starts_with(lower(http.host), "${domain}") and not (${valid.join(' or ')})`
  return {
    phase: 'http_request_firewall_custom',
    permission: 'Zone WAF: Edit',
    position: { index: 1 },
    definition: { description: named(domain, 'tokens'), expression, action: 'block' },
  }
}

/** Caches files for a year and under their path alone, although R2 marks them as private (`FILE_CACHE_CONTROL`). Errors are not cached. */
const cacheRule = (domain: string): Rule => ({
  phase: 'http_request_cache_settings',
  permission: 'Cache Rules: Edit',
  definition: {
    description: named(domain, 'cache'),
    expression: `http.host eq "${domain}"`,
    action: 'set_cache_settings',
    action_parameters: {
      cache: true,
      edge_ttl: {
        mode: 'override_origin',
        default: YEAR,
        status_code_ttl: [{ status_code_range: { from: 300 }, value: -1 }],
      },
      browser_ttl: { mode: 'respect_origin' },
      cache_key: { custom_key: { query_string: { exclude: { all: true } } } },
    },
  },
})

/** Lets pages of every origin read the files, also parts of them, as the rules of the bucket do (cors.json). */
const headerRule = (domain: string): Rule => ({
  phase: 'http_response_headers_transform',
  permission: 'Transform Rules: Edit',
  definition: {
    description: named(domain, 'headers'),
    expression: `http.host eq "${domain}"`,
    action: 'rewrite',
    action_parameters: {
      headers: Object.fromEntries(
        Object.entries({
          'access-control-allow-origin': '*',
          'access-control-expose-headers': 'ETag, Content-Range, Accept-Ranges, Content-Length',
          'cross-origin-resource-policy': 'cross-origin',
          'x-content-type-options': 'nosniff',
        }).map(([name, value]) => [name, { operation: 'set', value }]),
      ),
    },
  },
})

/** Returns the rules of a domain. Tokens of every key are accepted. */
export const rulesOf = (domain: string, keys: string[]) => [
  tokenRule(domain, keys),
  cacheRule(domain),
  headerRule(domain),
]

const findRuleset = (token: string, zone_id: string, phase: string) =>
  findResource<Ruleset>(token, `/zones/${zone_id}/rulesets/phases/${phase}/entrypoint`)

/** Returns the keys whose tokens the zone accepts today, the current one first. Throws if the API token may not read a rule. */
export async function readRules(token: string, zone_id: string, domain: string): Promise<string[]> {
  const expressions: string[] = []
  for (const { phase, permission, definition } of rulesOf(domain, [''])) {
    const ruleset = await findRuleset(token, zone_id, phase).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 403) throw new Error(`the token lacks "${permission}"`)
      throw error
    })
    const rule = ruleset?.rules?.find(({ description }) => description === definition.description)
    if (rule) expressions.push(rule.expression)
  }
  return [...expressions.join().matchAll(/is_timed_hmac_valid_v0\("(\w+)"/g)].map(([, key = '']) => key)
}

/** Creates a rule, or changes it if it exists. All other rules of the zone stay as they are. */
export async function putRule(token: string, zone_id: string, rule: Rule): Promise<void> {
  await writeRule(token, zone_id, rule).catch((error: unknown) => {
    // Cloudflare quotes an expression that it rejects, and the expression contains keys.
    throw error instanceof ApiError ? new Refusal(error.message.replaceAll(/\w{32,}/g, '…')) : error
  })
}

async function writeRule(token: string, zone_id: string, { phase, position, definition }: Rule): Promise<void> {
  const rule = { ...definition, enabled: true }
  const path = `/zones/${zone_id}/rulesets`
  const ruleset = await findRuleset(token, zone_id, phase)
  if (!ruleset) return callApi(token, 'POST', path, { name: 'default', kind: 'zone', phase, rules: [rule] })
  const existing = ruleset.rules?.find(({ description }) => description === definition.description)
  const rules = `${path}/${ruleset.id}/rules`
  if (existing) await callApi(token, 'PATCH', `${rules}/${existing.id}`, { ...rule, position })
  else await callApi(token, 'POST', rules, { ...rule, position })
}

/** Returns a URL with a token that is valid for `life` seconds. */
export function withToken(url: string, key: string, life: number): string {
  const message = `${new URL(url).pathname}?X-Amz-Expires=${life}`
  const time = Math.floor(Date.now() / 1000) + life - PLAYBACK_TTL
  const mac = createHmac('sha256', key)
    .update(message + time)
    .digest('base64url')
  return `${new URL(url).origin}${message}${SEPARATOR}${time}-${mac}`
}
