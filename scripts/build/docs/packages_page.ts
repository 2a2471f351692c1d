import { createHash } from 'node:crypto'

import type { Archive } from '../../pack/archives.ts'
import { guidePage } from './guides.ts'
import type { Page } from './shell.ts'

/** The list of the archives below `/packages`, as a page and as JSON. */

/** Returns the page. */
export function packagesPage(archives: Archive[]): Page {
  const rows = archives.map(({ name, file, content }) => {
    const sum = createHash('sha256').update(content).digest('hex')
    return `| [${file}](/packages/${file}) | ${name} | ${content.length} | ${sum} |`
  })
  const { page } = guidePage(
    'packages_list',
    `# Files of the packages

The [packages](/docs/packages) of the version that this Tonearm runs, and the examples that the guides name. This list as JSON:
[/packages/index.json](/packages/index.json).

| File | Name | Bytes | SHA-256 |
| ---- | ---- | ----- | ------- |
${rows.join('\n')}
`,
  )
  return { ...page, url: '/packages/index' }
}

/** Returns the archives and `index.json`, which has the same checksums as `package-lock.json` (`integrity`) and pip (`sha256`). */
export function packageFiles(archives: Archive[]): Map<string, Uint8Array | string> {
  const packages = archives.map(({ name, version, file, content }) => ({
    name,
    version,
    url: `/packages/${file}`,
    size: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
  }))
  return new Map<string, Uint8Array | string>([
    ...archives.map(({ file, content }) => [`packages/${file}`, content] as const),
    ['packages/index.json', `${JSON.stringify({ packages }, null, 2)}\n`],
  ])
}
