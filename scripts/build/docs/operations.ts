import { API_TAGS, type ApiTag } from '../../../src/contract/api_tags.ts'
import type { ClientOperationName as OperationName } from '../../../src/contract/client_operations.ts'
import { ERROR_STATUS } from '../../../src/contract/error_status.ts'
import { ERROR_MEANINGS } from '../../../src/contract/errors.ts'
import { eventName, type EventType } from '../../../src/contract/event.ts'
import { errorsOf, type Operation, type Operations } from '../../../src/contract/operation.ts'
import { describeEffect, type OperationExample } from '../openapi.ts'
import { codeBlock, describedHtml, escapeHtml, inlineCode } from './html.ts'
import { limitsOfOperation } from './limits.ts'
import { pageOfTag, titleOf } from './operation_title.ts'
import { samplesOf } from './samples.ts'
import { type Field, fieldList, fieldMarkdown, fieldsOf, joinForms, type Schema } from './schema.ts'
import type { Link, Page } from './shell.ts'

/** Pages of the API reference: one for each tag, one for the objects that responses contain. */

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
}
type Content = { content: { 'application/json': { schema: Schema } } }
interface DescribedOperation<P = Parameter | { $ref: string }> {
  parameters: P[]
  'x-guide': { description: string; url: string }
  requestBody?: Content
  responses: { 200: Content }
}

/** The parts of the OpenAPI document that the pages show. */
export interface Document {
  paths: Record<string, Record<string, DescribedOperation>>
  webhooks: Record<string, { post: { summary: string } }>
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> }
}

export interface Entry {
  name: OperationName
  operation: Operation
  described: DescribedOperation<Parameter>
  example: OperationExample
}

/** Returns a body with one list of fields, if it has several forms. */
function withJoinedForms(body: Content, { components }: Document): Content {
  const forms = body.content['application/json'].schema.anyOf?.map(
    ({ $ref = '' }) => components.schemas[$ref.split('/').at(-1)!]!,
  )
  return forms ? { content: { 'application/json': { schema: joinForms(forms) } } } : body
}

export function entriesOf(
  operations: Operations,
  document: Document,
  examples: Record<string, OperationExample>,
): Entry[] {
  return Object.entries(operations).map(([name, operation]) => {
    // `npm run examples` builds the pages before it records the examples of new operations.
    const example = examples[name] ?? (process.env.RECORD_EXAMPLES ? { response: {} } : undefined)
    if (!example) throw new Error(`src/reference/examples.json has no example of ${name}: run npm run examples`)
    const described = document.paths[operation.path]![operation.method]!
    const parameters = described.parameters.map((parameter) =>
      '$ref' in parameter ? document.components.parameters[parameter.$ref.split('/').at(-1)!]! : parameter,
    )
    const requestBody = described.requestBody && withJoinedForms(described.requestBody, document)
    return {
      name: name as OperationName,
      operation,
      described: { ...described, parameters, ...(requestBody && { requestBody }) },
      example,
    }
  })
}

const method = (name: string) => `<span class="method ${name}">${name.toUpperCase()}</span>`
const path = (text: string) => escapeHtml(text).replace(/[/_]/g, '$&<wbr>')

const part = (title: string, fields: Field[], marksRequired = true, description = '') =>
  fields.length > 0
    ? `<h3>${title}</h3>${description && `<p>${describedHtml(description)}</p>`}${fieldList(fields, marksRequired)}`
    : ''

const details = (title: string, content: string) =>
  content && `<details><summary>${title}</summary><div class="details">${content}</div></details>`

