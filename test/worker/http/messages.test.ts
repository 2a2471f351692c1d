import { expect, it } from 'vitest'
import * as z from 'zod'

import { ERROR_STATUS } from '../../../src/contract/error_status.ts'
import { type OperationName, operations } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { anOrganization, call } from '../support/api.ts'
import { aWorkspace, type Workspace } from '../support/callers.ts'
import { keyOf, requestOf } from '../support/requests.ts'

/** The messages of rejected fields, for every field of the contract: they have the range, the unit, and the rejected value. */

interface Schema {
  type?: string
  'x-unit'?: string
  pattern?: string
  format?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  items?: Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

/** A value that a field rejects, inside objects and lists up to the root, and the words that the message must contain. */
interface Attempt {
  path: string
  value: unknown
  words: string[]
}

/** Numbers without a unit. Every other number with a bound has one. */
const PLAIN = [
  'after',
  'done.part_number',
  'next',
  'order',
  'position',
  'tags.track_number',
  'tags.disc_number',
  'episode.season',
  'episode.number',
  'sequence',
  'first',
]

const isBound = (bound: number | undefined): bound is number =>
  bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER

/** Values below and above the bounds of a field. `name` is its path without the places in lists. */
function outside(schema: Schema, name: string): Omit<Attempt, 'path'>[] {
  const { type, 'x-unit': unit, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema
  const attempts = (
    least: number | undefined,
    most: number | undefined,
    unit: string,
    make: (n: number) => unknown,
  ) => {
    const bounds = [least, most].filter(isBound)
    const isOne = bounds.at(-1) === 1
    const words = [...bounds.map(String), isOne ? unit.replace(/ies$|s$/, '') : unit]
    const counts = [...(isBound(least) && least > 0 ? [least - 1] : []), ...(isBound(most) ? [most + 1] : [])]
    return counts.map((count) => ({
      value: make(count),
      words: [...words, ...(name === 'password' ? [] : ['not', String(count)])],
    }))
  }
  const list = (count: number) => Array.from({ length: count }, () => 'x')
  if (type === 'array') return attempts(minItems, maxItems, 'entries', list)
  if (type === 'string') return attempts(minLength, maxLength, 'characters', (count) => 'x'.repeat(count))
  if (type !== 'integer' && type !== 'number') return []
  const isBounded = isBound(minimum) || isBound(maximum)
  if (isBounded) expect([name, unit !== undefined]).toEqual([name, !PLAIN.some((plain) => name.endsWith(plain))])
  return attempts(minimum ?? undefined, maximum, unit ?? '', (count) => count)
}

/** All rejected values of a schema. `wrap` puts a value into the place of the schema in the request. */
function attemptsOf(schema: Schema, path: string[], wrap: (value: unknown) => unknown): Attempt[] {
  const name = path.filter((part) => part !== '0').join('.')
  const own = outside(schema, name).map(({ value, words }) => ({ path: path.join('.'), value: wrap(value), words }))
  const wrong = schema.pattern ?? schema.format ?? schema.enum
  const malformed = wrong && path.length > 0 ? [{ path: path.join('.'), value: wrap('?§'), words: ['"?§"'] }] : []
  return [
    ...own,
    ...malformed,
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((option) => attemptsOf(option, path, wrap)),
    ...(schema.items ? attemptsOf(schema.items, [...path, '0'], (value) => wrap([value])) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
      // The literal that selects one of several objects.
      const literals = Object.entries(schema.properties ?? {}).filter(([, { const: literal }]) => literal !== undefined)
      const fixed = Object.fromEntries(literals.map(([key, { const: literal }]) => [key, literal]))
      return attemptsOf(field, [...path, key], (value) => wrap({ ...fixed, [key]: value }))
    }),
  ]
}

/** Returns the JSON Schema of a schema, with named schemas in their places. */
function toSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $defs = {}, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  const inline = (_: string, value: { $ref?: string } | null) =>
    value?.$ref ? $defs[value.$ref.split('/').at(-1)!] : value
  const text = JSON.stringify(json, inline as (key: string, value: unknown) => unknown)
  return JSON.parse(text) as Schema
}

