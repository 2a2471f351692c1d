import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { lexer, type Tokens } from 'marked'

/**
 * Collects the descriptions of the elements: names and meanings from the tables in docs, and types of attributes from
 * packages/elements/attributes.ts. Throws if one of the two sources lacks a name that the other has.
 */

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Described {
  name: string
  description: string
}
interface Attribute extends Described {
  type: string
}
export interface Element {
  tag: string
  /** Name of the element's class, such as `TonearmPlayer`. Its attributes are in `PlayerAttributes` of packages/elements/attributes.ts. */
  name: string
  attributes: Attribute[]
  members: Described[]
  events: Described[]
  parts: Described[]
  properties: Described[]
}

/** The elements, each with the section of the page that describes it. */
const SECTIONS = [
  { tag: 'tonearm-player', page: 'docs/player.md', from: '## Attributes', to: '## `<tonearm-waveform>`' },
  { tag: 'tonearm-uploader', page: 'docs/uploader.md', from: '## Attributes', to: 'Next: ' },
  { tag: 'tonearm-waveform', page: 'docs/player.md', from: '## `<tonearm-waveform>`', to: 'Next: ' },
]

export const ELEMENTS: Element[] = SECTIONS.map(({ tag, page, from, to }) => {
  const part = read(page).split(`\n${from}`)[1]!.split(`\n${to}`)[0]!
  const tables = lexer(part).filter((token): token is Tokens.Table => token.type === 'table')
  const rows = (head: RegExp) => tables.filter(({ header }) => head.test(header[0]!.text)).flatMap(describedIn)
  const name = `T${tag.slice(1).replace(/-\w/, (letter) => letter[1]!.toUpperCase())}`
  return {
    tag,
    name,
    attributes: withTypes(rows(/^Attribute$/), `${name.replace('Tonearm', '')}Attributes`, page),
    members: rows(/^Name$/),
    events: rows(/^Event$|^`tonearm-…`$/).map(({ name, description }) => ({
      name: name.startsWith('tonearm-') ? name : `tonearm-${name}`,
      description,
    })),
    parts: namesIn(part, 'Parts: '),
    properties: namesIn(part, tag === 'tonearm-waveform' ? 'Colors: ' : 'Custom properties: '),
  }
})

/** Returns each name in the first column of a table, with the text of the second column. A cell may contain several names. */
function describedIn({ rows }: Tokens.Table): Described[] {
  return rows.flatMap(([first, second]) =>
    [...first!.text.matchAll(/`([^`]+)`/g)].map(([, name]) => ({ name: name!, description: plain(second!.text) })),
  )
}

/** Returns the names in the paragraph that starts with a given text. */
function namesIn(text: string, start: string): Described[] {
  const paragraph = text.split(start)[1]?.split(/\n\n|\. /)[0] ?? ''
  const names = [...paragraph.matchAll(/`([\w-]+)`/g)].map(([, name]) => name!)
  return names.map((name) => ({ name, description: '' }))
}

/** Returns a text with links replaced by their labels. */
function plain(text: string): string {
  return text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
}

/** Adds the types of attributes from an interface. Throws if a name is only on the page or only in the interface. */
function withTypes(described: Described[], interfaceName: string, page: string): Attribute[] {
  const types = new Map(fieldsOf(interfaceName))
  const missing = described.filter(({ name }) => !types.has(name)).map(({ name }) => name)
  const extra = [...types.keys()].filter((name) => !described.some((each) => each.name === name))
  if (missing.length > 0 || extra.length > 0)
    throw new Error(
      `${interfaceName} lacks ${missing.join(', ') || 'nothing'}; ${page} lacks ${extra.join(', ') || 'nothing'}`,
    )
  return described.map((each) => ({ ...each, type: types.get(each.name)! }))
}

function fieldsOf(interfaceName: string): [string, string][] {
  const [, body = ''] = read('packages/elements/attributes.ts').split(`export interface ${interfaceName}`)
  const lines = body.split('\n}')[0]!.matchAll(/^ {2}'?([\w-]+)'?\?: (.+) \| undefined$/gm)
  return [...lines].map(([, name, type]) => [name!, type!.replace('Flag', 'boolean')])
}

/** Returns the content of custom-elements.json for editors and Storybook (custom-elements-manifest 2.1.0). */
export function customElements(): object {
  const modules = ELEMENTS.map(({ tag, name, attributes, members, events, parts, properties }) => {
    const file = `${tag.replace('tonearm-', '')}.js`
    return {
      kind: 'javascript-module',
      path: file,
      declarations: [
        {
          kind: 'class',
          name,
          tagName: tag,
          customElement: true,
          superclass: { name: 'HTMLElement' },
          attributes: attributes.map(({ type, ...each }) => ({ ...each, type: { text: type } })),
          members: members.map(({ name, description }) =>
            name.endsWith(')')
              ? { kind: 'method', name: name.split('(')[0], description }
              : { kind: 'field', name, description },
          ),
          events: events.map((each) => ({ ...each, type: { text: 'CustomEvent' } })),
          cssParts: parts,
          cssProperties: properties,
        },
      ],
      exports: [
        { kind: 'js', name, declaration: { name, module: file } },
        { kind: 'custom-element-definition', name: tag, declaration: { name, module: file } },
      ],
    }
  })
  return { schemaVersion: '2.1.0', readme: 'README.md', modules }
}

/** Adds the meaning of each attribute as a comment to its declaration, so that editors show it. */
export function addDescriptions(declarations: string): string {
  return ELEMENTS.reduce((text, { name, attributes }) => {
    const start = `export interface ${name.replace('Tonearm', '')}Attributes`
    const [before, after] = text.split(start) as [string, string]
    const end = after.indexOf('\n}')
    const body = attributes.reduce(
      (body, { name, description }) =>
        body.replace(new RegExp(`^ +'?${name}'?\\?:`, 'm'), (line) => `    /** ${description} */\n${line}`),
      after.slice(0, end),
    )
    return before + start + body + after.slice(end)
  }, declarations)
}
