import type * as z from 'zod'

import { API_TAGS } from '../../src/contract/api_tags.ts'
import { EFFECTS } from '../../src/contract/effect.ts'
import { ERROR_STATUS } from '../../src/contract/error_status.ts'
import { ERROR_MEANINGS } from '../../src/contract/errors.ts'
import { EVENT_TYPES, EVENTS, eventName, TonearmEvent } from '../../src/contract/event.ts'
import { type Operation, type Operations } from '../../src/contract/operation.ts'
import { inheritDescriptions } from './descriptions.ts'
import { errorResponses, header, HEADERS, sharedErrors } from './openapi_errors.ts'
import { type Json, namedSchemas, queryValue, ref, toSchema } from './openapi_schema.ts'

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
    // One value with commas, not a parameter for each item.
    ...(schema.type === 'array' && { style: 'form', explode: false }),
    schema,
  }))
}

const headerParameter = (name: string, required: boolean, description: string, schema: Json = {}) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string', ...schema },
})
/** The parameters that many operations or webhooks share. */
const PARAMETERS = [
  // All POST operations with a key accept it (docs/architecture.md#repeated-requests).
  headerParameter(
    'Idempotency-Key',
    false,
    'A request with the same key and body within 24 hours gets the first answer again.',
    { minLength: 1, maxLength: 255 },
  ),
  // The headers of a webhook delivery (Standard Webhooks 1.0).
  headerParameter('webhook-id', true, 'The `id` of the event, the same on every delivery of it.'),
  headerParameter('webhook-timestamp', true, 'When this delivery was sent, in seconds since 1970.'),
  headerParameter('webhook-signature', true, 'Signatures with a space between them, `v1,` and base64 each.'),
]
const parameterRef = (name: string) => ({ $ref: `#/components/parameters/${name}` })

const content = (schema: Json, example?: Json, isText?: true) => {
  const described = { schema, ...(example && { example }) }
  return { 'application/json': described, ...(isText && { 'text/plain': described }) }
}

/** Adds the values that an example has for parameters. */
const withExamples = (described: Json[], values: Record<string, string> = {}) =>
  described.map((parameter) => {
    const value = values[String(parameter.name)]
    if (value === undefined) return parameter
    return { ...parameter, example: queryValue(parameter.schema as Json, value) }
  })

/** The types of the files that an operation can return instead of JSON. */
const fileTypes = ({ csv, files }: Operation) =>
  Object.fromEntries(
    [...(csv ? ['text/csv'] : []), ...Object.keys(files ?? {})].map((type) => [
      type.split(';', 1)[0]!,
      { schema: { type: 'string' } },
    ]),
  )

const DELETES = {
  audio: 'the track already has a file',
  cover: 'there is a cover already',
  progress: '`progress_days` becomes less',
}

/** Returns what a server key must be allowed to do for this operation. */
export function describeEffect({ effect, deletes }: Operation): string {
  if (effect === 'all') return 'Effect: `read`, `write` and `delete`.'
  if (typeof effect === 'string')
    return `Effect: \`${effect}\`${deletes ? `; also \`delete\` if ${DELETES[deletes]}` : ''}.`
  const actions = EFFECTS.flatMap((one) => {
    const names = Object.keys(effect).filter((action) => effect[action] === one)
    return names.length > 0 ? `\`${one}\` for ${names.join(', ')}` : []
  })
  return `Effect: ${actions.join('; ')}.`
}

function describe(
  name: string,
  operation: Operation,
  guides: Record<string, string>,
  example?: OperationExample,
): Json {
  const { access, tag, guide } = operation
  const hasKey = operation.method === 'post' && access.length > 0
  const secret = operation.is_report ? '`heard_token` of the play session' : 'id of the play session'
  const keys = access.length > 0 ? `Keys: ${access.join(', ')}.` : `Public: the ${secret} is the secret.`
  const effect = access.includes('server') ? describeEffect(operation) : null
  return {
    operationId: name,
    summary: operation.summary,
    description: `${keys} ${effect ? `${effect} ` : ''}Guide: [${guides[guide] ?? guide}](/docs/${guide}).`,
    tags: [tag],
    // Not `externalDocs`, whose URL must be absolute: the document does not know the origin of its service.
    'x-guide': { description: guides[guide] ?? guide, url: `/docs/${guide}` },
    ...(effect && { 'x-effect': operation.effect }),
    security: access.length > 0 ? [{ bearer: [] }] : [],
    parameters: [
      ...withExamples(parameters(operation.params, 'path'), example?.params),
      ...withExamples(parameters(operation.query, 'query'), example?.query),
      ...withExamples(parameters(operation.headers, 'header'), example?.headers),
      ...(hasKey ? [parameterRef('Idempotency-Key')] : []),
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
              ...(hasKey && { headers: header('Idempotency-Replayed') }),
              ...(operation.etag && { headers: header('ETag') }),
              content: {
                ...content(toSchema(operation.response, 'input'), example?.response),
                ...fileTypes(operation),
              },
            },
          }),
      ...errorResponses(operation),
    },
  }
}

/** Returns the webhook requests, one for each type of event. */
function webhooks(): Json {
  return Object.fromEntries(
    TonearmEvent.options.map((event) => {
      const type = event.shape.type.value
      const post = {
        operationId: type,
        summary: EVENTS[type].meaning,
        tags: ['Events'],
        // The signature in the headers proves the sender.
        security: [],
        parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(parameterRef),
        requestBody: { required: true, content: content({ $ref: ref(eventName(type)) }) },
        responses: { '2XX': { description: 'Delivered; everything else is tried again.' } },
      }
      return [type, { post }]
    }),
  )
}

/**
 * Returns the OpenAPI 3.1 document for a table of operations. Its server is the origin that serves the document. `guides` are the titles of the pages
 * that explain operations.
 */
export function openApiDocument(
  operations: Operations,
  examples: Record<string, OperationExample> = {},
  guides: Record<string, string> = {},
): Json {
  const paths: Record<string, Json> = {}
  for (const [name, operation] of Object.entries(operations)) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: describe(name, operation, guides, examples[name]),
    }
  }
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Tonearm',
      version: '1.0.0',
      description: 'Stores, transcodes and delivers audio.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: '/', description: 'The service that serves this document' },
      {
        url: '{origin}',
        description: 'For a client that is generated from a copy of the document',
        variables: { origin: { default: 'http://localhost:8787', description: 'The address of the service' } },
      },
    ],
    tags: Object.entries(API_TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhooks(),
    components: {
      schemas: components(),
      responses: sharedErrors(Object.values(operations)),
      parameters: Object.fromEntries(PARAMETERS.map((parameter) => [parameter.name, parameter])),
      headers: HEADERS,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'An API key' } },
    },
  }
  inheritDescriptions(document)
  return document
}
