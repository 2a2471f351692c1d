import { describedHtml, escapeHtml } from './html.ts'

/** Lists of fields, made from JSON Schema. */

export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  const?: unknown
  default?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  /** The unit of a number. */
  'x-unit'?: string
}

export interface Field {
  name: string
  schema: Schema
  required: boolean
  description?: string
  /** False for a parameter whose value is a list with commas. */
  explode?: boolean
}

export const fieldsOf = ({ properties = {}, required = [] }: Schema): Field[] =>
  Object.entries(properties).map(([name, schema]) => ({ name, schema, required: required.includes(name) }))

/** Returns one list of the fields of all forms of a body. A field is required if each form requires it. */
export function joinForms(forms: Schema[]): Schema {
  const required = forms.map((form) => new Set(form.required))
  const properties = Object.assign({}, ...forms.toReversed().map((form) => form.properties)) as NonNullable<
    Schema['properties']
  >
  return { properties, required: Object.keys(properties).filter((name) => required.every((names) => names.has(name))) }
}

const code = (value: unknown) => `<code>${escapeHtml(JSON.stringify(value))}</code>`
const alternatives = ({ anyOf, oneOf }: Schema) => anyOf ?? oneOf ?? []

const withType = (schema: Schema, type: string): Schema =>
  type === 'null'
    ? { type }
    : { ...schema, type, ...(schema.enum && { enum: schema.enum.filter((each) => each !== null) }) }

/** Returns the type of a schema as HTML. Named schemas are links to the page of objects. */
export function typeOf(schema: Schema): string {
  const { $ref, type, format } = schema
  if ($ref) {
    const name = $ref.split('/').at(-1)!
    return `<a href="/docs/api/objects#${name}">${name}</a>`
  }
  if (schema.const !== undefined) return code(schema.const)
  if (Array.isArray(type)) return type.map((each) => typeOf(withType(schema, each))).join(' or ')
  if (schema.enum) return schema.enum.map(code).join(' or ')
  const options = alternatives(schema)
  if (options.length > 0) return [...new Set(options.map(typeOf))].join(' or ')
  if (type === 'array') return schema.items ? `array of ${typeOf(schema.items)}` : 'array'
  return format === 'uuid' ? 'UUID' : format === 'date-time' ? 'time (ISO 8601)' : (type ?? 'any JSON')
}

/** Patterns longer than this are left out, because the errors of the service explain them better. */
const LONGEST_PATTERN = 32

/** Bounds of a number, or of the length of a text or list. 0 as the only one is not shown: it is the least size or count. */
function bounds(from: number | undefined, to: number | undefined, unit: string): string[] {
  const format = (value: number) => value.toLocaleString('en')
  if (from !== undefined && to !== undefined) return [`${format(from)} to ${format(to)}${unit}`]
  if (to !== undefined) return [`at most ${format(to)}${unit}`]
  return from ? [`at least ${format(from)}${unit}`] : []
}

/** Returns what a value must satisfy, and its default. */
function rules(schema: Schema): string[] {
  const unit = schema['x-unit']
  const own = [
    ...bounds(schema.minimum, schema.maximum, unit && unit !== 'items' ? ` ${unit}` : ''),
    ...bounds(schema.minLength, schema.maxLength, ' characters'),
    ...bounds(schema.minItems, schema.maxItems, ' items'),
    ...(schema.pattern && schema.pattern.length <= LONGEST_PATTERN
      ? [`matches <code>${escapeHtml(schema.pattern)}</code>`]
      : []),
    ...(schema.default === undefined ? [] : [`default ${code(schema.default)}`]),
  ]
  return [...own, ...alternatives(schema).flatMap(rules)]
}

/** Returns the schemas with fields inside a schema, which are shown below its name. */
function nested(schema: Schema): Field[] {
  if (schema.items) return nested(schema.items)
  return [...fieldsOf(schema), ...alternatives(schema).flatMap(nested)]
}

/** Returns the type of a field, its limits and its default. `marksRequired` is for input: output always has the required fields. */
const notesOf = ({ schema, required, explode }: Field, marksRequired: boolean) => [
  `<span class="type">${typeOf(schema)}</span>`,
  ...(explode === false ? ['separated by commas'] : []),
  ...(marksRequired && required ? ['<strong class="required">required</strong>'] : []),
  ...(!marksRequired && !required ? ['may be absent'] : []),
  ...new Set(rules(schema)),
]

/** Returns a list of fields as Markdown, with the same notes as `fieldList`. */
export function fieldMarkdown(fields: Field[], marksRequired: boolean, indent = ''): string {
  return fields
    .map((field) => {
      const { name, schema, description = schema.description } = field
      const notes = notesOf(field, marksRequired).map(markdownOf).join(', ')
      const inner = fieldMarkdown(nested(schema), marksRequired, `${indent}  `)
      return `${indent}- \`${name}\`: ${notes}${description ? `. ${description}` : ''}\n${inner}`
    })
    .join('')
}

/** Converts the HTML of a note to Markdown. */
const markdownOf = (html: string) =>
  html
    .replace(/<\/?code>/g, '`')
    .replace(
      /<a href="([^"#]+)#(\w+)">(.+?)<\/a>/g,
      (_, page: string, id: string, name: string) => `[${name}](${page}.md#${id})`,
    )
    .replace(/<[^>]+>/g, '')
    .replace(/&(amp|lt|gt|quot);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name]!)

/** Returns a list of fields as HTML. */
export function fieldList(fields: Field[], marksRequired: boolean): string {
  const items = fields.map((field) => {
    const { name, schema, description = schema.description } = field
    const notes = notesOf(field, marksRequired)
    const inner = nested(schema)
    return `<li><code class="name">${escapeHtml(name)}</code> <span class="notes">${notes.join('<span class="dot"> · </span>')}</span>${
      description ? `<p>${describedHtml(description)}</p>` : ''
    }${inner.length > 0 ? fieldList(inner, marksRequired) : ''}</li>`
  })
  return `<ul class="fields">${items.join('')}</ul>`
}
