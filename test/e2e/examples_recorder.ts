import { expect } from 'vitest'

import type { OperationExample } from '../../scripts/build/openapi.ts'
import { clientOperations as operations } from '../../src/contract/client_operations.ts'

/** Records one request and response of each operation as an example for the API reference (docs/decisions/0099). */

type Name = keyof typeof operations
/** A response without the types of its fields, which the caller reads by name. */
// oxlint-disable-next-line typescript/no-explicit-any
type Body = Record<string, any>
type Parts = Pick<OperationExample, 'params' | 'query' | 'headers' | 'body'>

/** Replaces the address of the local storage. */
const STORAGE = 'https://storage.example.com/'

/**
 * Returns `call`, which requests an operation and returns the body, and `examples`, which returns the first exchange of each operation with fixed ids,
 * times, secrets and hosts. An exchange that needs no example has `isExample: false`. `origins` has the origin that replaces each origin; the first is
 * that of the service.
 */
export function createRecorder(origins: Record<string, string>) {
  const [base_url] = Object.keys(origins)
  const recorded = new Map<Name, OperationExample>()

  async function call(name: Name, key: string | null, parts: Parts = {}, isExample = true): Promise<Body> {
    const { method, path } = operations[name]
    const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => String(parts.params?.[parameter]))
    const query = new URLSearchParams(parts.query)
    const response = await fetch(`${base_url}${filled}${parts.query ? `?${query}` : ''}`, {
      method,
      headers: {
        ...(key && { authorization: `Bearer ${key}` }),
        ...(parts.body && { 'content-type': 'application/json' }),
        ...parts.headers,
      },
      body: parts.body ? JSON.stringify(parts.body) : null,
    })
    const body = response.status === 204 ? { ok: true } : ((await response.json()) as Body)
    expect(body, `${name} responds ${response.status}`).toMatchObject({ ok: true })
    if (isExample && !recorded.has(name)) recorded.set(name, structuredClone({ ...parts, response: body }))
    return body
  }

  function examples(): Record<string, OperationExample> {
    const fix = createFixer(origins)
    const ordered = (Object.keys(operations) as Name[]).flatMap((name) => {
      const example = recorded.get(name)
      return example ? [[name, example] as const] : []
    })
    return Object.fromEntries(ordered.map(([name, example]) => [name, fix(example)])) as Record<
      string,
      OperationExample
    >
  }
  return { call, examples }
}

/** Maximum length of a list of numbers, such as levels. A reader needs to see only its start. */
const MAX_NUMBERS = 12

/** Returns a function that replaces everything that differs between two recordings. The same id becomes the same fixed id in all examples. */
function createFixer(origins: Record<string, string>) {
  const ids = new Map<string, string>()
  const fixedId = (id: string) => {
    const fixed = ids.get(id) ?? `0197a3c0-5e00-7000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(id, fixed)
    return fixed
  }
  const indexes = new Map<string, string>()
  const fixedIndex = (index: string) => {
    const fixed = indexes.get(index) ?? `track${String(indexes.size + 1).padStart(7, '0')}`
    indexes.set(index, fixed)
    return fixed
  }
  const fixText = (text: string) =>
    text
      .replace(/http:\/\/(localhost|127\.0\.0\.1):\d+\/cdn-cgi\/local\/r2\/s3\//g, STORAGE)
      .replace(/http:\/\/(localhost|127\.0\.0\.1):\d+/g, (origin) => origins[origin] ?? origin)
      .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, fixedId)
      .replace(/\b(ta_[a-z]+_|whsec_)[\w+/=-]+/g, '$1EXAMPLE')
      .replace(/\?[^"\s]*X-Amz-[^"\s]+/g, '?X-Amz-Expires=3600&X-Amz-Signature=EXAMPLE')
      .replace(/\/(cover_upload|zip\/selection|zip|s)\/[\w.-]+/g, '/$1/EXAMPLE')
      .replace(/^[\da-f]{24}[tcp][\da-f]{128,160}$/, 'EXAMPLE')
      .replace(/\/cover-[\da-f]{12}\//g, '/cover-000000000000/')
      .replace(/(\bmedia\/[\da-f-]{36}\/[\da-f-]{36})\/\w{12}\b/g, '$1/track0000001')
      .replace(/(\/track0000001)\/[\da-f]{8}\//g, '$1/00000000/')
      .replace(/(\/uploads\/[^"?]*)\.\w+(?=\?)/g, '$1.00000000')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-05-04T10:30:00.000Z')
  const fixString = (field: string, value: string) => {
    if (/^\d{4}-\d\d-\d\d$/.test(value)) return '2026-05-04'
    if (field === 'index' && /^[\dA-Za-z]{12}$/.test(value)) return fixedIndex(value)
    if (field === 'slug' || field === 'etag') return 'EXAMPLE'
    return fixText(value)
  }
  const fix = (value: unknown, field = ''): unknown => {
    if (typeof value === 'string') return fixString(field, value)
    if (typeof value === 'number') return fixNumber(field, value)
    if (Array.isArray(value)) {
      const isLong = value.length > MAX_NUMBERS && value.every((item) => typeof item === 'number')
      return (isLong ? value.slice(0, MAX_NUMBERS) : value).map((item) => fix(item, field))
    }
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fix(inner, name)]))
  }
  return fix
}

/** Numbers that depend on the clock or on the machine. */
const fixNumber = (field: string, value: number) => {
  if (['seq', 'sequence', 'after'].includes(field) && value > 1e9) return 1777890600000
  if (field === 'version' && value > 1e9) return 1777890600000
  if (['duration_ms', 'milliseconds', 'seconds', 'age'].includes(field)) return 120
  return value
}

/**
 * Returns the paths at which two values have different fields or different types. Only the first items of lists are compared, because lists may differ in length, and one of
 * them may be empty.
 */
export function differences(a: unknown, b: unknown, path = ''): string[] {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length > 0 && b.length > 0 ? differences(a[0], b[0], `${path}[]`) : []
  }
  if (!isObject(a) || !isObject(b)) return typeName(a) === typeName(b) ? [] : [path]
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) =>
    name in a && name in b ? differences(a[name], b[name], `${path}.${name}`) : [`${path}.${name}`],
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const typeName = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)
