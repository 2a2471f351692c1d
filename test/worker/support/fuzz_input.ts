import * as z from 'zod'

import { FORMATS, HEAVY, HOSTILE, KEYS, toJson } from './fuzz_value.ts'

/** Malformed inputs, derived from a schema and a seed, so that each run generates the same inputs. */

const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)]!

type Json = {
  type?: string
  anyOf?: Json[]
  properties?: Record<string, Json>
  required?: string[]
  items?: Json
  format?: string
} & {
  [K in 'maxLength' | 'minLength' | 'maxItems' | 'minimum' | 'maximum']?: number
}

/** Values that are just outside or just inside the limits of a field's schema. */
function edges(schema: Json): unknown[] {
  const { maxLength, maxItems, minimum, maximum, items, format = '' } = schema
  return [
    ...(FORMATS[format] ?? []),
    ...(schema.anyOf ?? []).flatMap(edges),
    ...(maxLength === undefined ? [] : ['a'.repeat(maxLength), 'a'.repeat(maxLength + 1)]),
    ...(maxItems === undefined ? [] : [Array(maxItems).fill('#123456'), Array(maxItems + 1).fill('#123456')]),
    ...(minimum === undefined ? [] : [minimum - 1, minimum - 0.5, minimum, minimum + 0.5, String(minimum)]),
    ...(maximum === undefined ? [] : [maximum + 1, maximum + 0.5, maximum, maximum - 0.5, String(maximum)]),
    ...(items === undefined ? [] : HOSTILE.filter((_, at) => at % 12 === 0).map((value) => [value])),
  ]
}

const jsonSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json

/** A random selection of `count` items of a list, in the order of the list. */
export function sample<T>(random: () => number, list: readonly T[], count: number): T[] {
  let left = list.length
  let wanted = count
  return list.filter(() => {
    const take = random() * left-- < wanted
    if (take) wanted--
    return take
  })
}

/** Bodies as text: with one invalid field, missing or unknown fields, several invalid fields, and values that are not an object. */
export function hostileBodies(schema: z.ZodObject, valid: object, random: () => number): string[] {
  const { properties = {}, required = [] } = jsonSchema(schema)
  const fields = Object.entries(properties)
  const wrong = (name: string, value: unknown) => ({ ...valid, [name]: value })
  const single = [
    ...fields.flatMap(([name, field]) => edges(field).map((value) => wrong(name, value))),
    ...fields.map(([name], at) => wrong(name, HEAVY[at % HEAVY.length])),
    ...sample(
      random,
      fields.flatMap(([name]) => HOSTILE.map((value) => wrong(name, value))),
      130,
    ),
  ]
  const missing = required.map((name) => Object.fromEntries(Object.entries(valid).filter(([key]) => key !== name)))
  const several = Array.from({ length: 80 }, () =>
    fields.reduce((body, [name]) => (random() < 0.5 ? { ...body, [name]: pick(random, HOSTILE) } : body), valid),
  )
  const comma = Object.keys(valid).length > 0 ? ',' : ''
  const extra = KEYS.map((key) => toJson(valid).replace(/}$/, `${comma}${toJson(key)}:1}`))
  const notObjects = sample(random, HOSTILE, 20).map((value) => toJson(value))
  return [...[...single, ...missing, ...several].map(toJson), ...extra, ...notObjects]
}

/** Query strings as pairs: invalid values, duplicates, unknown names, and names of prototype properties. */
export function hostileQueries(schema: z.ZodType, random: () => number): [string, string][][] {
  const names = Object.keys(jsonSchema(schema).properties ?? {})
  const texts = HOSTILE.filter((value) => typeof value === 'string' || typeof value === 'number').map(String)
  const numbers = [
    '-1',
    '0',
    '00',
    '1',
    '01',
    '200',
    '201',
    '1e2',
    '0x10',
    '1.0',
    '1.',
    ' 5',
    '5 ',
    '+5',
    '١',
    '9999999999',
    '999999999',
  ]
  const all = [...texts.filter((text) => !text.startsWith('\u0001')), ...numbers, 'Infinity', '-0', '1,2', '[1]', '{}']
  const single = names.flatMap((name) => all.map((text): [string, string][] => [[name, text]]))
  const twice = names.map((name): [string, string][] => [
    [name, '1'],
    [name, '2'],
  ])
  const odd = [...KEYS, 'limit[]', 'LIMIT', 'offset.a'].map((name): [string, string][] => [[name.slice(0, 500), '1']])
  const several = Array.from({ length: 170 }, () => names.map((name): [string, string] => [name, pick(random, all)]))
  return [...sample(random, single, 60), ...twice, ...odd, ...several]
}

const ALPHABET = ['0', 'f', 'g', 'Z', '-', ' ', '%', 'é', '😀', '\u0000', "'", '"', '{', '*', '_', '\n', '+', '~']
/** URL-encoded texts to use as an id: texts that often cause errors, and ids with a few wrong characters. */
export function hostileIds(valid: string, random: () => number): string[] {
  const notorious = HOSTILE.filter(
    (value): value is string => typeof value === 'string' && value !== '' && !value.startsWith('\u0001'),
  )
  const mutated = Array.from({ length: 220 }, () => {
    const at = Math.floor(random() * valid.length)
    const remainder = valid.slice(at + Math.floor(random() * 3))
    return valid.slice(0, at) + pick(random, ALPHABET) + remainder
  })
  const encode = (text: string) => encodeURIComponent(text.toWellFormed())
  return [
    ...[...sample(random, notorious, 20), ...mutated].map(encode),
    '%',
    '%zz',
    '%ED%A0%80',
    '%FF',
    '%C0%AF',
    '%00',
    '%2F',
    `${valid}%0A`,
    `${valid};a=1`,
  ]
}
