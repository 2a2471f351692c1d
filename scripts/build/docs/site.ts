import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { build } from 'esbuild'

import { API_TAGS, type ApiTag } from '../../../src/contract/api_tags.ts'
import type { Operations } from '../../../src/contract/operation.ts'
import type { Archive } from '../../pack/archives.ts'
import { root } from '../../shared/settings.ts'
import type { OperationExample } from '../openapi.ts'
import { DEMO_AUDIO, demoAudio } from './demo.ts'
import { groupsOf, type Guide, guidePage, renderMarkdown, type SearchEntry } from './guides.ts'
import { EXAMPLE_ORIGIN, inlineCode } from './html.ts'
import { linkedFiles, withAddresses } from './links.ts'
import {
  type Document,
  entriesOf,
  type Entry,
  objectPage,
  operationPage,
  operationTexts,
  pageOfTag,
  titleOf,
} from './operations.ts'
import { packagesPage } from './packages_page.ts'
import { type Assets, type NavigationGroup, type Page, renderPage } from './shell.ts'

/** Builds all pages below `/docs`, each also as Markdown, the search index, and llms.txt (docs/decisions/0100). */

type Files = Map<string, Uint8Array | string>

const INTRODUCTION = 'Tonearm stores, transcodes and delivers audio: upload a file, and play it anywhere.'
/** Operations of the operator come last, because most readers do not have the root key. */
const LAST_TAGS = ['Organizations', 'Limits', 'System']

/** Bundles the script and the style of the pages. The theme is a separate script, because it runs before the page is painted. */
async function bundleAssets(): Promise<{ files: Files; assets: Assets }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['script', 'theme', 'style'].map((name) => ({
      in: `src/reference/${name}.${name === 'style' ? 'css' : 'ts'}`,
      out: `docs-${name}`,
    })),
    outdir: 'dist/public/assets',
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    metafile: true,
    write: false,
    logLevel: 'error',
  })
  const base = join(root, 'dist/public')
  const files: Files = new Map(outputFiles.map(({ path, contents }) => [path.slice(base.length + 1), contents]))
  const address = (source: string) => {
    const [path] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source)!
    return path.replace('dist/public', '')
  }
  const assets = {
    script: address('src/reference/script.ts'),
    theme: address('src/reference/theme.ts'),
    style: address('src/reference/style.css'),
  }
  return { files, assets }
}

/** Reads all pages of `docs` and its folders: their text by their paths below `docs`, without the extension. */
async function readGuides(): Promise<Map<string, string>> {
  const paths = (await readdir(join(root, 'docs'), { recursive: true }))
    .filter((path) => path.endsWith('.md') && path !== 'README.md')
    .toSorted()
  const texts = paths.map(async (path): Promise<[string, string]> => [
    path.slice(0, -3),
    await readFile(join(root, 'docs', path), 'utf8'),
  ])
  return new Map(await Promise.all(texts))
}

/** Reads the pictures and other files to which guides link. */
async function readLinked(guides: Map<string, Guide>): Promise<Files> {
  const linked = new Map([...guides].flatMap(([name, { links }]) => linkedFiles(links, `docs/${name}.md`)))
  const files = [...linked].map(async ([path, file]) => [file, await readFile(join(root, path))] as const)
  return new Map(await Promise.all(files))
}

function startPage(quickStart: string, entries: Map<string, Entry[]>): Page {
  const { html, links, sections } = renderMarkdown(quickStart, '/docs', 'docs/README.md')
  const tags = [...entries].map(([tag, entries]) => {
    const rows = entries.map(
      ({ name, operation }) =>
        `<li><a href="${pageOfTag(tag)}#${name}">${inlineCode(titleOf(operation.summary))}</a> <code>${operation.method.toUpperCase()} ${operation.path}</code></li>`,
    )
    return `<section class="tag"><h3><a href="${pageOfTag(tag)}">${tag}</a></h3><ul>${rows.join('')}</ul></section>`
  })
  return {
    url: '/docs',
    title: 'Overview',
    description: INTRODUCTION,
    content: `<article class="prose">${html}<h2 id="operations"><a class="anchor" href="#operations">All operations</a></h2><div class="tags">${tags.join('')}</div></article>`,
    markdown: withAddresses(quickStart, links, 'docs/README.md'),
    sections: [...sections, { title: 'All operations', url: '#operations' }],
    kind: 'guide',
  }
}

