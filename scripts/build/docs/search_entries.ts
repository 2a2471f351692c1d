import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { clientOperations } from '../../../src/contract/client_operations.ts'
import type { SearchEntry } from '../../../src/reference/find.ts'
import { root } from '../../shared/settings.ts'
import { type Section, searchEntriesOf } from './guides.ts'
import { pageOfTag, titleOf } from './operation_title.ts'
import { SYNONYMS } from './synonyms.ts'

/** The entries of the search of `/docs`: the sections of the guides, and the operations. */

/** Pages about the inside of Tonearm. They contain everybody's words, but answer few questions of users. */
const INTERNAL = new Set(['architecture', 'glossary', 'specification'])

/** Reads all pages of `docs` and its folders: their text by their paths below `docs`, without the extension. */
export async function readGuides(): Promise<Map<string, string>> {
  const paths = (await readdir(join(root, 'docs'), { recursive: true }))
    .filter((path) => path.endsWith('.md') && path !== 'README.md')
    .toSorted()
  const texts = paths.map(async (path): Promise<[string, string]> => [
    path.slice(0, -3),
    await readFile(join(root, 'docs', path), 'utf8'),
  ])
  return new Map(await Promise.all(texts))
}

/** Reads the first page of `/docs`, with links as in a page of `docs` and with the shell functions of docs/start.md. */
export async function readQuickStart(): Promise<string> {
  const [text, start] = await Promise.all(
    ['src/reference/quick_start.md', 'docs/start.md'].map((path) => readFile(join(root, path), 'utf8')),
  )
  return text!.replaceAll('../../docs/', '').replace('# shell functions', () => shellFunctions(start!))
}

/** Returns the definitions of the shell functions in a page. */
export function shellFunctions(markdown: string): string {
  const [functions, indent] = /^( *)api\(\) \{[^]*?^\1field\(\) \{[^]*?^\1\}$/m.exec(markdown) ?? []
  if (!functions) throw new Error('A page does not define the shell functions api and field')
  return functions.replace(new RegExp(`^${indent}`, 'gm'), '')
}

function guideEntries(name: string, text: string): SearchEntry[] {
  const kind = INTERNAL.has(name) ? 'internal' : 'guide'
  const [first, ...sections] = searchEntriesOf(text, name === 'index' ? '/docs' : `/docs/${name}`)
  const words = SYNONYMS[name]
  // The length keeps the file small that a search loads.
  const cut = (section: Section) => (kind === 'internal' ? { ...section, text: section.text.slice(0, 200) } : section)
  return [
    { ...cut(first!), kind, ...(words && { words }) },
    ...sections.map((section) => ({ ...cut(section), kind }) as const),
  ]
}

const operationEntries = () =>
  Object.entries(clientOperations).map(([name, { summary, tag, method, path }]) => ({
    kind: 'operation' as const,
    title: titleOf(summary).replaceAll('`', ''),
    page: tag,
    url: `${pageOfTag(tag)}#${name}`,
    text: `${method.toUpperCase()} ${path} ${name} ${summary}`,
  }))

/** Returns all entries. Pages in folders of `docs`, such as decisions, have none. */
export async function readSearchEntries(): Promise<SearchEntry[]> {
  const guides = new Map([['index', await readQuickStart()], ...(await readGuides())])
  for (const name of Object.keys(SYNONYMS))
    if (!guides.has(name))
      throw new Error(`scripts/build/docs/synonyms.ts names the page ${name}, which does not exist`)
  return [
    ...operationEntries(),
    ...[...guides].flatMap(([name, text]) => (name.includes('/') ? [] : guideEntries(name, text))),
  ]
}
