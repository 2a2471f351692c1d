import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'

import GithubSlugger from 'github-slugger'
import { lexer, type Token, type Tokens, walkTokens } from 'marked'

/**
 * `node scripts/check/citations.ts [directory]`: checks that every citation in the tracked and new files names an existing file and heading.
 * External pages are not requested. A citation is:
 *
 * - a link or picture with a relative address, in Markdown;
 * - the name of a page, optionally with the id that GitHub generates for a heading: `docs/architecture.md#inheritance`;
 * - `specification §2`, or `specification §2, Track` for a heading in that section;
 * - a decision: `docs/decisions/0017`, or, in a decision, `(0017)`;
 * - a path from the root that is in backticks or has an extension such as `.ts`: `src/contract`;
 * - the end of such a path: `contract/track.ts`. It has a folder, an extension, and no quotes, so that the names of modules and of files that
 *   code writes do not count.
 */

const directory = process.argv[2] ?? '.'
const SPECIFICATION = 'docs/specification.md'
const TEXT = /\.(ts|tsx|css|html|md|sql|toml|sh|yml)$|Dockerfile$|^\.ci\//
/** Files that are generated, or that contain invalid citations on purpose. */
const SKIPPED = [
  'worker-configuration.d.ts',
  'test/contract/citations.test.ts',
  'test/contract/links.test.ts',
  'test/contract/prose.test.ts',
  'test/contract/structure.test.ts',
]
const ROOT = '(?:src|scripts|docs|container|test|bench|drizzle|examples)'
const ROOTS = new RegExp(`^${ROOT}/`)
const PATH = new RegExp(`\`(${ROOT}/[\\w./-]+)\`|(?<![\\w./-])(${ROOT}/[\\w./-]+\\.(?:tsx?|css|sql|sh))\\b`, 'g')
const PATH_END = /(?<![\w./@$*'-])([\w-]+(?:\/[\w-]+)*\/[\w.-]+\.(?:tsx?|css|sql|sh))\b(?!')/g
const PAGE = /(?<![\w./:-])([\w./-]*\w\.md(?:#[\w-]+)?)\b/g
const SECTION = /§(\d+(?:\.\d+)*)(?:, ([A-Z]\w+(?: \w+)*))?/g
/** Names of other documents. A § after one of these names refers to that document. */
const OTHER_DOCUMENTS = /\b(RFC|ISO|WCAG|ITU|EBU|HTML|oEmbed|ID3v2)\b/gi

const tracked = execFileSync('git', ['-C', directory, 'ls-files', '-co', '--exclude-standard', '-z'], {
  encoding: 'utf8',
})
const paths = new Set(tracked.split('\0').filter((path) => path && existsSync(join(directory, path))))
const folders = new Set([...paths].flatMap(foldersOf))
/** The ends of all paths: for `src/contract/track.ts`, also `contract/track.ts`. */
const pathEnds = new Set([...paths].flatMap((path) => path.split('/').map((_, i, parts) => parts.slice(i).join('/'))))
const decisions = new Set([...paths].map((path) => /^docs\/decisions\/(\d{4})-/.exec(path)?.[1]))
const texts = new Map([...paths].filter(isText).map((path) => [path, readFileSync(join(directory, path), 'utf8')]))
const pages = new Map([...texts].filter(([path]) => path.endsWith('.md')).map(([path, text]) => [path, lexer(text)]))
const headings = new Map([...pages].map(([path, tokens]) => [path, headingsOf(tokens)]))

let citations = 0
const faults: string[] = []

function isText(path: string): boolean {
  return TEXT.test(path) && !SKIPPED.includes(path)
}

function foldersOf(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, i) => parts.slice(0, i).join('/') || '.')
}

interface Heading {
  depth: number
  text: string
  slug: string
}

function headingsOf(tokens: Token[]): Heading[] {
  const slugger = new GithubSlugger()
  return tokens
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map(({ depth, tokens: inline }) => ({ depth, text: plain(inline), slug: slugger.slug(plain(inline)) }))
}

function plain(tokens: Token[]): string {
  return tokens.map((token) => ('tokens' in token && token.tokens ? plain(token.tokens) : textOf(token))).join('')
}

function textOf(token: Token): string {
  return 'text' in token ? String(token.text) : ''
}

/** Counts a citation. `missing` describes the target if it does not exist. */
function cite(where: string, missing: string | null): void {
  citations++
  if (missing) faults.push(`${where}: ${missing}`)
}

function exists(path: string): boolean {
  return paths.has(path) || folders.has(path)
}

/**
 * Returns a description of a missing page or heading, or null if the target exists. The path is relative to the first folder that contains
 * it.
 */
function missingPage(from: string, address: string, ...folders: string[]): string | null {
  const [path = '', anchor] = address.split('#')
  const found = path === '' ? from : folders.map((folder) => join(folder, path).replace(/\/$/, '')).find(exists)
  if (!found) return `there is no ${path}`
  const pageHeadings = headings.get(found)
  if (!anchor || !pageHeadings || pageHeadings.some(({ slug }) => slug === anchor)) return null
  return `${found} has no heading #${anchor}`
}

/** Returns which document a § refers to: the last document whose name precedes it in the line. */
function ownerOf(from: string, before: string): 'ours' | 'other' | 'none' {
  const ours = from === SPECIFICATION ? 0 : before.toLowerCase().lastIndexOf('specification')
  const other = [...before.matchAll(OTHER_DOCUMENTS)].at(-1)?.index ?? -1
  return other > ours ? 'other' : ours < 0 ? 'none' : 'ours'
}

/** Returns a description of a missing section or heading of the specification, or null if both exist. */
function missingSection(section: string, name: string | undefined): string | null {
  const all = headings.get(SPECIFICATION) ?? []
  const start = all.findIndex(({ depth, text }) => depth === 2 && text.startsWith(`${section}. `))
  if (start < 0) return `${SPECIFICATION} has no §${section}`
  const next = all.findIndex(({ depth }, i) => i > start && depth <= 2)
  const below = all.slice(start + 1, next < 0 ? undefined : next)
  if (!name || below.some(({ text }) => name === text || name.startsWith(`${text} `))) return null
  return `${SPECIFICATION} §${section} has no heading ${name}`
}

/** Checks the citations in a line of a comment, of code, or of prose. */
function readLine(from: string, line: string, where: string): void {
  for (const [, quoted, bare] of line.matchAll(PATH)) {
    const path = (quoted ?? bare!).replace(/\/$/, '')
    const decision = /^docs\/decisions\/(\d{4})$/.exec(path)?.[1]
    if (!decision && !path.endsWith('.md')) cite(where, exists(path) ? null : `there is no ${path}`)
  }
  for (const [, end] of line.matchAll(PATH_END))
    if (!ROOTS.test(end!)) cite(where, pathEnds.has(end!) ? null : `no path ends with ${end}`)
  for (const [, page] of line.matchAll(PAGE)) cite(where, missingPage(from, page!, dirname(from), '.'))
  for (const { 1: section, 2: name, index } of line.matchAll(SECTION)) {
    const owner = ownerOf(from, line.slice(0, index))
    if (owner === 'none') cite(where, `§${section} names no document on its line`)
    if (owner === 'ours') cite(where, missingSection(section!, name))
  }
  const pattern = from.startsWith('docs/decisions/') ? /\((\d{4})\)/g : /docs\/decisions\/(\d{4})\b(?!-)/g
  for (const [, number] of line.matchAll(pattern))
    cite(where, decisions.has(number) ? null : `there is no decision ${number}`)
}

/** Returns the targets of the links and pictures on a page, including those in HTML. */
function addressesOf(tokens: Token[]): string[] {
  const found: string[] = []
  void walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') found.push((token as Tokens.Link).href)
    if (token.type === 'html') found.push(...[...token.raw.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, to]) => to!))
  })
  return found.filter((address) => !/^([a-z][a-z+.-]*:|\/)/i.test(address))
}

function readPage(path: string, text: string, tokens: Token[]): void {
  const after = new Map<string, number>()
  for (const address of addressesOf(tokens)) {
    const starts = [`](${address}`, `="${address}`].map((start) => text.indexOf(start, after.get(address)))
    const at = Math.min(...starts.filter((start) => start >= 0))
    after.set(address, at + 1)
    cite(`${path}:${text.slice(0, at).split('\n').length}`, missingPage(path, decodeURI(address), dirname(path)))
  }
}

for (const [path, text] of texts) {
  const tokens = pages.get(path)
  if (tokens) readPage(path, text, tokens)
  // Links are removed, because they are already checked, and code blocks, because they contain no citations.
  const prose = tokens ? text.replace(/^ *```[^]*?^ *```|\[[^\]]*\]\([^)\s]*\)/gm, blank) : text
  for (const [i, line] of prose.split('\n').entries()) readLine(path, line, `${path}:${i + 1}`)
}

function blank(block: string): string {
  return block.replace(/[^\n]/g, '')
}

for (const fault of faults) console.error(fault)
console.log(`${citations} citations, ${faults.length === 0 ? 'all there' : `${faults.length} lead nowhere`}`)
process.exitCode = faults.length === 0 ? 0 : 1