/** Sends a rejected value, and returns what is wrong with the response. */
async function faultOf(
  name: OperationName,
  workspace: Workspace,
  part: 'query' | 'body',
  { path, value, words }: Attempt,
) {
  const operation: Operation = operations[name]
  const request = requestOf(name, workspace)
  const search = part === 'query' ? `?${new URLSearchParams(value as Record<string, string>).toString()}` : ''
  const body = part === 'body' ? { ...request.body, ...(value as object) } : request.body
  const url = request.path.split('?')[0] + search
  const answer = await call(operation.method.toUpperCase(), url, { key: keyOf(name, workspace), body })
  const { errors = [] } = answer.body as { errors?: { path: string; message: string }[] }
  // A list in a query is one text.
  const field = part === 'query' ? path.replace(/\.0$/, '') : path
  const messages = errors.filter((error) => error.path === field).map(({ message }) => message)
  const isGood = messages.some(
    (message) => words.every((word) => message.includes(word)) && !/^(Invalid|Too) /.test(message),
  )
  return isGood ? null : `${name} ${path}: ${answer.status} ${JSON.stringify(messages)} lacks ${words.join(', ')}`
}

/** Its query is parsed before zod is loaded; session_views.test.ts has its messages. */
const OWN_PARSER = 'playSession'

it('a value out of range or of the wrong form: the message has the field, the range, the unit and the value', async () => {
  const workspace = await aWorkspace()
  const faults: (string | null)[] = []
  let count = 0
  for (const [name, { query, body }] of Object.entries(operations) as [OperationName, Operation][]) {
    if (name === OWN_PARSER) continue
    const parts = [
      ['query', query && attemptsOf(toSchema(query, 'output'), [], (value) => value)],
      ['body', body && attemptsOf(toSchema(body, 'input'), [], (value) => value)],
    ] as const
    for (const [part, attempts = []] of parts)
      for (const attempt of attempts) {
        count++
        faults.push(await faultOf(name, workspace, part, attempt))
      }
  }
  expect(faults.filter(Boolean)).toEqual([])
  expect(count).toBeGreaterThan(300)
}, 120_000)

it.each([
  ['collection', { title: 5 }, 'title: must be a string, not 5'],
  ['collection', { title: ['a'] }, 'title: must be a string, not a list'],
  ['collection', { title: {} }, 'title: must be a string, not an object'],
  [
    'collection',
    { title: 'a', player_color: 'x'.repeat(70) },
    `player_color: must be a color like #1A2B3C, not "${'x'.repeat(60)}"`,
  ],
  ['collection', {}, 'title: is required'],
  ['play_session/track', { expires_in: 5 }, 'expires_in: must be between 60 and 86400 seconds, not 5'],
  ['play_session/track', { expires_in: '60' }, 'expires_in: must be a number, between 60 and 86400 seconds, not "60"'],
  ['track', { file_size: 0 }, 'file_size: must be at least 1 byte, not 0'],
  ['track', { file_size: 1e300 }, 'file_size: must be between 1 and 9007199254740991 bytes, not 1e+300'],
  ['share', { password: 'secret' }, 'password: must be between 8 and 128 characters'],
  ['share', { password: 12345678 }, 'password: must be a string'],
])('POST /v1/%s %j: %s', async (path, body, expected) => {
  const { key } = await anOrganization()
  const answer = await call('POST', `/v1/${path}`, { key, body })
  const { errors } = answer.body as { errors: { path: string; message: string }[] }
  expect(errors.map((error) => `${error.path}: ${error.message}`)).toContain(expected)
})

it('the message about a missing field also names one that does not exist', async () => {
  const { key } = await anOrganization()
  const answer = await call('POST', '/v1/webhook_endpoint', { key, body: { address: 'https://a.example' } })
  expect(answer.body.message).toBe('url: is required; address: is not a known field')
})

it('docs_url leads to the paragraph about the code', async () => {
  const { key } = await anOrganization()
  for (const [path, code] of [
    ['/v1/track?limit=0', 'invalid_request'],
    ['/v1/nothing', 'not_found'],
    ['/v1/play/x/y', 'not_found'],
  ] as const) {
    const { body } = await call('GET', path, { key })
    expect([code in ERROR_STATUS, body.docs_url]).toEqual([true, `https://tonearm.test/docs/errors#${code}`])
  }
})
