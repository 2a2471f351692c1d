import type * as z from 'zod'

import { API_TAGS } from '../../src/contract/api_tags.ts'
import { ERROR_STATUS } from '../../src/contract/error_status.ts'
import { ERROR_MEANINGS } from '../../src/contract/errors.ts'
import { EVENT_TYPES, EVENTS, eventName, TonearmEvent } from '../../src/contract/event.ts'
import { errorsOf, type Operation, type Operations } from '../../src/contract/operation.ts'
import { inheritDescriptions } from './descriptions.ts'
import { type Json, namedSchemas, ref, toSchema } from './openapi_schema.ts'

/** One request to an operation and its response. Path parameters and query parameters are strings. */
export interface OperationExample {
  params?: Record<string, string>
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Json
  response: Json
}

/** The meanings of all error codes. They are not in the contract, because the Worker would contain them too. */
const CODES = Object.entries(ERROR_STATUS)
  .map(([code, status]) => `- \`${code}\` (${status}): ${ERROR_MEANINGS[code as keyof typeof ERROR_STATUS]}`)
  .join('\n')

/** Returns all named schemas. */
function components(): Json {
  const { ErrorCode, ...schemas } = namedSchemas()
  for (const type of EVENT_TYPES) schemas[eventName(type)]!.description = EVENTS[type].meaning
  return { ...schemas, ErrorCode: { ...ErrorCode, description: CODES } }
}

function parameters(schema: z.ZodObject | undefined, where: 'path' | 'query' | 'header'): Json[] {
  if (!schema) return []
  const { properties = {} } = toSchema(schema, 'output') as { properties?: Record<string, Json> }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: where,
    required: where === 'path',
    ...(description !== undefined && { description }),
    schema,
  }))
}

/** A header that all POST operations with a key accept (docs/architecture.md#repeated-requests). */
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A request with the same key and body within 24 hours gets the first answer again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const content = (schema: Json, example?: Json, isText?: true) => {
  const described = { schema, ...(example && { example }) }
  return { 'application/json': described, ...(isText && { 'text/plain': described }) }
}

/** Adds the values that an example has for parameters. */
const withExamples = (described: Json[], values: Record<string, string> = {}) =>
  described.map((parameter) => {
    const value = values[String(parameter.name)]
    if (value === undefined) return parameter
    const { type } = parameter.schema as Json
    return { ...parameter, example: type === 'integer' ? Number(value) : value }
  })

function describe(name: string, operation: Operation, example?: OperationExample): Json {
  const refusals = Object.groupBy(errorsOf(operation), (code) => ERROR_STATUS[code])
  const { access, tag, guide } = operation
  const secret = operation.is_report ? '`heard_token` of the play session' : 'id of the play session'
  const keys = access.length > 0 ? `Keys: ${access.join(', ')}.` : `Public: the ${secret} is the secret.`
  return {
    operationId: name,
    summary: operation.summary,
    description: keys,
    tags: [tag],
    externalDocs: { description: guide.replace(/^./, (letter) => letter.toUpperCase()), url: `/docs/${guide}` },
    security: access.length > 0 ? [{ bearer: [] }] : [],
    parameters: [
      ...withExamples(parameters(operation.params, 'path'), example?.params),
      ...withExamples(parameters(operation.query, 'query'), example?.query),
      ...withExamples(parameters(operation.headers, 'header'), example?.headers),
      ...(operation.method === 'post' && access.length > 0 ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(operation.body && {
      requestBody: {
        required: !operation.body.safeParse({}).success,
        content: content(toSchema(operation.body, 'input'), example?.body, operation.is_text),
      },
    }),
    responses: {
      ...(operation.is_report
        ? { 204: { description: 'Success' } }
        : {
            200: {
              description: 'Success',
              content: {
                ...content(toSchema(operation.response, 'input'), example?.response),
                ...(operation.csv && { 'text/csv': { schema: { type: 'string' } } }),
              },
            },
          }),
      ...Object.fromEntries(
        Object.entries(refusals).map(([status, codes]) => [
          status,
          {
            description: codes.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code]}`).join('\n\n'),
            content: content({ $ref: ref('ErrorBody') }),
          },
        ]),
      ),
    },
  }
}

/** The headers of a webhook delivery (Standard Webhooks 1.0). */
const DELIVERY = {
  'webhook-id': 'The `id` of the event, the same on every delivery of it.',
  'webhook-timestamp': 'When this delivery was sent, in seconds since 1970.',
  'webhook-signature': 'Signatures with a space between them, `v1,` and base64 each.',
}

/** Returns the webhook requests, one for each type of event. */
function webhooks(): Json {
  const headers = Object.entries(DELIVERY).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  }))
  return Object.fromEntries(
    TonearmEvent.options.map((event) => {
      const type = event.shape.type.value
      const post = {
        operationId: type,
        summary: EVENTS[type].meaning,
        tags: ['Events'],
        parameters: headers,
        requestBody: { required: true, content: content({ $ref: ref(eventName(type)) }) },
        responses: { '2XX': { description: 'Delivered; everything else is tried again.' } },
      }
      return [type, { post }]
    }),
  )
}

/** Returns the OpenAPI 3.1 document for a table of operations. Its server is the origin that serves the document. */
export function openApiDocument(operations: Operations, examples: Record<string, OperationExample> = {}): Json {
  const paths: Record<string, Json> = {}
  for (const [name, operation] of Object.entries(operations)) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(name, operation, examples[name]) }
  }
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Tonearm',
      version: '1.0.0',
      description: 'Stores, transcodes and delivers audio.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(API_TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhooks(),
    components: {
      schemas: components(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'An API key' } },
    },
  }
  inheritDescriptions(document)
  return document
}
