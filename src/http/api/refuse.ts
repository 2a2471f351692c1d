import type * as z from 'zod'

import type { ErrorCode } from '../../contract/error_status.ts'
import type { Operation } from '../../contract/operation.ts'
import { ApiError, notFound } from '../../core/errors.ts'
import { MAX_ERRORS } from './json_body.ts'
import { messageOf, REQUIRED, ruleOf } from './message.ts'
import { nearestName } from './nearest.ts'

/** Error responses to input that the schemas of an operation reject. */

/** Returns the resource name in the 404 message for this parameter. Handlers use the same name. */
const nounOf = ({ nouns }: Operation, param: string) =>
  nouns?.[param] ?? param.replace(/_(id|index)$/, '').replaceAll('_', ' ')

export type Target = 'param' | 'query' | 'header' | 'json'

/** Issues have their input, which their messages mention. */
const UNKNOWN = 'is not a known field'
export const ISSUES = { error: ruleOf, reportInput: true }

/** Throws the issues of a failed parse as an error response. A malformed id in a path returns 404, like an unknown id (docs/decisions/0008). */
export function refuse(operation: Operation, target: Target, error: z.core.$ZodError): never {
  const isId = ({ path }: z.core.$ZodIssue) => target === 'param' && operation.nouns?.[String(path[0])] !== null
  const ids = error.issues.filter(isId)
  if (ids.length > 0) throw notFound(nounOf(operation, String(ids[0]?.path[0])))
  const errors = error.issues.flatMap((issue) => {
    const path = issue.path.map(String)
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : null
    return unknown
      ? unknown.map((key) => ({ path: [...path, key].join('.'), message: unknownField(operation, target, path, key) }))
      : [{ path: path.join('.') || 'body', message: messageOf(issue) }]
  })
  const code: ErrorCode = error.issues.every((issue) => issue.code === 'unrecognized_keys')
    ? 'unknown_field'
    : 'invalid_request'
  // A required field is often there under another name.
  const unknown = errors[0]?.message === REQUIRED ? errors.find(({ message }) => message.startsWith(UNKNOWN)) : null
  const shown = [...errors.slice(0, 1), ...(unknown ? [unknown] : [])]
  throw new ApiError(code, shown.map(({ path, message }) => `${path}: ${message}`).join('; '), {
    errors: errors.slice(0, MAX_ERRORS),
  })
}

/** Returns the message for an unknown field. It suggests a field only for the outermost object, because deeper ones may have several schemas. */
function unknownField(operation: Operation, target: Target, path: string[], key: string): string {
  const schema = target === 'json' ? operation.body : operation.query
  const known = path.length === 0 && schema && 'shape' in schema && nearestName(key, Object.keys(schema.shape))
  return known ? `${UNKNOWN}; did you mean ${known}?` : UNKNOWN
}

/** Returns a parsed body as its schema returns it. Throws the issues as an error response. */
export function checkBody(operation: Operation, schema: z.ZodType, json: unknown): unknown {
  const { success, data, error } = schema.safeParse(json, ISSUES)
  if (!success) refuse(operation, 'json', error)
  return data
}
