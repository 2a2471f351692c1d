import type { Context as HonoContext } from 'hono'

import { ApiError } from '../../core/errors.ts'

/** Parses JSON bodies without loss. Values that JavaScript would change silently are refused (docs/decisions/0064). */

interface Issue {
  path: string
  message: string
}

/** Maximum number of invalid fields that a response lists. */
export const MAX_ERRORS = 50

const HALF = 'contains an unpaired surrogate (half a character): send the whole character or leave it out'

/** Replaces the numbers that a double cannot represent, so that `issuesOf` can find them. */
const INEXACT = Symbol('inexact')

function isInexact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true
  if (value === 0) return /[1-9]/.test(source.replace(/e.*/i, ''))
  if (!/^-?\d+$/.test(source) || Number.isSafeInteger(value)) return false
  // JavaScript writes 2 ** 63 as 9223372036854776000. This is a different integer, but a caller who sends that text gets the same text back.
  return BigInt(source) !== BigInt(value) && source !== String(value)
}

/** TypeScript's types lack the third argument of a reviver (ECMAScript, JSON.parse source text access). */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const markInexact: Reviver = (_, value, { source = '' }) =>
  typeof value === 'number' && isInexact(value, source) ? INEXACT : value

/** Returns the issues in a value: marked numbers, unpaired surrogates, and the name `__proto__`. */
function issuesOf(root: unknown): Issue[] {
  const issues: Issue[] = []
  const pending: [string, unknown][] = [['', root]]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [path, value] = next
    const report = (at: string, message: string) => issues.push({ path: at.toWellFormed() || 'body', message })
    if (value === INEXACT) report(path, 'is a number that cannot be stored exactly: send it as a string')
    if (typeof value === 'string' && !value.isWellFormed()) report(path, HALF)
    if (typeof value !== 'object' || value === null) continue
    for (const [key, child] of Object.entries(value)) {
      const at = path === '' ? key : `${path}.${key}`
      if (key === '__proto__') report(at, 'must not be used as a name')
      if (!key.isWellFormed()) report(at, HALF)
      pending.push([at, child])
    }
  }
  return issues
}

/** Matches every text that may have issues. All other texts are parsed without the checks. */
const SUSPECT = /\\u|__proto__|\d{16}|\d[eE]/

function parse(text: string): unknown {
  if (!SUSPECT.test(text)) return JSON.parse(text)
  let value: unknown
  try {
    value = JSON.parse(text, markInexact as never)
  } catch (error) {
    // JSON.parse recurses if it has a reviver, so deep nesting overflows the stack. Such a value is invalid for every schema.
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
  const issues = issuesOf(value)
  if (issues.length === 0) return value
  throw new ApiError('invalid_request', `${issues[0]!.path}: ${issues[0]!.message}`, {
    errors: issues.slice(0, MAX_ERRORS),
  })
}

/** Returns the 413 for a body with more than `most` bytes. */
export const tooLarge = (most: number) => new ApiError('payload_too_large', `The body must be at most ${most} bytes`)

/** Reads a body without Hono. Throws a 413 as soon as it has received more than `most` bytes. */
export async function readBytes({ body }: Request, most: number): Promise<ArrayBuffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > most) throw tooLarge(most)
    chunks.push(chunk)
  }
  return new Blob(chunks).arrayBuffer()
}

/**
 * Parses a body as JSON in UTF-8, which its `Content-Type` must declare, unless the operation also accepts text. An empty body counts as `{}`, so that
 * the response lists the missing fields.
 */
export function parseJson(bytes: ArrayBuffer | Uint8Array, type: string, isText = false): unknown {
  if (bytes.byteLength === 0) return {}
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type) && !(isText && /^text\/plain\s*(;|$)/i.test(type)))
    throw new ApiError(
      'unsupported_media_type',
      `Send the body as JSON with the header Content-Type: application/json${isText ? ' or text/plain' : ''}`,
    )
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type) ?? []
  if (!/^(utf-?8|us-ascii)$/i.test(charset)) throw new ApiError('unsupported_media_type', 'Send the body in UTF-8')
  try {
    return parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes))
  } catch (error) {
    throw error instanceof ApiError ? error : new ApiError('invalid_json', 'The body is not valid JSON in UTF-8')
  }
}

/** Reads and parses the body of a request to the app. `text()` is not used because workerd logs a warning if the content type is not text. */
export const readJson = async ({ req }: HonoContext): Promise<unknown> =>
  parseJson(await req.arrayBuffer(), req.header('content-type') ?? '')