function errorTable(operation: Operation): string {
  const rows = errorsOf(operation).map(
    (code) =>
      `<tr><td>${ERROR_STATUS[code]}</td><td><a href="/docs/errors#${code}"><code>${code}</code></a></td><td>${inlineCode(ERROR_MEANINGS[code])}</td></tr>`,
  )
  return `<div class="scroll" tabindex="0" role="group" aria-label="Errors"><table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function limitTable(entry: Entry): string {
  const rows = limitsOfOperation(entry.operation).map(
    ([name, amount, scope]) =>
      `<tr><td><a href="/docs/limits#${name}"><code>${name}</code></a></td><td>${amount}</td><td>${escapeHtml(scope!)}</td></tr>`,
  )
  return `<div class="scroll" tabindex="0" role="group" aria-label="Limits"><table><thead><tr><th>Name</th><th>At most</th><th>Of</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

const KEYS: Record<string, string> = {
  root: 'root key',
  server: 'server key',
  player: 'player key',
  uploader: 'uploader key',
}
const keysOf = ({ access, secret }: Operation) =>
  access.length > 0
    ? `<a href="/docs/keys">${access.map((kind) => KEYS[kind]).join(', ')}</a>`
    : `no key: <code>${secret}</code> in the path grants access`

/** Describes the rights that a server key needs. */
const effectOf = (operation: Operation) =>
  operation.access.includes('server') ? `<p class="soft">${inlineCode(describeEffect(operation))}</p>` : ''

/** Fields that every response has. */
const COMMON = new Set(['ok', 'api_request_id'])

const schemaOf = (content: Content | undefined) => content?.content['application/json'].schema ?? {}
const responseFields = ({ described }: Entry) =>
  fieldsOf(schemaOf(described.responses[200])).filter(({ name }) => !COMMON.has(name))

/** Deletes data, or ends the use of a secret. Try it asks before it sends such a request. */
const isDestructive = ({ name, operation }: Entry) =>
  operation.method === 'delete' || name.startsWith('rotate') || name === 'changeTracks'

export const requestOf = ({ name, operation, example }: Entry) => ({
  ...example,
  name,
  method: operation.method,
  path: operation.path,
  isPublic: operation.access.length === 0,
})

function section(entry: Entry): string {
  const { name, operation, described, example } = entry
  const guide = described['x-guide']
  const title = titleOf(operation.summary)
  const body = schemaOf(described.requestBody)
  const of = (place: Parameter['in']) => described.parameters.filter((parameter) => parameter.in === place)
  const data = `data-method="${operation.method}" data-path="${operation.path}"${isDestructive(entry) ? ' data-destructive' : ''}`
  return `<section class="operation" id="${name}" ${data} aria-labelledby="${name}-title">
<div class="text">
<h2 id="${name}-title"><a class="anchor" href="#${name}">${inlineCode(title)}</a></h2>
<p class="path">${method(operation.method)} <code>${path(operation.path)}</code></p>
${title === operation.summary ? '' : `<p>${inlineCode(operation.summary)}.</p>`}
<p class="soft">Access: ${keysOf(operation)}</p>${effectOf(operation)}
<p class="soft">Guide: <a href="${guide.url}">${guide.description}</a></p>
${part('Path', of('path'))}${part('Query', of('query'))}${part('Body', fieldsOf(body), true, body.description)}${part('Headers', of('header'))}
${details('Response fields', fieldList(responseFields(entry), false))}
${details(`Errors (${errorsOf(operation).length})`, errorTable(operation))}
${details('Limits', limitTable(entry))}
</div>
<div class="code">
${codeBlock(samplesOf(requestOf(entry)))}
<button type="button" class="button small try" aria-label="Try it: ${escapeHtml(title)}">Try it</button>
${operation.is_report ? codeBlock([{ language: 'text', code: 'No content' }], 'Response · 204') : codeBlock([{ language: 'json', code: JSON.stringify(example.response, null, 2) }], 'Response · 200')}
</div>
</section>`
}

const partMarkdown = (title: string, fields: Field[], marksRequired = true) =>
  fields.length > 0 ? `${title}:\n\n${fieldMarkdown(fields, marksRequired)}\n` : ''

function markdownOf(entry: Entry): string {
  const { operation, described, example } = entry
  const guide = described['x-guide']
  const of = (place: Parameter['in']) => described.parameters.filter((parameter) => parameter.in === place)
  const [curl] = samplesOf(requestOf(entry))
  const errors = errorsOf(operation).map((code) => `${ERROR_STATUS[code]} \`${code}\``)
  return `## ${titleOf(operation.summary)}

\`${operation.method.toUpperCase()} ${operation.path}\`

${operation.summary}. Keys: ${operation.access.join(', ') || 'none'}. ${operation.access.includes('server') ? `${describeEffect(operation)} ` : ''}Errors: ${errors.join(', ')}. Guide: [${guide.description}](${guide.url}.md).

${partMarkdown('Path', of('path'))}${partMarkdown('Query', of('query'))}${partMarkdown('Body', fieldsOf(schemaOf(described.requestBody)))}${partMarkdown('Headers', of('header'))}${partMarkdown('Response', responseFields(entry), false)}\`\`\`bash
${curl!.code}
\`\`\`

\`\`\`json
${JSON.stringify(example.response, null, 2)}
\`\`\`
`
}

/** Returns the text of each operation of the service by its name, for assistants (src/http/mcp/tools.ts). To clients, the creation of a play session is three operations. */
export function operationTexts(entries: Entry[]): Map<string, string> {
  const isCreation = ({ operation }: Entry) => /^\/v1\/play_session\/(collection|track|playlist)$/.test(operation.path)
  const groups = Map.groupBy(entries, (entry) => (isCreation(entry) ? 'createPlaySession' : entry.name))
  return new Map([...groups].map(([name, entries]) => [name, entries.map(markdownOf).join('\n')]))
}

/** Returns the page of a tag. The page of the events also has the bodies of webhooks. */
export function operationPage(tag: ApiTag, entries: Entry[], { webhooks, components }: Document): Page {
  const url = pageOfTag(tag)
  const events = tag === 'Events' ? Object.entries(webhooks) : []
  const sections = entries.map(({ name, operation }) => ({ title: titleOf(operation.summary), url: `#${name}` }))
  const webhookSections = events.map(([type, { post }]) =>
    eventSection(type, post.summary, components.schemas[eventName(type as EventType)]!),
  )
  return {
    url,
    title: tag,
    description: API_TAGS[tag],
    content: `<h1>${tag}</h1><p>${API_TAGS[tag]}</p>${entries.map(section).join('')}${webhookSections.join('')}`,
    markdown: `# ${tag}\n\n${API_TAGS[tag]}\n\n${entries.map(markdownOf).join('\n')}`,
    sections: [...sections, ...events.map(([type]) => ({ title: type, url: `#${type}` }))],
    kind: 'api',
  }
}

function eventSection(type: string, summary: string, schema: Schema): string {
  const data = schema.properties?.data
  return `<section class="operation event" id="${type}" aria-labelledby="${type}-title"><div class="text">
<h2 id="${type}-title"><a class="anchor" href="#${type}"><code>${type}</code></a></h2>
<p>${inlineCode(summary)}</p>${data ? part('Fields of <code>data</code>', fieldsOf(data), false) : ''}
</div></section>`
}

/** Returns the page of the objects that responses contain. */
export function objectPage({ components }: Document): Page {
  const objects = Object.entries(components.schemas)
  // Alternatives, such as the types of events, are one list.
  const shownOf = (schema: Schema): Field[] =>
    schema.properties ? fieldsOf(schema) : [{ name: 'value', schema, required: true }]
  const sections = objects.map(([name, schema]) => {
    const shown = shownOf(schema)
    return `<section class="operation" id="${name}" aria-labelledby="${name}-title"><div class="text"><h2 id="${name}-title"><a class="anchor" href="#${name}">${name}</a></h2>${schema.properties ? `<p>${describedHtml(schema.description ?? '')}</p>` : ''}${fieldList(shown, false)}</div></section>`
  })
  return {
    url: '/docs/api/objects',
    title: 'Objects',
    description: 'The objects in responses, such as tracks, collections and keys, with all their fields.',
    content: `<h1>Objects</h1>${sections.join('')}`,
    markdown: `# Objects\n\nThe schemas are in /openapi.json under \`components.schemas\`.\n\n${objects.map(([name, schema]) => `## ${name}\n\n${schema.properties ? `${schema.description}\n\n` : ''}${fieldMarkdown(shownOf(schema), false)}`).join('\n')}`,
    sections: objects.map(([name]): Link => ({ title: name, url: `#${name}` })),
    kind: 'api',
  }
}
