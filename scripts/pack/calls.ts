import * as z from 'zod'

import { clientOperations as operations } from '../../src/contract/client_operations.ts'
import { ERROR_MEANINGS } from '../../src/contract/errors.ts'
import { Analysis, Loudness } from '../../src/contract/info.ts'
import type { Operation } from '../../src/contract/operation.ts'

/**
 * Generates the types of all operations as TypeScript without zod. They replace `src/contract` in the packages. Named schemas become
 * interfaces. scripts/pack.ts compares the result with the types that zod derives.
 */

type Json = Record<string, unknown>

/** Schemas that have no name in OpenAPI, but that the engines or their users need. */
const UNNAMED = { Analysis, Loudness }

/** Returns the declarations that replace `src/contract` in the packages. */
export function contractTypes(): string {
  const settings = { uri: (id: string) => id, unrepresentable: 'any' } as const
  const { schemas } = z.toJSONSchema(z.globalRegistry, { io: 'output', ...settings })
  const { schemas: sent } = z.toJSONSchema(z.globalRegistry, { io: 'input', ...settings })
  const requests = namesInRequests()
  // `ErrorCode` is declared below, with the meanings of the codes.
  const named = Object.entries(schemas).flatMap(([name, schema]) =>
    name === 'ErrorCode' ? [] : declaration(name, requests.has(name) ? sent[name]! : schema),
  )
  const unnamed = Object.entries(UNNAMED).map(([name, schema]) => declaration(name, toSchema(schema, 'output')))
  const codes = Object.entries(ERROR_MEANINGS).map(([code, meaning]) => `  /** ${meaning} */\n  ${code}: unknown`)
  const calls = Object.entries(operations).map(([name, operation]) => call(name, operation))
  return [
    '/** Generated from the operation table. */',
    ...named.toSorted(),
    ...unnamed,
    `interface Codes {\n${codes.join('\n')}\n}\n/** Every error code of the API. */\nexport type ErrorCode = keyof Codes`,
    `/** Every operation with its request and response. */\nexport interface Calls {\n${calls.join('\n')}\n}\n`,
  ].join('\n\n')
}

/** Returns the names of the schemas in bodies that no response has. A client may leave out their fields with a default. */
function namesInRequests(): Set<string> {
  const namesIn = (list: Json[]) =>
    new Set([...JSON.stringify(list).matchAll(/"#\/\$defs\/(\w+)"/g)].map(([, name]) => name!))
  const all: Operation[] = Object.values(operations)
  const received = namesIn(all.map(({ response }) => toSchema(response, 'output')))
  const sent = namesIn(all.flatMap(({ body }) => (body ? [toSchema(body, 'input')] : [])))
  return new Set([...sent].filter((name) => !received.has(name)))
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  return z.toJSONSchema(schema, { io, unrepresentable: 'any' })
}

function declaration(name: string, schema: Json): string {
  return schema.type === 'object'
    ? `export interface ${name} ${typeOf(schema)}`
    : `export type ${name} = ${typeOf(schema)}`
}

function call(name: string, operation: Operation): string {
  const parts = (['params', 'query', 'headers', 'body'] as const).flatMap((part) => {
    const schema = operation[part]
    if (!schema) return []
    // A client writes the values of a query as text. All of them are optional.
    const json = part === 'query' ? { ...toSchema(schema, 'output'), required: [] } : toSchema(schema, 'input')
    return [`    ${part}: ${typeOf(json, 2)}`]
  })
  const response = typeOf(toSchema(operation.response, 'output'), 2)
  return [
    `  /** ${operation.summary}. */`,
    `  ${name}: {`,
    `    method: '${operation.method}'`,
    `    path: '${operation.path}'`,
    ...parts,
    `    response: ${response}`,
    '  }',
  ].join('\n')
}

/** Converts a schema to TypeScript. `depth` is the indentation of its first line. */
function typeOf(schema: Json, depth = 0): string {
  const { $ref, enum: values, anyOf, oneOf, allOf, type } = schema
  if (typeof $ref === 'string') return $ref.split('/').at(-1)!
  if ('const' in schema) return literal(schema.const)
  if (Array.isArray(values)) return values.map(literal).join(' | ')
  const union = (anyOf ?? oneOf) as Json[] | undefined
  if (union) return [...new Set(union.map((each) => typeOf(each, depth)))].join(' | ')
  if (Array.isArray(type)) return type.map((each: string) => typeOf({ ...schema, type: each }, depth)).join(' | ')
  if (Array.isArray(allOf)) return (allOf as Json[]).map((each) => typeOf(each, depth)).join(' & ')
  if (type === 'array') return arrayOf(schema.items as Json, depth)
  if (type === 'object') return objectOf(schema, depth)
  if (type === 'integer') return 'number'
  return typeof type === 'string' ? type : 'unknown'
}

function arrayOf(items: Json, depth: number): string {
  const type = typeOf(items, depth)
  return / [|&] /.test(withoutObjects(type)) ? `(${type})[]` : `${type}[]`
}

/** Removes objects in braces from a type, including nested ones. */
function withoutObjects(type: string): string {
  const shorter = type.replace(/\{[^{}]*\}/g, '')
  return shorter === type ? type : withoutObjects(shorter)
}

function objectOf({ properties, required = [], additionalProperties }: Json, depth: number): string {
  if (!properties) return `Record<string, ${typeOf((additionalProperties ?? {}) as Json, depth)}>`
  const indent = '  '.repeat(depth + 1)
  const fields = Object.entries(properties as Record<string, Json>).map(([name, schema]) => {
    const type = typeOf(schema, depth + 1)
    const key = /^\w+$/.test(name) ? name : `'${name}'`
    return (required as string[]).includes(name) ? `${key}: ${type}` : `${key}?: ${type} | undefined`
  })
  // Later versions may add fields to these objects.
  if (additionalProperties) fields.push('[name: string]: unknown')
  return `{\n${fields.map((field) => `${indent}${field}\n`).join('')}${'  '.repeat(depth)}}`
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value))
