import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { EXAMPLE_ORIGIN } from '../build/docs/html.ts'

/**
 * `node scripts/check/links.ts`: checks that every link on the pages below `/docs` and `/packages`, also in their Markdown, leads to a file of
 * `dist/public` and to a section of it, and that the code on them names only elements and packages that exist. Runs after `npm run build`.
 */

const HTML = /<(?:a|img)\b[^>]*? (?:href|src)="([^"]*)"/g
const MARKDOWN = /\]\(([^()\s]+)\)/g
const CODE = /^ *```[^]*?^ *```/gm
/** The address of an element or a package, which code contains as well. */
const NAMED = new RegExp(`${EXAMPLE_ORIGIN}(/(?:elements|packages)/(?:[\\w./-]*\\w)?)`, 'g')

/** Returns the targets of the links in a file. */
function linksOf(name: string, text: string): string[] {
  if (name.endsWith('.html')) return [...text.matchAll(HTML)].map(([, href]) => href!)
  const links = [...text.replace(CODE, '').matchAll(MARKDOWN), ...text.matchAll(NAMED)]
  return links.map(([, href]) => href!)
}

/** Returns the links that lead nowhere, each after the page that contains it, and the number of all links. */
export function deadLinks(directory: string): { dead: string[]; count: number } {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const files = new Set(names)
  const texts = new Map(
    names
      .filter((name) => /^(?:(?:docs|packages)\/.*\.(?:html|md)|llms.*\.txt)$/.test(name))
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  )
  const ids = new Map([...texts].map(([name, text]) => [name, new Set(idsOf(text))]))
  /** Returns the file that the service sends for a path. */
  const fileOf = (path: string) =>
    [path, `${path}.html`, `${path.replace(/\/$/, '')}/index.html`]
      .map((name) => name.replace(/^\//, ''))
      .find((name) => /\.\w+$/.test(name) && files.has(name))
  const leads = (href: string, page: string) => {
    const [path, hash] = href.split('#')
    const file = path ? path.startsWith('/') && fileOf(path) : page
    return Boolean(file) && (!hash || !file || !file.endsWith('.html') || ids.get(file)?.has(hash) === true)
  }
  const links = [...texts]
    .flatMap(([page, text]) => linksOf(page, text).map((href) => ({ page, href })))
    .filter(({ href }) => !/^[a-z]+:/.test(href))
  const dead = links.filter(({ page, href }) => !leads(href, page)).map(({ page, href }) => `${page}: ${href}`)
  return { dead: [...new Set(dead)], count: links.length }
}

const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)

if (import.meta.main) {
  const { dead, count } = deadLinks('dist/public')
  for (const link of dead) console.error(link)
  console.log(`${count} links, ${dead.length === 0 ? 'all lead somewhere' : `${dead.length} lead nowhere`}`)
  process.exitCode = dead.length === 0 ? 0 : 1
}
