import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'

import { buildDocument } from '../../scripts/build/document.ts'
import type { OperationExample } from '../../scripts/build/openapi.ts'
import { clientOperations as operations } from '../../src/contract/client_operations.ts'
import { ERROR_STATUS } from '../../src/contract/error_status.ts'
import { errorsOf, type Operation } from '../../src/contract/operation.ts'
import exampleFile from '../../src/reference/examples.json' with { type: 'json' }

/** Tests the content of the document at `GET /openapi.json`. `test/e2e/browser.test.ts` reads it from the service. */

interface Schema {
  $ref?: string
  description?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  required?: string[]
}
type Content = Record<string, { schema: Schema; example?: object }>
interface Parameter {
  name: string
  in: string
  required: boolean
  schema: Schema
  example?: unknown
}
interface Response {
  content: Content
}
interface Described {
  operationId: string
  security: object[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Response>
}
interface Document {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, Described>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Response>
    parameters: Record<string, Parameter>
  }
}

const examples: Record<string, OperationExample> = exampleFile
const text = JSON.stringify(await buildDocument())
const document = JSON.parse(text) as Document
const table: [string, Operation][] = Object.entries(operations)
/** Returns what a reference such as `#/components/schemas/Track` refers to. Other values are returned as they are. */
const resolve = <T extends object>(part: T): T =>
  '$ref' in part
    ? (String(part.$ref)
        .slice(2)
        .split('/')
        .reduce((value, key) => (value as Record<string, object>)[key]!, document as object) as T)
    : part
/** Returns the description of an operation, with its shared parameters and responses. */
function described({ path, method }: Operation): Described {
  const { parameters, responses, ...rest } = document.paths[path]![method]!
  const resolved = Object.entries(responses).map(([status, response]) => [status, resolve(response)])
  return {
    ...rest,
    parameters: parameters.map(resolve),
    responses: Object.fromEntries(resolved) as Described['responses'],
  }
}
const json = (part: { content: Content }) => part.content['application/json']!.schema
const parameter = (operation: Operation, name: string) =>
  described(operation).parameters.find((found) => found.name === name)

/** All values of a key, anywhere in the document. */
function every(value: unknown, key: string): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...every(inner, key)])
}

describe('the document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(JSON.parse(text))
    expect(errors).toBeUndefined()
    expect([valid, validator.version]).toEqual([true, '3.1'])
  })

  it('has the version of the API', () => {
    expect(document.info.version).toBe('1.0.0')
  })

  it('resolves every reference', () => {
    const refs = every(document, '$ref') as string[]
    expect(refs.length).toBeGreaterThan(100)
    for (const $ref of refs) expect([$ref, typeof resolve({ $ref })]).toEqual([$ref, 'object'])
  })

  it('contains no schema that the generating library adds', () => {
    for (const key of ['$schema', '$id', '$defs', '~standard']) expect(every(document, key)).toEqual([])
  })
})

