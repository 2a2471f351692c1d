import {
  type ClientOperationName as OperationName,
  clientOperations as operations,
} from '../../../src/contract/client_operations.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { propertiesOf, safe, snake } from '../../pack/python.ts'
import type { OperationExample } from '../openapi.ts'
import { queryValue } from '../openapi_schema.ts'
import { EXAMPLE_ORIGIN, type Sample } from './html.ts'

/** The request of an operation's example as code. */

export interface Request extends Omit<OperationExample, 'response'> {
  name: OperationName
  method: string
  path: string
  isPublic: boolean
}

interface Style {
  key: (name: string) => string
  text: (value: string) => string
  words: Record<string, string>
  indent: number
}
const single = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
export const TYPESCRIPT: Style = {
  key: (name) => (/^[a-z_$][\w$]*$/i.test(name) ? name : single(name)),
  text: single,
  words: {},
  indent: 2,
}
export const PYTHON: Style = {
  key: (name) => JSON.stringify(name),
  text: (value) => JSON.stringify(value),
  words: { true: 'True', false: 'False', null: 'None' },
  indent: 4,
}
const WIDTH = 64

/** Returns a value as a literal. It is in one line if it fits. `depth` is the indentation of the line in which it starts. */
export function literal(value: unknown, style: Style, depth: number): string {
  if (typeof value === 'string') return style.text(value)
  if (typeof value !== 'object' || value === null) return style.words[String(value)] ?? String(value)
  const isList = Array.isArray(value)
  const [open, close] = isList ? '[]' : '{}'
  const entries = (depth: number) =>
    isList
      ? value.map((item) => literal(item, style, depth))
      : Object.entries(value).map(([name, item]) => `${style.key(name)}: ${literal(item, style, depth)}`)
  if (entries(0).length === 0) return `${open}${close}`
  const space = isList || style === PYTHON ? '' : ' '
  const line = `${open}${space}${entries(0).join(', ')}${space}${close}`
  if (!line.includes('\n') && depth + line.length <= WIDTH) return line
  const inner = depth + style.indent
  const pad = ' '.repeat(inner)
  return `${open}\n${entries(inner)
    .map((entry) => `${pad}${entry},\n`)
    .join('')}${' '.repeat(depth)}${close}`
}

const isEmpty = (value: object | undefined) => !value || Object.keys(value).length === 0

/** Returns the URL of a request, with its parameters and optionally its query. */
function urlOf({ path, params, query }: Request, withQuery: boolean): string {
  const pathname = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? name))
  const search = withQuery && !isEmpty(query) ? `?${new URLSearchParams(query).toString().replaceAll('%2C', ',')}` : ''
  return EXAMPLE_ORIGIN + pathname + search
}

/** Returns the values of a query as our clients take them: numbers and lists. */
export function typedQuery(name: OperationName, query: Record<string, string> = {}): Record<string, unknown> {
  const operation: Operation = operations[name]
  const schemas = Object.fromEntries(propertiesOf(operation.query))
  return Object.fromEntries(Object.entries(query).map(([field, text]) => [field, queryValue(schemas[field]!, text)]))
}

function curl(request: Request): string {
  const { method, isPublic, headers = {}, body } = request
  const lines = [`curl '${urlOf(request, true)}'`]
  if (method !== 'get' && !(method === 'post' && body)) lines.push(`-X ${method.toUpperCase()}`)
  if (!isPublic) lines.push('-H "Authorization: Bearer $TONEARM_KEY"')
  for (const [name, value] of Object.entries(headers)) lines.push(`-H '${name}: ${value}'`)
  if (body) {
    lines.push(`-H 'Content-Type: application/json'`)
    lines.push(`-d '${JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`)}'`)
  }
  return lines.join(' \\\n  ')
}

function typescript({ name, method, path, isPublic, params, query, headers, body }: Request): string {
  const parts = Object.entries({ params, query: typedQuery(name, query), headers, body }).filter(
    ([name, part]) => (name === 'body' && part) || !isEmpty(part),
  )
  const rest = parts.map(([name, part]) => `  ${name}: ${literal(part, TYPESCRIPT, 2)},\n`).join('')
  const options = [`base_url: '${EXAMPLE_ORIGIN}'`, ...(isPublic ? [] : ['api_key: process.env.TONEARM_KEY!'])]
  const client = options.length > 1 ? `{\n${options.map((option) => `  ${option},\n`).join('')}}` : `{ ${options[0]} }`
  return `import { createClient } from '@tonearm/client'

const client = createClient(${client})
const result = await client.${method}('${path}'${rest && `, {\n${rest}}`})
if (!result.ok) throw new Error(\`\${result.code}: \${result.message}\`)
console.log(result)`
}

function python({ name, isPublic, params, query, headers, body }: Request): string {
  const operation: Operation = operations[name]
  const values = Object.keys(operation.params?.shape ?? {}).map((param) => JSON.stringify(params?.[param] ?? param))
  const options = Object.entries({ ...typedQuery(name, query), ...headers }).map(
    ([field, value]) => `${safe(field)}=${literal(value, PYTHON, 4)}`,
  )
  const sent = (depth: number) => [...values, ...(body ? [literal(body, PYTHON, depth)] : []), ...options]
  const call = `client.${snake(name)}(`
  const line = `result = ${call}${sent(0).join(', ')})`
  const isShort = !line.includes('\n') && line.length <= WIDTH
  // Only an object is passed, so that its braces enclose the lines.
  const isObject = body && sent(0).length === 1
  const lines = isObject
    ? `result = ${call}${literal(body, PYTHON, 0)})`
    : `result = ${call}\n${sent(4)
        .map((part) => `    ${part},\n`)
        .join('')})`
  const key = isPublic ? '' : `, os.environ["TONEARM_KEY"]`
  return `${isPublic ? '' : 'import os\n\n'}from tonearm import Tonearm

client = Tonearm("${EXAMPLE_ORIGIN}"${key})
${isShort ? line : lines}
print(result)`
}

/** Returns a request in curl, and with our clients in TypeScript and Python. */
export const samplesOf = (request: Request): Sample[] => [
  { language: 'bash', code: curl(request) },
  { language: 'ts', code: typescript(request) },
  { language: 'python', code: python(request) },
]
