import { EXAMPLE_ORIGIN } from './html.ts'
import { type Entry } from './operations.ts'
import type { NavigationGroup, Page } from './shell.ts'

/** The files that language models read (llmstxt.org): an index, everything in one file, and a small file with the parts that most programs need. */

export const INTRODUCTION = 'Tonearm stores, transcodes and delivers audio: upload a file, and play it anywhere.'

/** Rules that programs written by models break. */
const RULES = `- Never put a server key into a page or an app: a server key may do everything in its organization. Browsers get a play session, a player key or an uploader key.
- After a file has been sent to its upload URL, call \`POST /v1/track/{track_id}/upload_complete\`, or read the track every few seconds: both start the processing at once. The call also says if the file has not arrived. A large file in parts needs \`POST /v1/track/{track_id}/multipart/{multipart_upload_id}/complete\` instead.
- Send the file itself as the body of the PUT request, without a form and without an \`Authorization\` header.
- URLs of audio, of covers and for uploads are signed and expire within an hour. Do not store them. Store ids, and request the play view again.
- A play session expires too, after an hour unless \`expires_in\` says otherwise. Create one for each page view, or use a share or a signed session for links that last.
- Wait for a track with a webhook, or by polling every few seconds, until its \`status\` is \`ready\`, \`incomplete\` (playable, some files are missing) or \`failed\`. \`track.info\` has the reason.
- Repeat a POST only with the \`Idempotency-Key\` of the first attempt. After 429 and 503, wait for the seconds in \`Retry-After\`.
- To import a podcast, a bucket or a list of URLs, use \`npm run import\` (/docs/import.md) instead of a program. Assistants use \`POST /mcp\` (/docs/assistants.md).
- Unknown fields in a body are rejected with 400. Check \`ok\` and \`code\` of a response, not the text of \`message\`.`

const markdownUrl = (url: string) => `${url === '/docs' ? '/docs/index' : url}.md`

const section = (title: string, lines: string[]) => `## ${title}\n\n${lines.join('\n')}`

/** Groups of the navigation that most programs do not need. */
const OPTIONAL = new Set(['Run it', 'Change it'])

/** Returns the index of all pages. */
function indexText(groups: NavigationGroup[], pages: Map<string, Page>): string {
  const line = ({ title, url }: NavigationGroup['links'][number]) =>
    `- [${title}](${markdownUrl(url)}): ${pages.get(url)!.description}`
  const needed = groups.filter(({ title }) => !OPTIONAL.has(title))
  const optional = groups.filter(({ title }) => OPTIONAL.has(title)).flatMap(({ links }) => links)
  return `# Tonearm

> ${INTRODUCTION}

The OpenAPI document is at /openapi.json. /llms-small.txt has the quick start, complete programs, the concepts and one line for each operation; /llms-full.txt has all pages.
In code, \`${EXAMPLE_ORIGIN}\` stands for the address of this service.

${section('Rules', [RULES])}

${needed.map(({ title, links }) => section(title, links.map(line))).join('\n\n')}

${section('Optional', optional.map(line))}
`
}

/** Lowers the headings of a page by one level. Lines of code are no headings. */
const deeper = (markdown: string) => markdown.replace(/^```[^]*?^```|^#/gm, (found) => (found === '#' ? '##' : found))

/** Returns the recipes that have a program. The others are settings of Cloudflare. */
function programsOf(recipes: string): string {
  const [head, ...sections] = recipes.split(/^(?=## )/m)
  return [head, ...sections.filter((section) => /^```(?:ts|python)/m.test(section))].join('')
}

/** Returns the quick start, the recipes, the concepts, and one line for each operation. */
function smallText(pages: Map<string, Page>, tags: Map<string, Entry[]>): string {
  const operations = [...tags].map(([tag, entries]) => {
    const lines = entries.map(
      ({ operation: { method, path, summary } }) =>
        `- \`${method.toUpperCase()} ${path}\`: ${summary.split(/[;:] /)[0]}`,
    )
    return `### ${tag}\n\n${lines.join('\n')}`
  })
  const [start, recipes, concepts] = ['/docs', '/docs/recipes', '/docs/concepts'].map((url) =>
    pages.get(url)!.markdown.trim(),
  )
  const parts = [start!, programsOf(recipes!), concepts!]
  return `# Tonearm

> ${INTRODUCTION}

This is the small version of /llms-full.txt. The fields of each operation are in /openapi.json and in the pages that /llms.txt lists. In code, \`${EXAMPLE_ORIGIN}\` stands for the address of this service.

## Rules

${RULES}

${parts.map((part) => deeper(part).replace(/\n+Next: .*$/, '')).join('\n\n')}

## All operations

${operations.join('\n\n')}
`
}

/** Returns the files with their paths. */
export function llmsFiles(
  groups: NavigationGroup[],
  pages: Map<string, Page>,
  tags: Map<string, Entry[]>,
): [string, string][] {
  const all = groups.flatMap(({ links }) => links.map(({ url }) => pages.get(url)!.markdown))
  return [
    ['llms.txt', indexText(groups, pages)],
    ['llms-small.txt', smallText(pages, tags)],
    ['llms-full.txt', all.join('\n\n')],
  ]
}