describe.each(table)('%s', (name, operation) => {
  it('is listed under its name, with every status that it can return and the codes of each', () => {
    const { operationId, responses, security } = described(operation)
    expect(operationId).toBe(name)
    const codes = Object.groupBy(errorsOf(operation), (code) => ERROR_STATUS[code])
    expect(Object.keys(responses)).toEqual([operation.is_report ? '204' : '200', ...Object.keys(codes), '5XX'])
    for (const [status, listed] of Object.entries(codes)) {
      const [body, own] = json(responses[status]!).allOf!
      expect(body).toEqual({ $ref: '#/components/schemas/ErrorBody' })
      expect(own!.properties!.code!.enum).toEqual(listed)
    }
    expect(security).toEqual(operation.access.length > 0 ? [{ bearer: [] }] : [])
  })

  it('requires a body only when a field is required', () => {
    const { requestBody } = described(operation)
    const forms = requestBody ? (json(requestBody).anyOf ?? [json(requestBody)]).map(resolve) : []
    if (requestBody) expect(requestBody.required).toBe(forms.every(({ required = [] }) => required.length > 0))
  })

  it('describes every parameter in its path', () => {
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, part]) => part!)
    const parameters = described(operation).parameters.filter((found) => found.in === 'path')
    expect(parameters.map((found) => found.name).toSorted()).toEqual(inPath.toSorted())
    for (const found of parameters) {
      expect(found).toMatchObject({ required: true, schema: { type: 'string' } })
      // A play session may also be a signed token.
      const form = found.name === 'play_session_id' ? { pattern: expect.any(String) } : { format: 'uuid' }
      if (found.name.endsWith('_id')) expect(found.schema).toMatchObject(form)
    }
  })

  it('has an example that its schemas accept', () => {
    const { requestBody, responses, parameters } = described(operation)
    const example = examples[name]!
    expect(example, `request ${name} in examples_scenario.ts, and run npm run examples`).toBeDefined()
    if (!operation.is_report) expect(responses['200']!.content['application/json']!.example).toEqual(example.response)
    expect(requestBody?.content['application/json']!.example).toEqual(example.body)
    const inPath = parameters.filter((found) => found.in === 'path')
    expect(inPath.map((found) => found.example)).toEqual(inPath.map((found) => example.params![found.name]))
    for (const part of ['params', 'query', 'headers', 'body'] as const) operation[part]?.parse(example[part] ?? {})
    const problems = operation.response.safeParse(example.response).error?.issues ?? []
    expect(problems).toEqual([])
  })

  it('has a response with ok and api_request_id, or none', () => {
    if (operation.is_report) {
      expect(described(operation).responses['204']).toEqual({ description: 'Success' })
      return
    }
    const schema = json(described(operation).responses['200']!)
    expect(schema.properties).toMatchObject({
      ok: { const: true },
      api_request_id: { type: 'string', format: 'uuid' },
    })
    expect(schema.required).toContain('ok')
    expect(schema.required).not.toContain('api_request_id')
  })
})

describe('parameters', () => {
  it('describe limit and offset as integers with ranges and defaults', () => {
    for (const name of ['listCollections', 'listCollectionTracks', 'listVariants'] as const) {
      const limit = { name: 'limit', in: 'query', required: false }
      expect(parameter(operations[name], 'limit')).toMatchObject({
        ...limit,
        schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      })
      expect(parameter(operations[name], 'offset')).toMatchObject({
        ...limit,
        name: 'offset',
        schema: { type: 'integer', minimum: 0, default: 0 },
      })
    }
  })

  it('list the statuses and parts of tracks as arrays that are sent with commas', () => {
    const list = { explode: false, style: 'form', schema: { type: 'array' } }
    const { include, status } = {
      include: parameter(operations.listTracks, 'include'),
      status: parameter(operations.listTracks, 'status'),
    }
    expect(include).toMatchObject({
      ...list,
      schema: { items: { enum: ['levels', 'loudness', 'artwork', 'collection', 'state', 'variants', 'ids'] } },
    })
    expect(status).toMatchObject({ ...list, schema: { items: { $ref: '#/components/schemas/TrackStatus' } } })
  })
})

describe('bodies', () => {
  const body = (operation: Operation) => json(described(operation).requestBody!)

  it.each([
    ['createCollection', ['title']],
    ['createTrack', ['collection_id', 'file_name']],
    ['createUploadSession', ['collection_id']],
    ['createSessionTrack', ['file_name']],
    ['updateTrack', undefined],
    ['updateOrganization', undefined],
    ['updateCollection', undefined],
    ['createCollectionPlaySession', ['collection_id']],
    ['createTrackPlaySession', ['track_id']],
    ['createPlaylistPlaySession', ['playlist_id']],
  ] as const)('%s requires %j', (name, required) => {
    expect(body(operations[name]).required).toEqual(required)
  })

  it('describe the limits of expires_in and the pattern of colors', () => {
    expect(body(operations.createTrackPlaySession).properties).toMatchObject({
      expires_in: { type: 'number', minimum: 60, maximum: 86400, default: 3600 },
    })
    expect(body(operations.updateOrganization).properties).toMatchObject({
      theme: { type: 'array', items: { type: 'string', pattern: '^#[0-9A-Fa-f]{6}$' } },
    })
  })
})

