import * as z from 'zod'

/** JSON Schemas of the API, in the forms that readers and generators of clients understand best. */

export type Json = Record<string, unknown>

const COMPONENTS = '#/components/schemas/'
export const ref = (id: string) => COMPONENTS + id

/** Names the members of a discriminated union, which zod writes without their property (OpenAPI 3.1, Discriminator Object). */
function addDiscriminator({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Json }): void {
  const { def } = (zodSchema as z.core.$ZodTypes)._zod
  if (def.type !== 'union' || !('discriminator' in def)) return
  const { discriminator: propertyName, options } = def as z.core.$ZodDiscriminatedUnionDef
  const mapping = options.flatMap((option) => {
    const id = z.globalRegistry.get(option)?.id
    if (!id) throw new Error(`An option of a union by ${propertyName} has no name: give it .meta({ id })`)
    return [...option._zod.propValues![propertyName]!].map((value) => [value, ref(id)])
  })
  jsonSchema.discriminator = { propertyName, mapping: Object.fromEntries(mapping) as Json }
}

const SETTINGS = { override: addDiscriminator, unrepresentable: 'any' } as const

/** The formats whose patterns are left out, because the format says the same. */
const FORMATS = new Set<unknown>(['uuid', 'date', 'date-time', 'email'])

const isNull = (schema: Json) => schema.type === 'null'

/** Returns `{ type: ['string', 'null'] }` for `anyOf: [{ type: 'string' }, { type: 'null' }]`. A reference cannot be written so. */
function withNull(schema: Json): Json {
  const options = (schema.anyOf ?? []) as Json[]
  const [option, ...others] = options.filter((each) => !isNull(each))
  if (others.length > 0 || options.length !== 2 || typeof option?.type !== 'string') return schema
  const { anyOf: _anyOf, ...rest } = schema
  const values = option.enum as unknown[] | undefined
  return { ...option, ...rest, type: [option.type, 'null'], ...(values && { enum: [...values, null] }) }
}

/** Removes the bounds that zod gives to every integer. Integers without a minimum in the contract are counts, sizes or numbers in a sequence. */
function withBounds(schema: Json): Json {
  const { minimum, maximum, ...rest } = schema
  if (schema.type !== 'integer') return schema
  return {
    ...rest,
    minimum: minimum === Number.MIN_SAFE_INTEGER ? 0 : minimum,
    ...(maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  }
}

/** Applies a function to the schemas inside a schema. */
function mapInner(schema: Json, map: (inner: Json) => Json): Json {
  const { properties, items, additionalProperties, ...rest } = schema
  const lists = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (rest[key] ? [[key, (rest[key] as Json[]).map(map)]] : []))
  return {
    ...rest,
    ...Object.fromEntries(lists),
    ...(items !== undefined && { items: map(items as Json) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties as Record<string, Json>).map(([name, inner]) => [name, map(inner)]),
      ),
    }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? map(additionalProperties as Json) : additionalProperties,
    }),
  }
}

/** Writes a schema of zod in the short forms. */
function tidy(schema: Json): Json {
  const { pattern, propertyNames: _names, ...rest } = mapInner(schema, tidy)
  return withNull(withBounds(FORMATS.has(rest.format) || pattern === undefined ? rest : { ...rest, pattern }))
}

/** Returns the JSON Schema of a zod schema. It refers to named schemas (`.meta({ id })`) instead of repeating them. */
export function toSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _schema, $defs: _defs, ...jsonSchema } = z.toJSONSchema(schema, { ...SETTINGS, io })
  return tidy(JSON.parse(JSON.stringify(jsonSchema).replaceAll('#/$defs/', COMPONENTS)) as Json)
}

/** Returns all named schemas, in the order of their names. */
export function namedSchemas(): Record<string, Json> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...SETTINGS, io: 'input', uri: ref })
  return Object.fromEntries(
    Object.entries(schemas)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([id, { $schema: _schema, $id: _id, ...schema }]) => [id, tidy(schema)]),
  )
}

/** Returns the value of a parameter that a query contains as text. */
export const queryValue = ({ type }: Json, text: string): unknown =>
  type === 'integer' ? Number(text) : type === 'array' ? text.split(',') : text
