import { MAX_BODY_BYTES } from '../../../src/contract/facts.ts'
import { type OperationName, operations } from '../../../src/contract/index.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import type { Workspace } from './callers.ts'
import { hostileBodies, hostileIds, hostileQueries } from './fuzz_input.ts'
import { BROKEN_JSON, toJson } from './fuzz_value.ts'
import { pathValues, requestOf } from './requests.ts'

export interface Attempt {
  path: string
  body?: string
  headers?: Record<string, string>
  /** Whether the schema accepts this input. Undefined if only a crash would be a fault. */
  valid?: boolean | undefined
  /** The expected statuses when the input is refused: 400 by default. */
  refusals?: number[]
}

export const operationsByName = operations as Record<string, Operation>

/** Whether the schema accepts the body as a whole. */
const isValidBody = (name: OperationName, text: string) =>
  operationsByName[name]!.body!.safeParse(JSON.parse(text)).success

function bodyAttempts(name: OperationName, path: string, valid: object, random: () => number): Attempt[] {
  const { body, body_size = MAX_BODY_BYTES, is_text } = operationsByName[name]!
  if (!body || !('shape' in body)) return []
  // A body above the size limit is refused before it is parsed.
  const large = (text: string) => new TextEncoder().encode(text).length > body_size
  const hostile = hostileBodies(body, valid, random).map((text) =>
    large(text)
      ? { path, body: text, valid: false, refusals: [413] }
      : { path, body: text, valid: isValidBody(name, text) },
  )
  const text = toJson(valid)
  return [
    ...hostile,
    ...BROKEN_JSON.map((broken) => ({ path, body: broken, valid: false, refusals: [-400] })),
    ...[
      ...(is_text ? [] : ['text/plain']),
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      '',
    ].map((type) => ({ path, body: text, headers: { 'content-type': type }, valid: false, refusals: [415] })),
    { path, body: `${' '.repeat(body_size)}${text}`, valid: false, refusals: [413] },
  ]
}

function queryAttempts(name: OperationName, path: string, random: () => number): Attempt[] {
  const { query } = operationsByName[name]!
  if (!query)
    return ['?__proto__=1', '?constructor=1', '?limit=-1', '?a[b]=c', '?%', '?&&='].map((q) => ({ path: path + q }))
  const pairs = hostileQueries(query, random).map((list): Attempt => {
    const search = new URLSearchParams(list.map(([key, value]) => [key.toWellFormed(), value.toWellFormed()]))
    const values: Record<string, unknown> = Object.create(null)
    // A pair without a name is not a parameter.
    for (const key of [...new Set(search.keys())].filter(Boolean)) {
      const found = search.getAll(key)
      values[key] = found.length > 1 ? found : found[0]
    }
    // Only this operation ignores a query: one without `views` (src/http/listen/views_query.ts).
    const isIgnored = name === 'playSession' && !('views' in values)
    return { path: `${path}?${search.toString()}`, valid: isIgnored || query.safeParse({ ...values }).success }
  })
  return [
    ...pairs,
    ...['?limit=%', '?limit=%zz', '?offset=%ED%A0%80', '?limit', '?=1', '?limit=%00'].map((q) => ({ path: path + q })),
  ]
}

function pathAttempts(
  name: OperationName,
  aim: (values: Record<string, string>) => string,
  values: Record<string, string>,
  random: () => number,
) {
  const { params, nouns } = operationsByName[name]!
  return Object.keys(params?.shape ?? {}).flatMap((part) =>
    hostileIds(values[part]!, random).flatMap((encoded): Attempt[] => {
      let text = encoded
      try {
        text = decodeURIComponent(encoded)
      } catch {
        // Text that cannot be decoded is left as it is, as in Hono.
      }
      if (params!.safeParse({ ...values, [part]: text }).success) return []
      const mark = '11111111111111111111'
      return [
        {
          path: aim({ ...values, [part]: mark }).replace(mark, encoded),
          valid: false,
          refusals: [nouns?.[part] === null ? 400 : 404],
        },
      ]
    }),
  )
}

function headerAttempts(name: OperationName, path: string): Attempt[] {
  const { headers, method, access } = operationsByName[name]!
  const matches = ['""', '"a"', '-1', '1.5', '1e3', 'W/1', 'w/"1"', '"1", "2"', '9'.repeat(16), 'x'.repeat(9000), "'"]
  const refused = (header: string) => (value: string) => ({ path, headers: { [header]: value }, valid: false })
  return [
    ...(headers ? matches : []).map(refused('if-match')),
    ...(method === 'post' && access.length > 0 ? ['a b', 'x'.repeat(256)] : []).map(refused('idempotency-key')),
  ]
}

/** All malformed requests that are sent to an operation. */
export function attemptsAt(name: OperationName, workspace: Workspace, random: () => number): Attempt[] {
  const { path, body = {} } = requestOf(name, workspace)
  return [
    ...bodyAttempts(name, path, body, random),
    ...pathAttempts(name, (values) => requestOf(name, workspace, values).path, pathValues(name, workspace), random),
    ...headerAttempts(name, path),
    ...(operationsByName[name]!.method === 'get' ? queryAttempts(name, path, random) : []),
  ]
}
