import GithubSlugger from 'github-slugger'
import { Marked, type MarkedExtension, type Token, type Tokens } from 'marked'

import type { SearchEntry } from '../../../src/reference/find.ts'
import { translate } from './commands.ts'
import { demoOf } from './demo.ts'
import { codeBlock, escapeHtml, type Sample } from './html.ts'
import { addressOf, withAddresses } from './links.ts'
import type { Link, NavigationGroup, Page } from './shell.ts'

/** The guides, made from the Markdown of `docs`. */

/** A section of a guide. */
export type Section = Pick<SearchEntry, 'title' | 'page' | 'url' | 'text' | 'code'>

interface Rendered {
  html: string
  /** The targets of the links and images, as they are in the Markdown. */
  links: Set<string>
  sections: Link[]
  title: string
}

/** Languages in which adjacent blocks say the same. Such blocks become tabs. */
const ALTERNATIVES = ['bash', 'ts', 'python']

const isPicture = (token: Token) =>
  token.type === 'paragraph' && token.tokens?.length === 1 && token.tokens[0]!.type === 'image'

/** Marks what comments in the Markdown say about the next token: a picture after a live element repeats it, and a list can be a group of cards. */
function applyComments(tokens: Token[]): Token[] {
  let comment = ''
  return tokens.map((token) => {
    if (token.type === 'space') return token
    const before = comment
    comment = token.type === 'html' ? token.raw : ''
    if (before.startsWith('<!-- demo') && isPicture(token)) return { ...token, isRepeated: true }
    if (before.startsWith('<!-- cards') && token.type === 'list') return { ...token, isCards: true }
    return token
  })
}

/** Joins adjacent blocks of code in different languages into one block with tabs, and adds the languages to commands that can be translated. */
function joinSamples(tokens: Token[]): Token[] {
  const joined: Token[] = []
  let group: Sample[] | undefined
  for (const token of tokens) {
    if (token.type === 'space' && group) continue
    const code = token as Tokens.Code
    const sample = { language: code.lang ?? '', code: code.text }
    const isAlternative = token.type === 'code' && ALTERNATIVES.includes(sample.language)
    if (isAlternative && group && !group.some(({ language }) => language === sample.language)) {
      group.push(sample)
      continue
    }
    group = isAlternative ? [sample] : undefined
    joined.push(group ? { ...token, samples: group } : token)
  }
  for (const token of joined) {
    const { samples } = token as { samples?: Sample[] }
    if (samples?.length === 1 && samples[0]!.language === 'bash') samples.push(...(translate(samples[0]!.code) ?? []))
  }
  return joined
}

/** The words of Markdown, without its marks. */
const plain = (markdown: string) =>
  markdown
    .replace(/<!--[\s\S]*?-->|^ *```\w*$|^ *>/gm, ' ')
    .replace(/\]\([^)]*\)/g, ' ')
    .replace(/[[\]`*|#]|-{3,}/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ([.,:;)])|(\() /g, '$1$2')
    .trim()

/** Returns the words of code, each once, because the search shows no lines of it. */
const wordsOfCode = (code: string) => [...new Set(code.match(/[\p{L}\d_-]{2,}/gu))].join(' ')

function rendererOf(
  page: string,
  { sections, links }: Pick<Rendered, 'sections' | 'links'>,
  taken: Set<string>,
): MarkedExtension['renderer'] {
  const slugger = new GithubSlugger()
  const address = (href: string) => {
    links.add(href)
    return escapeHtml(addressOf(href, page))
  }
  /** The id of a row that describes a name, such as the code of an error. */
  function rowId(row: Tokens.TableCell[]): string {
    const cell = row.slice(0, 2).find(({ tokens }) => tokens.length === 1 && tokens[0]?.type === 'codespan')
    const name = cell?.text.replaceAll('`', '') ?? ''
    if (!/^[\w.-]+$/.test(name) || taken.has(name)) return ''
    taken.add(name)
    return ` id="${name}"`
  }
  return {
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens)
      const title = this.parser.parseInline(tokens, this.parser.textRenderer)
      const id = slugger.slug(title)
      if (depth === 1) return `<h1 id="${id}">${text}</h1>\n`
      if (depth === 2) sections.push({ title, url: `#${id}` })
      return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${text}</a></h${depth}>\n`
    },
    code(token) {
      const { samples } = token as Tokens.Code & { samples?: Sample[] }
      return codeBlock(samples ?? [{ language: token.lang ?? '', code: token.text }])
    },
    html: ({ text }) => demoOf(text),
    paragraph(token) {
      const html = this.parser.parseInline(token.tokens)
      return (token as Tokens.Paragraph & { isRepeated?: boolean }).isRepeated ? '' : `<p>${html}</p>\n`
    },
    list(token) {
      if (!(token as Tokens.List & { isCards?: boolean }).isCards) return false
      const cards = token.items.map(({ tokens }) => `<li>${this.parser.parse(tokens)}</li>`)
      return `<ul class="cards">${cards.join('')}</ul>\n`
    },
    link({ href, tokens }) {
      return `<a href="${address(href)}">${this.parser.parseInline(tokens)}</a>`
    },
    image: ({ href, text }) => `<img src="${address(href)}" alt="${escapeHtml(text)}" loading="lazy">`,
    table({ header, rows }) {
      const cells = (row: Tokens.TableCell[], tag: string) =>
        row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')
      const body = rows.map((row) => `<tr${rowId(row)}>${cells(row, 'td')}</tr>`).join('')
      return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${cells(header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>`
    },
  }
}

