import { randomBytes } from 'node:crypto'

import { type Call, ApiError, lookUp, type Routes } from './account.ts'
import { parse, type Rule, type Ruleset } from './rulesets.ts'

/** Simulates the API of a zone: DNS records and rules. */

export const zones: Routes = {
  'GET /zones': ({ account, query }) =>
    [
      { id: 'zone1', name: 'example.com', plan: { legacy_id: account.rules.zonePlan, name: account.rules.zonePlan } },
    ].filter(({ name }) => name === query.get('name')),
  'GET /zones/:id/dns_records': ({ account, query }) =>
    [...account.records.values()].filter(({ name }) => name === query.get('name')),
}

const newId = () => randomBytes(16).toString('hex')

export const dns: Routes = {
  'POST /zones/:id/dns_records': ({ account, body: { name, type, content } }) => {
    const record = { id: newId(), name, type, content }
    account.records.set(record.id, record)
    return record
  },
  'DELETE /zones/:id/dns_records/:record': ({ account, words: [, id] }) => {
    lookUp(account.records, id, 81_044)
    account.records.delete(id!)
    return { id }
  },
}

/** Rejects what Cloudflare rejects: unknown syntax, and functions that the plan of the zone does not have. */
function toRule({ account: { rules } }: Call, rule: Omit<Rule, 'id'>): Rule {
  try {
    parse(rule.expression)
  } catch (error) {
    throw new ApiError(400, 20_127, (error as Error).message)
  }
  if (rules.refusesExpressions)
    throw new ApiError(400, 20_127, `'${rule.expression}' is not a valid value for expression`)
  if (rules.zonePlan === 'free' && rule.expression.includes('is_timed_hmac_valid_v0'))
    throw new ApiError(403, 20_120, 'not entitled: the use of function is_timed_hmac_valid_v0 is not allowed')
  const { description, expression, action, action_parameters, enabled } = rule
  return {
    id: newId(),
    enabled,
    expression,
    action,
    ...(description && { description }),
    ...(action_parameters && { action_parameters }),
  }
}

const rulesetOf = ({ account, words }: Call) => lookUp(account.rulesets, words[1], 10_001)

/** Moves a rule to the position in the body, which counts from 1. Without one, it stays or becomes the last. */
function place(ruleset: Ruleset, rule: Rule, position?: { index: number }): Ruleset {
  const at = ruleset.rules.findIndex(({ id }) => id === rule.id)
  if (at >= 0) ruleset.rules.splice(at, 1)
  ruleset.rules.splice(position ? position.index - 1 : at < 0 ? ruleset.rules.length : at, 0, rule)
  return ruleset
}

export const rulesets: Routes = {
  'GET /zones/:id/rulesets/phases/:phase/entrypoint': ({ account, words: [, phase] }) => {
    const found = [...account.rulesets.values()].find((ruleset) => ruleset.phase === phase)
    if (found) return found
    throw new ApiError(404, 10_003, `could not find entrypoint ruleset in the ${phase} phase`)
  },
  'POST /zones/:id/rulesets': (call) => {
    const { phase, rules } = call.body
    const ruleset = { id: newId(), phase, rules: (rules as Rule[]).map((rule) => toRule(call, rule)) }
    call.account.rulesets.set(ruleset.id, ruleset)
    return ruleset
  },
  'POST /zones/:id/rulesets/:ruleset/rules': (call) =>
    place(rulesetOf(call), toRule(call, call.body as unknown as Rule), call.body.position),
  'PATCH /zones/:id/rulesets/:ruleset/rules/:rule': (call) => {
    const ruleset = rulesetOf(call)
    const id = call.words[2]!
    if (!ruleset.rules.some((rule) => rule.id === id)) throw new ApiError(404, 10_002, 'could not find rule')
    return place(ruleset, { ...toRule(call, call.body as unknown as Rule), id }, call.body.position)
  },
}
