/** The descriptions in the OpenAPI document: where a schema inherits one, and which are missing or say nothing. */

type Json = Record<string, unknown>

interface Schema extends Json {
  $ref?: string
  description?: string | undefined
  anyOf?: Schema[]
  properties?: Record<string, Schema>
}
interface Described {
  operationId: string
  summary: string
  parameters: (Schema & { name?: string })[]
  responses: Record<string, { headers?: Record<string, Schema> }>
}
interface Document {
  paths: Record<string, Record<string, Described>>
  webhooks: Record<string, { post: Described }>
  components: Record<'schemas' | 'parameters' | 'headers' | 'responses', Record<string, Schema>>
  tags: { name: string; description: string }[]
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** Calls a function with every schema of a field inside a value, its name, and the path to it. */
function eachField(value: unknown, visit: (name: string, field: Schema, path: string) => void, path: string): void {
  if (!isObject(value)) return
  const { properties, example: _example, examples: _examples, ...others } = value
  for (const [name, field] of Object.entries(isObject(properties) ? properties : {})) {
    eachField(field, visit, `${path}.${name}`)
    visit(name, field as Schema, path)
  }
  for (const inner of Object.values(others)) eachField(inner, visit, path)
}

/**
 * Gives a description to each field that has one only inside: a nullable field has it in its first alternative, and a reference has that of the
 * named schema.
 */
export function inheritDescriptions(document: Json): void {
  const { schemas } = document.components as { schemas: Record<string, Schema> }
  eachField(
    document,
    (_name, field) => {
      const [value, ...others] = field.anyOf ?? []
      const inner = field.$ref ? schemas[field.$ref.split('/').at(-1)!] : others.length === 1 ? value : undefined
      const description =
        field.description ?? (inner?.$ref ? schemas[inner.$ref.split('/').at(-1)!] : inner)?.description
      if (value && !value.$ref) delete value.description
      if (description) field.description = description
    },
    '',
  )
}

/** The words of a text or name, in lower case and in the singular. */
const wordsOf = (text: string) =>
  (text.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? []).map((word) => word.toLowerCase().replace(/(?<=..)s$/, ''))

/** Words that say nothing about a field. */
const STOP_WORDS = new Set(
  wordsOf(
    'a an the of this that these those its their it is are was be has have in for to by with and or on at from as which each every all any value field',
  ),
)

/** Whether a description says only what the names say that the reader sees already. */
export function repeatsNames(description: string, ...names: string[]): boolean {
  const known = new Set(names.flatMap(wordsOf))
  return wordsOf(description).every((word) => known.has(word) || STOP_WORDS.has(word))
}

/** Returns the faults of all fields, parameters, headers, tags and events without a description, or with one that repeats their names. */
export function descriptionFaults(document: Json): string[] {
  const { paths, webhooks, components, tags } = document as unknown as Document
  const faults = new Set<string>()
  const expectDescribed = (owner: string, name: string, { $ref, description }: Schema) => {
    if ($ref?.startsWith('#/components/') && !$ref.startsWith('#/components/schemas/')) return
    const place = [owner, name].filter(Boolean).join('.')
    if (!description) faults.add(`${place} has no description`)
    else if (repeatsNames(description, owner, name)) faults.add(`${place} has a description that repeats its name`)
  }
  const expectAll = (owner: string, schemas: Record<string, Schema> = {}) => {
    for (const [name, schema] of Object.entries(schemas)) expectDescribed(owner, name, schema)
  }
  const expectFields = (owner: string, part: unknown) =>
    eachField(part, (name, field, path) => expectDescribed(path, name, field), owner)
  const expectOperation = (owner: string, operation: Described) => {
    for (const parameter of operation.parameters) expectDescribed(owner, parameter.name ?? '', parameter)
    for (const { headers } of Object.values(operation.responses)) expectAll(owner, headers)
    expectFields(owner, operation)
  }
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods)))
    expectOperation(operation.operationId, operation)
  for (const [name, { post }] of Object.entries(webhooks)) {
    expectDescribed('', name, { description: post.summary })
    expectOperation(name, post)
  }
  for (const { name, description } of tags) expectDescribed('', name, { description })
  for (const kind of ['schemas', 'parameters', 'headers'] as const) expectAll('', components[kind])
  for (const [name, part] of Object.entries({ ...components.schemas, ...components.responses }))
    expectFields(name, part)
  return [...faults]
}
