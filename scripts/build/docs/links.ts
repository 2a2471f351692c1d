import { dirname, join } from 'node:path/posix'

import { EXAMPLE_ORIGIN } from './html.ts'

/** Where the links of the guides lead: to other pages, and to copies of the files of the repository to which they refer. */

/** Below this address are the files outside `docs` to which a page links. `.txt` is added to their names, so that browsers show them. */
const FILES = '/docs/files/'
const EXTERNAL = /^(?:[a-z]+:|#|\/)/

/** Returns the path in the repository to which a link leads, and its anchor. Returns null if the link is not a path. */
function targetOf(href: string, page: string): { path: string; anchor: string } | null {
  if (EXTERNAL.test(href)) return null
  const [path = '', hash] = href.split('#')
  return { path: join(dirname(page), path), anchor: hash ? `#${hash}` : '' }
}

const isPage = (path: string) => path.startsWith('docs/') && path.endsWith('.md')

/** Returns the address of a link. `page` is the path of the page in the repository, `extension` that of the addresses of pages. */
export function addressOf(href: string, page: string, extension: '' | '.md' = ''): string {
  const target = targetOf(href, page)
  if (!target) return href.startsWith(`${EXAMPLE_ORIGIN}/`) ? href.slice(EXAMPLE_ORIGIN.length) : href
  const { path, anchor } = target
  if (path === 'docs/README.md') return extension ? `/docs/index${extension}` : '/docs'
  if (isPage(path)) return `/${path.slice(0, -3)}${extension}${anchor}`
  return path.startsWith('docs/') ? `/${path}` : `${FILES}${path}.txt`
}

/** Returns the Markdown of a page with addresses in its links instead of paths, because it is also read apart from the repository. */
export function withAddresses(markdown: string, links: Iterable<string>, page: string): string {
  let text = markdown
  for (const href of links) text = text.replaceAll(`](${href})`, `](${addressOf(href, page, '.md')})`)
  return text
}

/** Returns the paths of the files, other than pages, to which a page links, with their paths below `dist/public`. */
export function linkedFiles(links: Iterable<string>, page: string): [path: string, file: string][] {
  return [...links].flatMap((href): [string, string][] => {
    const path = targetOf(href, page)?.path
    return path && !isPage(path) ? [[path, addressOf(href, page).slice(1)]] : []
  })
}
