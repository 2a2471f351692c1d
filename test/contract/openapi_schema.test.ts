import { describe, expect, it } from 'vitest'

import { openApiDocument } from '../../scripts/build/openapi.ts'
import { clientOperations as operations } from '../../src/contract/client_operations.ts'

/** Tests the forms of schemas and responses in the document at `GET /openapi.json`, on which generators of clients depend. */

interface Schema {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  discriminator?: { propertyName: string; mapping: Record<string, string> }
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
}

interface Response {
  headers?: object
}
interface Described {
  parameters?: object[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, Response>
}
interface Document {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> }
}
const document = openApiDocument(operations) as unknown as Document

/** All schemas of properties, anywhere in a value. */
function fieldsIn(value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return []
  const { properties = {} } = value as Schema
  return [...Object.values(properties), ...Object.values(value).flatMap(fieldsIn)]
}
const fields = fieldsIn([document.components.schemas, document.paths])

describe('the schemas', () => {
  it('name every event and every change, and the property that tells them apart', () => {
    for (const [name, property] of [
      ['TonearmEvent', 'type'],
      ['TrackChange', 'action'],
    ] as const) {
      const { oneOf, discriminator } = document.components.schemas[name]!
      expect(discriminator!.propertyName).toBe(property)
      expect(Object.values(discriminator!.mapping)).toEqual(oneOf!.map(({ $ref }) => $ref))
      for (const [value, $ref] of Object.entries(discriminator!.mapping)) {
        const { properties } = document.components.schemas[$ref.split('/').at(-1)!]!
        expect(properties![property]).toMatchObject({ const: value })
      }
    }
    const { mapping } = document.components.schemas.TonearmEvent!.discriminator!
    expect(mapping['track.ready']).toBe('#/components/schemas/TrackReadyEvent')
  })

  it('have four forms of the body of a share, each with the fields that it requires', () => {
    const { requestBody } = document.paths['/v1/share']!.post!
    const forms = requestBody!.content['application/json'].schema.anyOf!.map(({ $ref }) => $ref!.split('/').at(-1)!)
    expect(forms.map((name) => [name, document.components.schemas[name]!.required])).toEqual([
      ['ShareCreate', ['scope', 'id']],
      ['CollectionShareCreate', ['collection_id']],
      ['TrackShareCreate', ['track_id']],
      ['PlaylistShareCreate', ['playlist_id']],
    ])
  })

  it('use anyOf for null only with a named schema', () => {
    const nullable = fields.filter(({ anyOf }) => anyOf?.some(({ type }) => type === 'null'))
    for (const { anyOf } of nullable) expect(anyOf).toEqual([{ $ref: expect.any(String) as string }, { type: 'null' }])
  })

  it('have no integer below 0, and no bound that is a limit of JavaScript', () => {
    const integers = fields.filter(({ type }) => type === 'integer' || type?.includes('integer'))
    expect(integers.length).toBeGreaterThan(100)
    for (const integer of integers) {
      expect(integer.minimum).toBeGreaterThanOrEqual(0)
      expect(integer.maximum ?? 0).toBeLessThan(Number.MAX_SAFE_INTEGER)
    }
  })

  it('have a pattern only where no format says the same', () => {
    for (const { format, pattern } of fields) if (format !== 'uri') expect([format, pattern]).toContain(undefined)
  })
})

describe('headers', () => {
  const namesOf = ({ headers = {} }: Response) => Object.keys(headers)

  it('have Retry-After with each error after which the request may be repeated', () => {
    const { RateLimited, NotFound, StorageFull, InternalOrNotConfiguredOrUnavailable } = document.components.responses
    for (const response of [RateLimited, InternalOrNotConfiguredOrUnavailable])
      expect(namesOf(response!)).toEqual(['Retry-After'])
    for (const response of [NotFound, StorageFull]) expect(namesOf(response!)).toEqual([])
  })

  it('have Idempotency-Replayed with the response to a POST with a key', () => {
    const success = (path: string, method: string) => document.paths[path]![method]!.responses['200']!
    expect(namesOf(success('/v1/track', 'post'))).toEqual(['Idempotency-Replayed'])
    expect(namesOf(success('/v1/track/{track_id}', 'put'))).toEqual([])
  })

  it('have ETag with the read of every path whose PUT compares it', () => {
    const paths = Object.entries(document.paths).filter(([, { put }]) =>
      JSON.stringify(put?.parameters ?? []).includes('if-match'),
    )
    const reads = paths.flatMap(([path, { get }]) => (get ? [[path, namesOf(get.responses['200']!)]] : []))
    expect(reads).toEqual(
      [
        '/v1/organization/{organization_id}',
        '/v1/collection/{collection_id}',
        '/v1/track/{track_id}',
        '/v1/playlist/{playlist_id}/track',
        '/v1/track/{track_id}/chapters',
      ].map((path) => [path, ['ETag']]),
    )
  })
})
