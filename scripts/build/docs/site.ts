import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { build } from 'esbuild'

import { API_TAGS, type ApiTag } from '../../../src/contract/api_tags.ts'
import type { Operations } from '../../../src/contract/operation.ts'
import { root } from '../../shared/settings.ts'
import type { OperationExample } from '../openapi.ts'
import { DEMO_AUDIO, demoAudio } from './demo.ts'
import { groupsOf, guidePage, renderMarkdown, type SearchEntry } from './guides.ts'
import { EXAMPLE_ORIGIN, inlineCode } from './html.ts'
import { type Document, entriesOf, type Entry, objectPage, operationPage, pageOfTag, titleOf } from './operations.ts'
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

async function readGuides(): Promise<Map<string, string>> {
  const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md') && name !== 'README.md')
  const texts = names.map(async (name): Promise<[string, string]> => [
    name.slice(0, -3),
    await readFile(join(root, 'docs', name), 'utf8'),
  ])
  return new Map(await Promise.all(texts))
}

async function readImages(): Promise<Files> {
  const names = await readdir(join(root, 'docs/images'))
  const images = names.map(async (name): Promise<[string, Uint8Array]> => [
    `docs/images/${name}`,
    await readFile(join(root, 'docs/images', name)),
  ])
  return new Map(await Promise.all(images))
}

function startPage(quickStart: string, pages: Set<string>, entries: Map<string, Entry[]>): Page {
  const { html, sections } = renderMarkdown(quickStart, '/docs', pages)
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
    markdown: quickStart,
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
): Promise<Files> {
  const texts = await readGuides()
  const names = new Set(texts.keys())
  const guides = new Map([...texts].map(([name, text]) => [name, guidePage(name, text, names)]))
  const tags = byTag(entriesOf(operations, document, examples))
  const quickStart = (await readFile(join(root, 'src/reference/quick_start.md'), 'utf8')).replaceAll('../../docs/', '')
  const start = startPage(quickStart, names, tags)
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
  const pages = new Map(
    [start, ...[...guides.values()].map(({ page }) => page), ...reference, objects].map((page) => [page.url, page]),
  )
  const { files, assets } = await bundleAssets()
  for (const page of pages.values()) {
    const path = page.url === '/docs' ? 'docs/index' : page.url.slice(1)
    files.set(`${path}.html`, renderPage(page, groups, assets))
    for (const name of new Set([path, page.url.slice(1)])) files.set(`${name}.md`, withOrigin(page.markdown))
  }
  const search = [
    ...[...tags].flatMap(([tag, entries]) => operationEntries(tag, entries)),
    ...[...guides.values()].flatMap(({ search }) => search),
  ]
  files.set(DEMO_AUDIO, demoAudio())
  files.set('docs/search.json', JSON.stringify(search))
  files.set('llms.txt', llmsText(groups, pages))
  const order = groups.flatMap(({ links }) => links.map(({ url }) => pages.get(url)!.markdown))
  files.set('llms-full.txt', order.join('\n\n'))
  return new Map([...files, ...(await readImages())])
}
