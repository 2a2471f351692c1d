import {
  type ClientOperationName as OperationName,
  clientOperations as operations,
} from '../../../src/contract/client_operations.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { safe, snake } from '../../pack/python.ts'
import { EXAMPLE_ORIGIN, type Sample } from './html.ts'
import { literal, PYTHON, TYPESCRIPT, typedQuery } from './samples.ts'

/**
 * The commands of a guide in TypeScript and Python. Blocks whose commands all have the form `NAME=$(api … | field path)` get these two languages as tabs; other
 * blocks stay as they are.
 */

interface Call {
  name: OperationName
  params: string[]
  query: Record<string, string>
  body: Record<string, unknown> | undefined
  /** The variable that gets the result. Without one, the result is printed. */
  variable: string | undefined
  /** The path of the printed field, such as `totals.plays` or `tracks[0].title`. */
  field: string
}

/** `$NAME` in a value. It becomes a variable of the program. */
const VARIABLE = /^\$([A-Z_]+)$/
const KNOWN: Record<string, string> = {
  COLLECTION: 'collection_id',
  TRACK: 'track_id',
  SESSION: 'play_session_id',
  PLAYLIST: 'playlist_id',
  SHARE: 'share_id',
}
const nameOf = (variable: string) => KNOWN[variable] ?? variable.toLowerCase()
/** Marks a variable in a value until the value is a literal. */
const marked = (value: unknown): unknown => {
  if (typeof value === 'string') return value.replace(VARIABLE, (_, name: string) => `«${nameOf(name)}»`)
  if (Array.isArray(value)) return value.map(marked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, marked(part)]))
}
const unmarked = (code: string) => code.replace(/['"]«(\w+)»['"]/g, '$1').replace(/\b(\w+): \1\b(?=[,\s}])/g, '$1')

const COMMAND = /^(?:([A-Z_]+)=\$\()?api (.*?) \| field (?:"([^"]*)"|'([^']*)'|(\S+?))(\))?$/s
const WORD = /"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/gs
const FIELD = /^\w+(?:\.\w+|\[\d\])*$/

/** Returns the words of a command, without their quotes. */
const wordsOf = (command: string) =>
  [...command.matchAll(WORD)].map(([, double, single, bare]) => double?.replace(/\\(.)/g, '$1') ?? single ?? bare!)

/** Splits a block into commands, which may have several lines. */
const commandsOf = (code: string) =>
  code
    .replace(/ *#[^"'\n]*$/gm, '')
    .split(/\n(?=(?:[A-Z_]+=\$\()?(?:api|curl|echo|rm|for|kill|node) |[A-Z_]+=)/)
    .map((command) => command.replace(/\\\n\s*/g, '').trim())
    .filter(Boolean)

/** Returns the operation of a path, and the values of its parameters. */
function operationAt(method: string, path: string): [OperationName, string[]] | undefined {
  for (const [name, operation] of Object.entries(operations)) {
    if (operation.method !== method) continue
    const pattern = new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`)
    const values = pattern.exec(path)?.slice(1)
    // `collection` in /v1/play_session/collection is not an id.
    if (values?.every((value, at) => VARIABLE.test(value) || (at === 0 && operation.path.includes('{scope}'))))
      return [name as OperationName, values]
  }
  return undefined
}

function callOf(command: string): Call | undefined {
  const [, variable, request, double, single, bare, end] = COMMAND.exec(command) ?? []
  const field = double ?? single ?? bare ?? ''
  if (!request || Boolean(variable) !== Boolean(end) || !FIELD.test(field) || request.includes('$(')) return undefined
  let [method, url, text] = ['', '', undefined as string | undefined]
  const words = wordsOf(request)
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word === '-X') method = words[++at]!.toLowerCase()
    else if (word === '-d') text = words[++at]
    else if (word.startsWith('$URL/')) url = word.slice('$URL'.length)
    else return undefined
  }
  const [path = '', search] = url.split('?')
  const found = operationAt(method || (text ? 'post' : 'get'), path)
  const query = Object.fromEntries(new URLSearchParams(search))
  try {
    return (
      found && {
        name: found[0],
        params: found[1],
        query,
        body: text ? JSON.parse(text) : undefined,
        variable,
        field,
      }
    )
  } catch {
    return undefined
  }
}

/** Returns the names of the variables that a call uses. */
const usedBy = ({ params, query, body }: Call) =>
  [...JSON.stringify([params, query, body]).matchAll(/"\$([A-Z_]+)"/g)].map(([, name]) => nameOf(name!))

/** Returns the field as TypeScript reads it: elements of lists may be missing, and a variable must have a value. */
function accessOf({ name, variable }: Call, field: string): string {
  if (variable) {
    const { response }: Operation = operations[name]
    const isNullable = 'shape' in response && response.shape[field]?.safeParse(null).success
    return field.replaceAll(/\[\d\]/g, '$&!') + (isNullable ? '!' : '')
  }
  const [list = '', rest] = field.split(/(?<=\])/)
  return rest === undefined ? field : list.replace(/(\.\w+)\[/, '$1?.[') + rest.replaceAll('.', '?.')
}

function typescript(calls: Call[], unknown: string[]): string {
  const lines = calls.map((call, index) => {
    const { name, params, query, body, variable, field } = call
    const { method, path }: Operation = operations[name]
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => param!)
    const parts = Object.entries({
      ...(names.length > 0 && { params: Object.fromEntries(names.map((param, at) => [param, params[at]])) }),
      ...(Object.keys(query).length > 0 && { query: typedQuery(name, query) }),
      ...(body && { body }),
    })
    const options = parts.length > 0 ? `, ${unmarked(literal(marked(Object.fromEntries(parts)), TYPESCRIPT, 0))}` : ''
    const result = calls.length > 1 ? `result_${index + 1}` : 'result'
    const value = `${result}.${accessOf(call, field)}`
    return `const ${result} = await client.${method}('${path}'${options})
if (!${result}.ok) throw new Error(${result}.message)
${variable ? `const ${nameOf(variable)} = ${value}` : `console.log(${value})`}`
  })
  const ids = unknown.map((name) => `const ${name} = process.argv[${unknown.indexOf(name) + 2}]!\n`).join('')
  return `import { createClient } from '@tonearm/client'

const client = createClient({ base_url: '${EXAMPLE_ORIGIN}', api_key: process.env.TONEARM_KEY! })
${ids}
${lines.join('\n\n')}`
}

function python(calls: Call[], unknown: string[]): string {
  const lines = calls.map(({ name, params, query, body, variable, field }) => {
    const values = [
      ...params.map((param) => literal(marked(param), PYTHON, 0)),
      ...(body ? [literal(marked(body), PYTHON, 0)] : []),
      ...Object.entries(typedQuery(name, query)).map(
        ([key, value]) => `${safe(key)}=${literal(marked(value), PYTHON, 0)}`,
      ),
    ]
    const isLength = field.endsWith('.length')
    const keys = field
      .replace(/\.length$/, '')
      .split(/\.|(?=\[)/)
      .map((key) => (key.startsWith('[') ? key : `["${key}"]`))
    const value = `result${keys.join('')}`
    const read = isLength ? `len(${value})` : value
    const call = values.map((text) => text.replace(/['"]«(\w+)»['"]/g, '$1')).join(', ')
    return `result = client.${snake(name)}(${call})\n${variable ? `${nameOf(variable)} = ${read}` : `print(${read})`}`
  })
  const ids = unknown.map((name, at) => `${name} = sys.argv[${at + 1}]\n`).join('')
  return `import os${unknown.length > 0 ? '\nimport sys' : ''}

from tonearm import Tonearm

client = Tonearm("${EXAMPLE_ORIGIN}", os.environ["TONEARM_KEY"])
${ids}
${lines.join('\n\n')}`
}

/** Returns the commands of a block in TypeScript and Python; undefined if one of them has another form. */
export function translate(code: string): Sample[] | undefined {
  const calls = commandsOf(code).map(callOf)
  if (calls.length === 0 || calls.some((call) => !call)) return undefined
  const known = calls as Call[]
  const unknown = new Set<string>()
  const assigned = new Set<string>()
  for (const call of known) {
    for (const name of usedBy(call)) if (!assigned.has(name)) unknown.add(name)
    if (call.variable) assigned.add(nameOf(call.variable))
  }
  for (const [at, call] of known.entries())
    if (call.variable && !known.slice(at + 1).some((later) => usedBy(later).includes(nameOf(call.variable!))))
      call.variable = undefined
  const names = [...unknown]
  return [
    { language: 'ts', code: typescript(known, names) },
    { language: 'python', code: python(known, names) },
  ]
}
