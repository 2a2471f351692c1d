import { describe, expect, it } from 'vitest'

import { describeValues } from '../../scripts/build/contract_comments.ts'
import { descriptionFaults, inheritDescriptions, repeatsNames } from '../../scripts/build/descriptions.ts'
import { buildDocument } from '../../scripts/build/document.ts'
import { describeEffect } from '../../scripts/build/openapi.ts'
import { clientOperations as operations } from '../../src/contract/client_operations.ts'
import type { Operation } from '../../src/contract/operation.ts'

/** Tests that every part of the OpenAPI document has a description, which comes from a comment in `src/contract`. */

type Json = Record<string, unknown>
type Schema = { description?: string; $ref?: string }
interface Document extends Json {
  paths: Record<string, Record<string, { parameters: Schema[]; description: string; 'x-effect'?: unknown }>>
  webhooks: Record<string, { post: { summary?: string } }>
  components: { schemas: Record<string, { properties: Record<string, Schema> }>; headers: Record<string, Schema> }
  tags: Schema[]
}

const document = (await buildDocument()) as Document
const faults = descriptionFaults(document)
/** Returns the additional faults after a change to a copy of the document. */
function faultsAfter(change: (copy: Document) => void): string[] {
  const copy = structuredClone(document)
  change(copy)
  return descriptionFaults(copy).filter((fault) => !faults.includes(fault))
}

describe('the descriptions of the document', () => {
  it('exist for every field, parameter, header, tag and event, and do not repeat their names', () => {
    expect(faults).toEqual([])
  })

  it.each<[string, (copy: Document) => void, string]>([
    ['field', ({ components }) => delete components.schemas.Track!.properties.duration!.description, 'Track.duration'],
    ['parameter', ({ paths }) => delete paths['/v1/track']!.get!.parameters[0]!.description, 'listTracks.limit'],
    ['tag', ({ tags }) => delete tags[2]!.description, 'Tracks'],
    ['event', ({ webhooks }) => delete webhooks['track.ready']!.post.summary, 'track.ready'],
    ['header', ({ components }) => delete components.headers['Retry-After']!.description, 'Retry-After'],
  ])('are missing if a %s has none', (_, change, place) => {
    expect(faultsAfter(change)).toEqual([`${place} has no description`])
  })

  it('say the effect of every operation that a server key may call', () => {
    for (const [name, { access, effect, path, method }] of Object.entries<Operation>(operations)) {
      const described = document.paths[path]![method]!
      expect([name, described['x-effect']]).toEqual([name, access.includes('server') ? effect : undefined])
      expect([name, described.description.includes('Effect: ')]).toEqual([name, access.includes('server')])
    }
    const effectOf = (name: keyof typeof operations) => describeEffect(operations[name])
    expect(effectOf('getTrack')).toBe('Effect: `read`.')
    expect(effectOf('renewTrackUpload')).toBe('Effect: `write`; also `delete` if the track already has a file.')
    expect(effectOf('changeTracks')).toBe('Effect: `write` for update, move, restore, reprocess; `delete` for delete.')
    expect(effectOf('createApiKey')).toBe('Effect: `read`, `write` and `delete`.')
  })

  it('are rejected if they repeat the name', () => {
    const repetitions = faultsAfter(({ components }) => {
      components.schemas.Track!.properties.duration!.description = 'The duration of this track.'
    })
    expect(repetitions).toEqual(['Track.duration has a description that repeats its name'])
  })

  it.each([
    ['The ids of the tracks', ['createZip', 'track_ids'], true],
    ['Each upload session', ['UploadSession'], true],
    ['Display name, up to 255 characters', ['Variant', 'name'], false],
    ['Seconds', ['Track', 'duration'], false],
  ])('repeat names: %j of %j: %j', (text, names, isRepeated) => {
    expect(repeatsNames(text, ...names)).toBe(isRepeated)
  })

  it('are those of the named schema for a field that refers to it, and otherwise its own', () => {
    const schemas = {
      Track: { description: 'A file', properties: {} },
      Answer: {
        properties: {
          track: { $ref: '#/components/schemas/Track' },
          previous: { anyOf: [{ $ref: '#/components/schemas/Track' }, { type: 'null' }] },
          first: { $ref: '#/components/schemas/Track', description: 'The oldest file' },
        },
      },
    }
    inheritDescriptions({ components: { schemas } })
    expect(schemas.Answer.properties).toMatchObject({
      track: { description: 'A file' },
      previous: { description: 'A file' },
      first: { description: 'The oldest file' },
    })
  })
})

describe('the comments of the contract', () => {
  const described = (source: string) => describeValues('test.ts', source).split('\n').slice(1).join('\n')

  it('describe the property, constant or element after them', () => {
    const source = `/** A shape. */
export const shape = {
  /** Seconds. */
  // A note for developers.
  length: z.number(),
  /** Shared. */
  id,
  none: z.int(),
}
const all = [/** First. */ one()]`
    expect(described(source)).toBe(`/** A shape. */
export const shape = describeConstant({
  /** Seconds. */
  // A note for developers.
  length: describeProperty(z.number(), "Seconds."),
  /** Shared. */
  id: describeProperty(id, "Shared."),
  none: z.int(),
}, "A shape.")
const all = [/** First. */ describeConstant(one(), "First.")]`)
  })

  it('lose their line breaks and citations, and link to the pages of the service', () => {
    const source = `/**
 * In two
 * lines (docs/decisions/0001), as in docs/tags.md (specification §2).
 */
const a = z.int()`
    expect(described(source)).toContain('"In two lines, as in /docs/tags."')
  })

  it('do not describe values after other code', () => {
    const source = `/** A function. */
export function one() {}
const two = z.int()`
    expect(described(source)).toBe(source)
  })
})
