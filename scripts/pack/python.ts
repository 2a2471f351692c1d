import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import * as z from 'zod'

import { clientOperations as operations } from '../../src/contract/client_operations.ts'
import type { Operation } from '../../src/contract/operation.ts'
import type { Tree } from './packages.ts'

/**
 * Generates the modules `types.py` and `_operations.py` of the Python package from the table of operations, and collects the files of the package
 * (docs/decisions/0044).
 */

type Json = Record<string, unknown>

export const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const pascal = (name: string) => name.replace(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase())
const KEYWORDS =
  'and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  )
/** Returns a name that can be an identifier. */
export const safe = (name: string) => (KEYWORDS.includes(name) ? `${name}_` : name.replaceAll('-', '_'))
/** A docstring with three quotes. */
const docstring = (text: string) => `"""${text.replaceAll('\\', '\\\\').replaceAll('"""', '"')}"""`

/** Collects the classes of `types.py`, and the aliases, which are values that programs may use, such as `TonearmEvent | None`. */
class Types {
  readonly declarations: string[] = []
  readonly #aliases = new Map<string, string>()
  readonly #names = new Set<string>()

  /** Declares a schema under a name, and returns the name. Other schemas become aliases. */
  declare(name: string, schema: Json): string {
    if (this.#names.has(name)) return name
    this.#names.add(name)
    if (schema.type === 'object' && schema.properties) this.#declareDict(name, schema)
    else this.#aliases.set(name, this.typeOf(schema, `${name}Item`))
    return name
  }

  /** Returns the aliases, each after those to which it refers. They come after all classes. */
  aliases(): string[] {
    const isDone = new Set<string>()
    const add = (name: string): string[] => {
      const type = this.#aliases.get(name)
      if (type === undefined || isDone.has(name)) return []
      isDone.add(name)
      return [...(type.match(/\w+/g) ?? []).flatMap(add), `${name}: TypeAlias = ${type}`]
    }
    return [...this.#aliases.keys()].flatMap(add)
  }

  #declareDict(name: string, { properties, required = [] }: Json): void {
    const fields = Object.entries(properties as Record<string, Json>).map(([field, schema]) => {
      const type = this.typeOf(schema, name + pascal(field))
      return [field, (required as string[]).includes(field) ? type : `NotRequired[${type}]`] as const
    })
    const isClass = fields.every(([field]) => field === safe(field))
    // The other form allows names that are no identifiers. Its types are strings, because schemas may refer to later ones.
    const lines = fields.map(([field, type]) =>
      isClass ? `    ${field}: ${type}` : `    "${field}": ${JSON.stringify(type)},`,
    )
    this.declarations.push(
      isClass
        ? `class ${name}(TypedDict):\n${lines.join('\n') || '    pass'}`
        : `${name} = TypedDict("${name}", {\n${lines.join('\n')}\n})`,
    )
  }

  /** Returns the Python type of a schema. An object within it is declared as `name`. */
  typeOf(schema: Json, name: string): string {
    const { $ref, enum: values, anyOf, oneOf, type } = schema
    if (typeof $ref === 'string') return reference($ref)
    if ('const' in schema) return literals([schema.const])
    if (Array.isArray(values)) return literals(values)
    const union = (anyOf ?? oneOf) as Json[] | undefined
    if (union)
      return [...new Set(union.map((each, index) => this.typeOf(each, optionName(name, each, index))))].join(' | ')
    if (Array.isArray(type)) return type.map((each: string) => this.typeOf({ ...schema, type: each }, name)).join(' | ')
    if (type === 'array') return `list[${this.typeOf(schema.items as Json, name.replace(/s$/, ''))}]`
    if (type === 'object' && schema.properties) return this.declare(name, schema)
    if (type === 'object') return 'dict[str, Any]'
    const simple: Json = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }
    return (simple[String(type)] as string | undefined) ?? 'Any'
  }
}

const reference = ($ref: string) => $ref.split('/').at(-1)!
const literals = (values: unknown[]) => {
  const texts = values.map((value) => (typeof value === 'string' ? `"${value}"` : pythonValue(value)))
  return `Literal[${texts.join(', ')}]`
}
const pythonValue = (value: unknown) =>
  value === null ? 'None' : typeof value === 'boolean' ? pascal(String(value)) : JSON.stringify(value)

/** Names an option of a union by the constant that distinguishes it. */
function optionName(name: string, { properties }: Json, index: number): string {
  const constant = Object.values((properties ?? {}) as Record<string, Json>).find((field) => 'const' in field)?.const
  return typeof constant === 'string'
    ? name + pascal(constant.replaceAll('.', '_'))
    : name + (index > 0 ? index + 1 : '')
}

const toSchema = (schema: z.ZodType, io: 'input' | 'output') =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json

interface Method {
  name: string
  signature: string
  /** The arguments in a call of the method by the async client. */
  passed: string
  returns: string
  summary: string
  request: string
}

