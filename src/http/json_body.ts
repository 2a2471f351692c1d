import type { Context as Request } from 'hono'

import { ApiError } from '../errors.ts'

/** A JSON body, of which nothing is lost: what JavaScript would change without a word is refused (docs/decisions/0064). */

interface Issue {
  path: string
  message: string
}

/** Wrong fields that one answer names at most. */
export const MAX_ERRORS = 50

const HALF = 'contains an unpaired surrogate (half a character): send the whole character or leave it out'

/** Stands for a number that a double does not hold. */
const INEXACT = Symbol('inexact')

function isInexact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true
  if (value === 0) return /[1-9]/.test(source.replace(/e.*/i, ''))
  if (!/^-?\d+$/.test(source) || Number.isSafeInteger(value)) return false
  // JavaScript writes 2 ** 63 as 9223372036854776000, which is another number and comes back as it was sent.
  return BigInt(source) !== BigInt(value) && source !== String(value)
}

/** The reviver's third argument (ECMAScript, JSON.parse source text access), which TypeScript does not know. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const markInexact: Reviver = (_, value, { source = '' }) =>
  typeof value === 'number' && isInexact(value, source) ? INEXACT : value

/** The faults of a value: marked numbers, unpaired surrogates, and `__proto__`. */
function issuesOf(root: unknown): Issue[] {
  const issues: Issue[] = []
  const left: [string, unknown][] = [['', root]]
  for (let next = left.pop(); next; next = left.pop()) {
    const [path, value] = next
    const say = (at: string, message: string) => issues.push({ path: at.toWellFormed() || 'body', message })
    if (value === INEXACT) say(path, 'is a number that cannot be stored exactly: send it as a string')
    if (typeof value === 'string' && !value.isWellFormed()) say(path, HALF)
    if (typeof value !== 'object' || value === null) continue
    for (const [key, one] of Object.entries(value)) {
      const at = path === '' ? key : `${path}.${key}`
      if (key === '__proto__') say(at, 'must not be used as a name')
      if (!key.isWellFormed()) say(at, HALF)
      left.push([at, one])
    }
  }
  return issues
}

/** Whether a text may hold what `issuesOf` looks for. */
const SUSPECT = /\\u|__proto__|\d{16}|\d[eE]/

function parse(text: string): unknown {
  if (!SUSPECT.test(text)) return JSON.parse(text)
  let value: unknown
  try {
    value = JSON.parse(text, markInexact as never)
  } catch (error) {
    // JSON.parse recurses when it has a reviver. Values nested this deeply fail every schema.
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
  const issues = issuesOf(value)
  if (issues.length === 0) return value
  throw new ApiError('invalid_request', `${issues[0]!.path}: ${issues[0]!.message}`, issues.slice(0, MAX_ERRORS))
}

/** The value of a body. It must be JSON in UTF-8 and say so; an absent one counts as `{}`, so that its missing fields are named. */
export async function readJson({ req }: Request): Promise<unknown> {
  // Not `text()`: workerd warns of it where the type is not one of text.
  const bytes = await req.arrayBuffer()
  if (bytes.byteLength === 0) return {}
  const type = req.header('content-type') ?? ''
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type))
    throw new ApiError('unsupported_media_type', 'Send the body as JSON with the header Content-Type: application/json')
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type) ?? []
  if (!/^(utf-?8|us-ascii)$/i.test(charset)) throw new ApiError('unsupported_media_type', 'Send the body in UTF-8')
  try {
    return parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes))
  } catch (error) {
    throw error instanceof ApiError ? error : new ApiError('invalid_json', 'The body is not valid JSON in UTF-8')
  }
}
