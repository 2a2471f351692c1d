import GithubSlugger from 'github-slugger'
import { Marked, type MarkedExtension, type Token, type Tokens } from 'marked'

import { demoOf } from './demo.ts'
import { codeBlock, escapeHtml, type Sample } from './html.ts'
import { addressOf, withAddresses } from './links.ts'
import type { Link, NavigationGroup, Page } from './shell.ts'

/** The guides, made from the Markdown of `docs`. */

/** A part of a page that the search finds. */
export interface SearchEntry {
  title: string
  /** The page or tag that it belongs to. */
  page: string
  url: string
  text: string
}

interface Rendered {
  html: string
  /** The targets of the links and images, as they are in the Markdown. */
  links: Set<string>
  sections: Link[]
  search: SearchEntry[]
}

/** Languages in which adjacent blocks say the same. Such blocks become tabs. */
const ALTERNATIVES = ['bash', 'ts', 'python']

/** Joins adjacent blocks of code in different languages into one block with tabs. */
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
  return joined
}

/** The words of Markdown, without its marks. */
const plain = (markdown: string) =>
  markdown
    .replace(/<!--[\s\S]*?-->|^ *```\w*$|^ *>/gm, ' ')
    .replace(/\]\([^)]*\)/g, ' ')
    .replace(/[[\]`*|#]|-{3,}/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

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
  const search = searchEntries(markdown, url)
  const headings = new Set(search.map(({ url }) => url.split('#')[1] ?? ''))
  const marked = new Marked({ renderer: rendererOf(page, { sections, links }, headings) })
  const html = marked.parser(joinSamples(marked.lexer(markdown)))
  return { html, links, sections, search }
}

function searchEntries(markdown: string, url: string): SearchEntry[] {
  const slugger = new GithubSlugger()
  const tokens = new Marked().lexer(markdown)
  const entries: SearchEntry[] = []
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { text, depth } = token as Tokens.Heading
      const title = plain(text)
      const id = slugger.slug(title)
      const page = entries[0]?.title ?? title
      entries.push({ title, page, url: depth === 1 ? url : `${url}#${id}`, text: '' })
    } else if (entries.length > 0) {
      const last = entries.at(-1)!
      last.text = `${last.text} ${plain(token.raw)}`.trim()
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

const LONGEST_DESCRIPTION = 160

/** Returns the first paragraph of a guide, cut at a word. */
function descriptionOf(markdown: string): string {
  const paragraph = new Marked().lexer(markdown).find(({ type }) => type === 'paragraph')
  const text = plain(paragraph?.raw ?? '').replace(/ ([.,:;)])|(\() /g, '$1$2')
  if (text.length <= LONGEST_DESCRIPTION) return text
  return `${text.slice(0, text.lastIndexOf(' ', LONGEST_DESCRIPTION)).replace(/[.,:;]$/, '')} …`
}

/** A guide: its page, its entries in the search, and the targets of its links. */
export interface Guide {
  page: Page
  search: SearchEntry[]
  links: Set<string>
}

/** Returns the guide that a page of `docs` describes. `name` is the page's path below `docs`, without its extension. */
export function guidePage(name: string, markdown: string): Guide {
  const url = `/docs/${name}`
  const path = `docs/${name}.md`
  const { html, links, sections, search } = renderMarkdown(markdown, url, path)
  const [first] = search
  if (!first) throw new Error(`${path} has no heading`)
  const page: Page = {
    url,
    title: first.title,
    description: descriptionOf(markdown),
    content: `<article class="prose">${html}</article>`,
    markdown: withAddresses(markdown, links, path),
    sections,
    kind: 'guide',
  }
  return { page, search, links }
}