/** Describes the method of an operation, and declares its types. */
function methodOf(name: string, operation: Operation, types: Types): Method {
  const typeName = name[0]!.toUpperCase() + name.slice(1)
  const params = Object.keys(operation.params?.shape ?? {})
  const query = propertiesOf(operation.query)
  const headers = Object.keys(operation.headers?.shape ?? {})
  const [signature, passed, request] = [
    ['self'],
    [] as string[],
    [`"${operation.method.toUpperCase()}"`, `"${operation.path}"`],
  ]
  for (const param of params) {
    signature.push(`${param}: str`)
    passed.push(param)
  }
  if (params.length > 0) request.push(`params={${params.map((param) => `"${param}": ${param}`).join(', ')}}`)
  if (operation.body) {
    const schema = toSchema(operation.body, 'input')
    const type = `types.${types.declare(`${typeName}Body`, schema)}`
    const isRequired = 'anyOf' in schema || ((schema.required ?? []) as string[]).length > 0
    signature.push(isRequired ? `body: ${type}` : `body: ${type} | None = None`)
    passed.push('body')
    request.push(isRequired ? 'body=body' : 'body=body or {}')
  }
  if (query.length + headers.length > 0) signature.push('*')
  for (const [field, schema] of query) {
    signature.push(`${safe(field)}: ${types.typeOf(schema, typeName + pascal(field))} | None = None`)
    passed.push(`${safe(field)}=${safe(field)}`)
  }
  for (const header of headers) {
    signature.push(`${safe(header)}: str | None = None`)
    passed.push(`${safe(header)}=${safe(header)}`)
  }
  if (query.length > 0) request.push(`query={${query.map(([field]) => `"${field}": ${safe(field)}`).join(', ')}}`)
  if (headers.length > 0)
    request.push(`headers={${headers.map((header) => `"${header}": ${safe(header)}`).join(', ')}}`)
  const returns = `types.${types.declare(`${typeName}Response`, toSchema(operation.response, 'output'))}`
  const [summary, call] = [`${operation.summary}.`, `self._transport.call(${request.join(', ')})`]
  return {
    name: snake(name),
    signature: signature.join(', '),
    passed: passed.join(', '),
    returns,
    summary,
    request: call,
  }
}

export const propertiesOf = (schema: z.ZodObject | undefined) =>
  schema ? Object.entries((toSchema(schema, 'output').properties ?? {}) as Record<string, Json>) : []

const HEAD = '"""Generated from the table of operations."""\n\nfrom __future__ import annotations\n'

/** Returns the generated modules by their file names. */
export function pythonModules(): Record<string, string> {
  const types = new Types()
  const { schemas } = z.toJSONSchema(z.globalRegistry, { io: 'output', uri: (id) => id, unrepresentable: 'any' })
  for (const [id, schema] of Object.entries(schemas).toSorted(([a], [b]) => a.localeCompare(b)))
    types.declare(id, schema)
  const methods = Object.entries(operations).map(([name, operation]) => methodOf(name, operation, types))
  const sync = methods.map(
    ({ name, signature, returns, summary, request }) =>
      `    def ${name}(${signature}) -> ${returns}:\n        ${docstring(summary)}\n        return ${request}\n`,
  )
  const asynchronous = methods.map(
    ({ name, signature, passed, returns, summary }) =>
      `    async def ${name}(${signature}) -> ${returns}:\n        ${docstring(summary)}\n        return await asyncio.to_thread(self._operations.${name}${passed && `, ${passed}`})\n`,
  )
  return {
    'types.py': `${HEAD}\nfrom typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n\n${[...types.declarations, ...types.aliases()].join('\n\n')}\n`,
    '_operations.py': [
      `${HEAD}\nimport asyncio\nfrom typing import Literal\n\nfrom . import types\nfrom ._transport import Transport\n`,
      `\nclass Operations:\n    def __init__(self, transport: Transport) -> None:\n        self._transport = transport\n\n${sync.join('\n')}`,
      `\nclass AsyncOperations:\n    def __init__(self, operations: Operations) -> None:\n        self._operations = operations\n\n${asynchronous.join('\n')}`,
    ].join('\n'),
  }
}

const source = join(import.meta.dirname, '../../packages/python')

/** Returns the files of the wheel: the package and its metadata (PyPA, binary distribution format 1.0). */
export async function makePython(version: string): Promise<Tree> {
  const names = (await readdir(join(source, 'tonearm'))).filter((name) => /\.py$|^py\.typed$/.test(name)).toSorted()
  const copied = await Promise.all(
    names.map(async (name) => [name, await readFile(join(source, 'tonearm', name), 'utf8')]),
  )
  const modules = Object.entries({ ...(Object.fromEntries(copied) as Record<string, string>), ...pythonModules() })
  const info = `tonearm-${version}.dist-info`
  const files: Tree = new Map([
    ...modules.map(([name, text]) => [`tonearm/${name}`, text] as const),
    [`${info}/METADATA`, metadata(version, await readFile(join(source, 'README.md'), 'utf8'))],
    [`${info}/WHEEL`, 'Wheel-Version: 1.0\nGenerator: tonearm\nRoot-Is-Purelib: true\nTag: py3-none-any\n'],
  ])
  const record = [...files].map(([path, text]) => {
    const hash = createHash('sha256').update(text).digest('base64url')
    return `${path},sha256=${hash},${Buffer.byteLength(text)}`
  })
  return files.set(`${info}/RECORD`, `${record.join('\n')}\n${info}/RECORD,,\n`)
}

const metadata = (version: string, readme: string) =>
  [
    'Metadata-Version: 2.1',
    'Name: tonearm',
    `Version: ${version}`,
    'Summary: The API of Tonearm, typed, for synchronous code and asyncio',
    'License: Apache-2.0',
    'Requires-Python: >=3.11',
    'Description-Content-Type: text/markdown',
    '',
    readme,
  ].join('\n')
