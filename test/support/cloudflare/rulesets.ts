import { isTokenValid, type TokenRule } from './token.ts'

/** The rules of a simulated zone: how it reads their expressions and parameters. It knows only what Cloudflare documents. */

export interface Rule {
  id: string
  description?: string
  expression: string
  action: string
  enabled: boolean
  action_parameters?: {
    cache_key?: { custom_key?: { query_string?: { exclude?: { all?: boolean } } } }
    edge_ttl?: { mode: string; default?: number; status_code_ttl?: unknown[] }
    headers?: Record<string, { operation: string; value: string }>
  }
}

export interface Ruleset {
  id: string
  phase: string
  rules: Rule[]
}

/** A request as rules see it. `now` is in seconds since 1970. */
export interface Seen {
  host: string
  /** Path and query as they were sent. */
  raw_uri: string
  now: number
}

type Condition = (seen: Seen) => Promise<boolean>

const HOST = /^http\.host eq "([^"]*)"$/
const HOST_PREFIX = /^starts_with\(lower\(http\.host\), "([^"]*)"\)$/
const TOKEN =
  /^is_timed_hmac_valid_v0\("(\w+)", raw\.http\.request\.uri, (\d+), http\.request\.timestamp\.sec, (\d+), "(s?)"\)$/

/** Parses the forms of expressions that a deployment writes. Throws for any other. */
export function parse(text: string): Condition {
  const negated = /^(.*) and not \((.*)\)$/s.exec(text)
  if (negated) {
    const [left, right] = [parse(negated[1]!), parse(negated[2]!)]
    return async (seen) => (await left(seen)) && !(await right(seen))
  }
  if (text.includes(' or ')) {
    const parts = text.split(' or ').map(parse)
    return async (seen) => (await Promise.all(parts.map((part) => part(seen)))).includes(true)
  }
  const host = HOST.exec(text)?.[1]
  if (host !== undefined) return async (seen) => seen.host === host
  const prefix = HOST_PREFIX.exec(text)?.[1]
  if (prefix !== undefined) return async (seen) => seen.host.toLowerCase().startsWith(prefix)
  const [, key, ttl, separator, flags = ''] = TOKEN.exec(text) ?? []
  if (key === undefined) throw new Error(`expression syntax error: ${text}`)
  const rule: TokenRule = { key, ttl: Number(ttl), separator: Number(separator), flags }
  return ({ raw_uri, now }) => isTokenValid(rule, raw_uri, now)
}

/** Returns the enabled rules of a phase that match a request. */
export async function matching(rulesets: Iterable<Ruleset>, phase: string, seen: Seen): Promise<Rule[]> {
  const rules = [...rulesets].filter((ruleset) => ruleset.phase === phase).flatMap((ruleset) => ruleset.rules)
  const found: Rule[] = []
  for (const rule of rules) if (rule.enabled && (await parse(rule.expression)(seen))) found.push(rule)
  return found
}