/** The fields in the tables of the specification (§2), written by hand; fields that we added come last. */
const FIELDS = {
  Organization:
    'id name image_colors theme is_theme_overridable is_cover_overridable player_color player_subtitle uses_tags progress_days max_bytes version',
  Collection:
    'id creator_id organization_index title metadata image_colors theme is_cover_overridable is_theme_overridable player_color player_subtitle created_at updated_at version',
  Track:
    'id organization_id collection_id creator_id index duration file_name file_name_original info organization_index order metadata is_cover_overridable is_theme_overridable player_title player_subtitle player_color image_colors track_status_id status tags created_at updated_at version chapters episode file_tags edited_tags',
  ImageColor: 'hex area lightness saturation',
  UploadHandle: 'method upload_url ttl expires_at',
  Variant: 'id name type format bitrate index codec channels start length content_type',
  UploadSession: 'id creator_id collection_id organization_index metadata expires_at max_bytes max_tracks',
  PlaySession: 'id creator_id organization_index metadata variants is_downloadable expires_at',
  CoverImage: 'icon small regular',
  Levels: 'levels',
  PlaybackVariant: 'path url variant',
  SessionTrack: 'id index duration order player_title player_subtitle player_color',
}

describe.each(Object.entries(FIELDS))('the schema of %s', (name, fields) => {
  it('has the fields of the specification, all of them required', () => {
    const { properties, required } = document.components.schemas[name]!
    expect(Object.keys(properties!).toSorted()).toEqual(fields.split(' ').toSorted())
    expect(required!.toSorted()).toEqual(fields.split(' ').toSorted())
  })
})

describe('the types of the fields', () => {
  const field = (schema: string, name: string) => {
    const { description: _description, ...type } = document.components.schemas[schema]!.properties![name]!
    return type
  }

  it('are those of the specification', () => {
    expect(field('Track', 'id')).toEqual({ type: 'string', format: 'uuid' })
    expect(field('Track', 'status')).toEqual({ $ref: '#/components/schemas/TrackStatus' })
    expect(document.components.schemas.TrackStatus).toMatchObject({
      enum: ['initializing', 'processing', 'fallback_processing', 'ready', 'incomplete', 'failed'],
    })
    expect(field('Track', 'duration')).toEqual({ type: 'number' })
    expect(field('Track', 'creator_id')).toEqual({ type: ['string', 'null'], format: 'uuid' })
    expect(field('Track', 'image_colors')).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/ImageColor' },
    })
    expect(field('UploadHandle', 'expires_at')).toEqual({ type: 'string', format: 'date-time' })
    expect(field('UploadHandle', 'ttl')).toMatchObject({ type: 'integer' })
    expect(field('UploadHandle', 'upload_url')).toMatchObject({ type: 'string', format: 'uri' })
    expect(field('Variant', 'bitrate')).toMatchObject({ type: 'integer' })
    expect(field('ImageColor', 'hex')).toMatchObject({ type: 'string', pattern: '^#[0-9A-Fa-f]{6}$' })
  })
})

describe('guides and examples', () => {
  it('every operation leads to its guide', () => {
    expect(described(operations.reportHeard)).toMatchObject({ 'x-guide': { description: 'Listening reports' } })
    for (const [name, operation] of table) {
      const guide = { url: `/docs/${operation.guide}` }
      expect([name, described(operation)]).toMatchObject([name, { 'x-guide': guide }])
    }
  })

  it('have an example of progress with a track', () => {
    expect(examples.getProgress!.response.tracks).toMatchObject([{ ranges: [[0, 1.5]] }])
  })
})