/** Converts a page. `page` is its path in the repository, from which its links start. */
export function renderMarkdown(markdown: string, url: string, page: string): Rendered {
  const [sections, links]: [Link[], Set<string>] = [[], new Set()]
  const parts = searchEntriesOf(markdown, url)
  const headings = new Set(parts.map(({ url }) => url.split('#')[1] ?? ''))
  const marked = new Marked({ renderer: rendererOf(page, { sections, links }, headings) })
  const html = marked.parser(joinSamples(applyComments(marked.lexer(markdown))))
  return { html, links, sections, title: parts[0]?.title ?? '' }
}

/** Returns the sections of a guide with their text. The first one is the part before the first heading of the second level. */
export function searchEntriesOf(markdown: string, url: string): Section[] {
  const slugger = new GithubSlugger()
  const tokens = new Marked().lexer(markdown)
  const entries: Section[] = []
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { text, depth } = token as Tokens.Heading
      const title = plain(text)
      const id = slugger.slug(title)
      const page = entries[0]?.title ?? title
      entries.push({ title, page, url: depth === 1 ? url : `${url}#${id}`, text: '' })
    } else if (entries.length > 0) {
      const last = entries.at(-1)!
      if (token.type === 'code') last.code = wordsOfCode(`${last.code ?? ''} ${(token as Tokens.Code).text}`)
      else last.text = `${last.text} ${plain(token.raw)}`.trim()
    }
  }
  return entries
}

/** Reads the groups of the navigation from the table in docs/README.md. */
export function groupsOf(index: string, guides: Map<string, Page>): NavigationGroup[] {
  const groups: NavigationGroup[] = []
  for (const line of index.split('\n')) {
    const group = /^\| \*\*(.+?)\*\*/.exec(line)?.[1]
    if (group) groups.push({ title: group, links: [] })
    const [, title, name] = /^\| \[(.+?)\]\(([\w-]+)\.md\)/.exec(line) ?? []
    const page = name && guides.get(name)
    if (page) groups.at(-1)!.links.push({ title: title!, url: page.url })
  }
  return groups
}

const LONGEST_DESCRIPTION = 240

/** Returns the first sentences of a guide: at least one, and as many as fit. */
function descriptionOf(markdown: string): string {
  const paragraph = new Marked()
    .lexer(markdown)
    .find(({ type, raw }) => type === 'paragraph' && !raw.startsWith('The commands use'))
  // The end of a paragraph that introduces a list is left out.
  const text = plain(paragraph?.raw ?? '').replace(/(?<=[.?!]) [^.?!]*:$/, '')

  const [first = '', ...others] = text.split(/(?<=[.?!]) (?=[\p{Lu}<`])/u)
  let description = first
  for (const sentence of others) {
    if (description.length + 1 + sentence.length > LONGEST_DESCRIPTION) break
    description += ` ${sentence}`
  }
  return description.replace(/:$/, '.')
}

/** A guide: its page, and the targets of its links. */
export interface Guide {
  page: Page
  links: Set<string>
}

/** Returns the guide that a page of `docs` describes. `name` is the page's path below `docs`, without its extension. */
export function guidePage(name: string, markdown: string): Guide {
  const url = `/docs/${name}`
  const path = `docs/${name}.md`
  const { html, links, sections, title } = renderMarkdown(markdown, url, path)
  if (!title) throw new Error(`${path} has no heading`)
  const page: Page = {
    url,
    title,
    description: descriptionOf(markdown),
    content: `<article class="prose">${html}</article>`,
    markdown: withAddresses(markdown, links, path),
    sections,
    kind: 'guide',
  }
  return { page, links }
}
