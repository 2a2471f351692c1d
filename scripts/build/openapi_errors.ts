import { type ErrorCode, ERROR_STATUS } from '../../src/contract/error_status.ts'
import { ERROR_MEANINGS } from '../../src/contract/errors.ts'
import { errorsOf, type Operation } from '../../src/contract/operation.ts'
import { type Json, ref } from './openapi_schema.ts'

/** The error responses of operations. Operations with the same codes for a status share a response, because there are ten operations to each. */

/** Headers of responses that clients need. Those that all responses have, such as `Cache-Control: no-store`, are not among them. */
export const HEADERS = {
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Idempotency-Replayed': {
    description: 'Only if this is the first answer again, to a request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
  ETag: {
    description:
      'The `version` in quotation marks, for `If-Match`. Other values of the response can change without it, so there is no 304.',
    schema: { type: 'string', pattern: String.raw`^"\d{1,15}"$` },
  },
}
export const header = (name: keyof typeof HEADERS) => ({ [name]: { $ref: `#/components/headers/${name}` } })

/** Errors whose responses say when to repeat the request. */
const REPEATABLE: ErrorCode[] = ['request_in_flight', 'rate_limited', 'unavailable']
/** Errors that every operation can return. */
const ANY_OPERATION: ErrorCode[] = ['internal', 'not_configured', 'unavailable']

const pascal = (code: string) => code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
const responseName = (codes: ErrorCode[]) => codes.map(pascal).join('Or')

/** Returns the codes of an operation's errors by their status. */
function codesByStatus(operation: Operation): [string, ErrorCode[]][] {
  const groups = Object.groupBy(errorsOf(operation), (code) => ERROR_STATUS[code])
  return [...Object.entries<ErrorCode[]>(groups), ['5XX', ANY_OPERATION]]
}

const errorResponse = (codes: ErrorCode[]) => ({
  description: codes.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code]}`).join('\n\n'),
  ...(codes.some((code) => REPEATABLE.includes(code)) && { headers: header('Retry-After') }),
  content: {
    'application/json': {
      schema: {
        allOf: [
          { $ref: ref('ErrorBody') },
          {
            type: 'object',
            required: ['code'],
            properties: { code: { type: 'string', enum: codes, description: 'The possible reasons for this status.' } },
          },
        ],
      },
    },
  },
})

/** Returns the error responses of an operation by their status, as references. */
export const errorResponses = (operation: Operation): Json =>
  Object.fromEntries(
    codesByStatus(operation).map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${responseName(codes)}` },
    ]),
  )

/** Returns all error responses of these operations by their names. */
export const sharedErrors = (operations: Operation[]): Json =>
  Object.fromEntries(
    operations.flatMap(codesByStatus).map(([, codes]) => [responseName(codes), errorResponse(codes)] as const),
  )
