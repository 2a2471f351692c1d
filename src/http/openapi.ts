import * as z from 'zod'

import { ApiKey } from '../contract/api_key.ts'
import { Collection } from '../contract/collection.ts'
import { ImageColor } from '../contract/color.ts'
import { ErrorBody } from '../contract/common.ts'
import { ERRORS } from '../contract/errors.ts'
import { Limit } from '../contract/limit.ts'
import { CoverImage, UploadHandle } from '../contract/media.ts'
import { errorsOf, type Operation, type Operations } from '../contract/operation.ts'
import { Organization } from '../contract/organization.ts'
import { Levels, Playback, PlaybackVariant, PlayedTrack, PlaySession, SessionTrack } from '../contract/play.ts'
import { Playlist, PlaylistTrack } from '../contract/playlist.ts'
import { Reprocess } from '../contract/reprocess.ts'
import { ListedTrack, Track } from '../contract/track.ts'
import { TrackVariant } from '../contract/track_variant.ts'
import { UploadSession } from '../contract/upload.ts'
import { Variant } from '../contract/variant.ts'

/** Schemas that stand once under `components` and are referred to by name. */
const NAMED = {
  ApiKey,
  Collection,
  CoverImage,
  Error: ErrorBody,
  ImageColor,
  Levels,
  Limit,
  ListedTrack,
  Organization,
  Playback,
  PlaybackVariant,
  PlayedTrack,
  Playlist,
  PlaylistTrack,
  PlaySession,
  Reprocess,
  SessionTrack,
  Track,
  TrackVariant,
  UploadHandle,
  UploadSession,
  Variant,
}

type Json = Record<string, unknown>

/** The document's own style: no `$schema`, no long UUID patterns, and room for new fields in answers. */
function tidy(context: { jsonSchema: Json }): void {
  const schema = context.jsonSchema
  if (schema.format === 'uuid') delete schema.pattern
  if (schema.format === 'date-time') delete schema.pattern
}

const registry = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id })

const ref = (id: string) => `#/components/schemas/${id}`

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  // The schema itself is put beside the named ones, so that it may refer to them.
  const own = z.registry<{ id: string }>()
  for (const [id, named] of Object.entries(NAMED)) own.add(named, { id })
  own.add(schema, { id: '_' })
  const { schemas } = z.toJSONSchema(own, { io, uri: ref, override: tidy, unrepresentable: 'any' })
  const { $schema: _schema, $id: _id, ...rest } = schemas['_'] as Json
  return rest
}

function components(): Json {
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: ref, override: tidy, unrepresentable: 'any' })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _schema, $id: _id, ...schema }]) => [id, schema]),
  )
}

function parameters(schema: z.ZodObject | undefined, where: 'path' | 'query' | 'header'): Json[] {
  if (!schema) return []
  const { properties = {} } = toSchema(schema, 'output') as { properties?: Record<string, Json> }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path',
    schema: property,
  }))
}

/** Every POST takes it (docs/architecture.md#repeated-requests). */
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A request with the same key and body within 24 hours gets the first answer again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const content = (schema: Json) => ({ 'application/json': { schema } })

function describe(name: string, operation: Operation): Json {
  const refusals = Object.groupBy(errorsOf(operation), (code) => ERRORS[code].status)
  const { access } = operation
  const keys = access.length > 0 ? `Keys: ${access.join(', ')}.` : 'Public: the id of the play session is the secret.'
  return {
    operationId: name,
    summary: operation.summary,
    description: keys,
    tags: [operation.tag],
    security: access.length > 0 ? [{ bearer: [] }] : [],
    parameters: [
      ...parameters(operation.params, 'path'),
      ...parameters(operation.query, 'query'),
      ...parameters(operation.headers, 'header'),
      ...(operation.method === 'post' ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(operation.body && {
      requestBody: { required: true, content: content(toSchema(operation.body, 'input')) },
    }),
    responses: {
      200: { description: 'Success', content: content(toSchema(operation.response, 'input')) },
      ...Object.fromEntries(
        Object.entries(refusals).map(([status, codes]) => [
          status,
          {
            description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
            content: content({ $ref: ref('Error') }),
          },
        ]),
      ),
    },
  }
}

/** The OpenAPI 3.1 document of a table of operations. */
export function openApiDocument(operations: Operations, base_url: string): Json {
  const paths: Record<string, Json> = {}
  for (const [name, operation] of Object.entries(operations)) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(name, operation) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tonearm',
      version: '1.0.0',
      description: 'Stores, transcodes and delivers audio.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: base_url }],
    tags: [...new Set(Object.values(operations).map((o) => o.tag))].map((tag) => ({ name: tag })),
    paths,
    components: {
      schemas: components(),
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'An API key' } },
    },
  }
}