const operationEntries = (tag: string, entries: Entry[]): SearchEntry[] =>
  entries.map(({ name, operation }) => ({
    title: titleOf(operation.summary).replaceAll('`', ''),
    page: tag,
    url: `${pageOfTag(tag)}#${name}`,
    text: `${operation.method.toUpperCase()} ${operation.path} ${name} ${operation.summary}`,
  }))

/** The index that language models read (llmstxt.org): all pages as Markdown. */
function llmsText(groups: NavigationGroup[], pages: Map<string, Page>): string {
  const parts = groups.map(({ title, links }) => {
    const lines = links.map(({ title, url }) => {
      const description = pages.get(url)!.description
      return `- [${title}](${url === '/docs' ? '/docs/index' : url}.md): ${description}`
    })
    return `## ${title}\n\n${lines.join('\n')}`
  })
  return `# Tonearm\n\n> ${INTRODUCTION}\n\nThe OpenAPI document is at /openapi.json. In code, \`${EXAMPLE_ORIGIN}\` stands for the address of this service.\n\n${parts.join('\n\n')}\n`
}

/** Says what the example origin stands for, because only the HTML pages replace it. */
const withOrigin = (markdown: string) =>
  markdown.includes(EXAMPLE_ORIGIN)
    ? `${markdown}\n\n\`${EXAMPLE_ORIGIN}\` stands for the address of the service that this page is from.\n`
    : markdown

/** Groups operations by their tag. */
function byTag(entries: Entry[]): Map<ApiTag, Entry[]> {
  const tags = Map.groupBy(entries, ({ operation }) => operation.tag)
  const rank = (tag: string) => LAST_TAGS.indexOf(tag)
  const order = (Object.keys(API_TAGS) as ApiTag[]).toSorted((a, b) => rank(a) - rank(b))
  return new Map(order.map((tag) => [tag, tags.get(tag)!]))
}

/** Builds the files of the documentation, with their paths below dist/public. */
export async function buildDocs(
  operations: Operations,
  document: Document,
  examples: Record<string, OperationExample>,
  archives: Archive[],
): Promise<Files> {
  const guides = new Map([...(await readGuides())].map(([name, text]) => [name, guidePage(name, text)]))
  const tags = byTag(entriesOf(operations, document, examples))
  const quickStart = (await readFile(join(root, 'src/reference/quick_start.md'), 'utf8')).replaceAll('../../docs/', '')
  const start = startPage(quickStart, tags)
  const reference = [...tags].map(([tag, entries]) => operationPage(tag, entries, document))
  const objects = objectPage(document)
  const index = await readFile(join(root, 'docs/README.md'), 'utf8')
  const linkOf = ({ title, url }: Page) => ({ title, url })
  const [use, ...others] = groupsOf(index, new Map([...guides].map(([name, { page }]) => [name, page])))
  const groups: NavigationGroup[] = [
    { title: 'Overview', links: [{ title: 'Quick start', url: start.url }] },
    use!,
    { title: 'API reference', links: [...reference, objects].map(linkOf) },
    ...others,
  ]
  const described = [...guides.values()].map(({ page }) => page)
  const pages = new Map(
    [start, ...described, ...reference, objects, packagesPage(archives)].map((page) => [page.url, page]),
  )
  const { files, assets } = await bundleAssets()
  for (const page of pages.values()) {
    const path = page.url === '/docs' ? 'docs/index' : page.url.slice(1)
    files.set(`${path}.html`, renderPage(page, groups, assets))
    for (const name of new Set([path, page.url.slice(1)])) files.set(`${name}.md`, withOrigin(page.markdown))
  }
  // The search and the index contain what the navigation lists: not the pages of the folders, such as decisions.
  const listed = new Set(groups.flatMap(({ links }) => links.map(({ url }) => url)))
  const search = [
    ...[...tags].flatMap(([tag, entries]) => operationEntries(tag, entries)),
    ...[...guides].flatMap(([name, { search }]) => (listed.has(`/docs/${name}`) ? search : [])),
  ]
  for (const [name, markdown] of operationTexts(entriesOf(operations, document, examples)))
    files.set(`docs/api/operations/${name}.md`, markdown)
  files.set(DEMO_AUDIO, demoAudio())
  files.set('docs/search.json', JSON.stringify(search))
  files.set('llms.txt', llmsText(groups, pages))
  const order = groups.flatMap(({ links }) => links.map(({ url }) => pages.get(url)!.markdown))
  files.set('llms-full.txt', order.join('\n\n'))
  return new Map([...files, ...(await readLinked(guides))])
}
