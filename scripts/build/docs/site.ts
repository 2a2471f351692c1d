import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

import { build, type BuildOptions } from 'esbuild'

import { API_TAGS, type ApiTag } from '../../../src/contract/api_tags.ts'
import type { Operations } from '../../../src/contract/operation.ts'
import type { Archive } from '../../pack/archives.ts'
import { root } from '../../shared/settings.ts'
import type { OperationExample } from '../openapi.ts'
import { DEMO_AUDIO, demoAudio } from './demo.ts'
import { groupsOf, type Guide, guidePage, renderMarkdown } from './guides.ts'
import { EXAMPLE_ORIGIN, inlineCode } from './html.ts'
import { linkedFiles, withAddresses } from './links.ts'
import { INTRODUCTION, llmsFiles } from './llms.ts'
import { pageOfTag, titleOf } from './operation_title.ts'
import { type Document, entriesOf, type Entry, objectPage, operationPage, operationTexts } from './operations.ts'
import { packagesPage } from './packages_page.ts'
import { readGuides, readQuickStart, readSearchEntries } from './search_entries.ts'
import { type Assets, type NavigationGroup, type Page, renderPage } from './shell.ts'

/** Builds all pages below `/docs`, each also as Markdown, the search index, and llms.txt (docs/decisions/0100). */

type Files = Map<string, Uint8Array | string>

/** Operations of the operator come last, because most readers do not have the root key. */
const LAST_TAGS = ['Organizations', 'Limits', 'System']

/** Bundles the script and the style of the pages. The theme is a separate script without modules, because it runs before the page is painted. */
async function bundleAssets(): Promise<{ files: Files; assets: Assets }> {
  const files: Files = new Map()
  const addresses = new Map<string, string>()
  async function bundle(options: Pick<BuildOptions, 'format' | 'splitting'>, ...sources: string[]): Promise<void> {
    const { outputFiles, metafile } = await build({
      absWorkingDir: root,
      entryPoints: sources.map((name) => ({ in: `src/reference/${name}`, out: `docs-${name.split('.')[0]}` })),
      outdir: 'dist/public/assets',
      entryNames: '[name]-[hash]',
      chunkNames: 'docs-[name]-[hash]',
      bundle: true,
      minify: true,
      target: 'es2022',
      metafile: true,
      logLevel: 'error',
      ...options,
      write: false,
    })
    for (const { path, contents } of outputFiles) files.set(relative(join(root, 'dist/public'), path), contents)
    for (const [path, { entryPoint }] of Object.entries(metafile.outputs))
      if (entryPoint) addresses.set(entryPoint.replace('src/reference/', ''), path.replace('dist/public', ''))
  }
  await bundle({ format: 'esm', splitting: true }, 'script.ts', 'style.css')
  await bundle({ format: 'iife' }, 'theme.ts')
  const [script, theme, style] = ['script.ts', 'theme.ts', 'style.css'].map((name) => addresses.get(name)!)
  return { files, assets: { script: script!, theme: theme!, style: style! } }
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
  const quickStart = await readQuickStart()
  const start = startPage(quickStart, tags)
  const reference = [...tags].map(([tag, entries]) => operationPage(tag, entries, document))
  const objects = objectPage(document)
  const index = await readFile(join(root, 'docs/README.md'), 'utf8')
  const linkOf = ({ title, url }: Page) => ({ title, url })
  const listed = groupsOf(index, new Map([...guides].map(([name, { page }]) => [name, page])))
  const at = listed.findIndex(({ title }) => title === 'Look up')
  const groups: NavigationGroup[] = [
    { title: 'Overview', links: [{ title: 'Quick start', url: start.url }] },
    ...listed.slice(0, at).map((group, index) => ({ ...group, isOpen: index === 0 })),
    { title: 'API reference', links: [...reference, objects].map(linkOf) },
    ...listed.slice(at),
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
  for (const [name, markdown] of operationTexts(entriesOf(operations, document, examples)))
    files.set(`docs/api/operations/${name}.md`, markdown)
  files.set(DEMO_AUDIO, demoAudio())
  files.set('docs/search.json', JSON.stringify(await readSearchEntries()))
  return new Map([...files, ...llmsFiles(groups, pages, tags), ...(await readLinked(guides))])
}
