import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { guidePage } from '../../scripts/build/docs/guides.ts'
import { readGuides, readQuickStart, shellFunctions } from '../../scripts/build/docs/search_entries.ts'

/** The shell functions that the commands on the pages use. */

const root = join(import.meta.dirname, '../..')
const HEAD = 'The commands use [the functions and variables of Start]'

test('all pages that define the shell functions define them in the same way', async () => {
  const start = shellFunctions(await readFile(join(root, 'docs/start.md'), 'utf8'))
  const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'))
  const texts = await Promise.all(
    ['README.md', ...names.map((name) => `docs/${name}`)].map((path) => readFile(join(root, path), 'utf8')),
  )
  const defining = [...texts, await readQuickStart()].filter(
    (text) => text.includes('api() {') || text.includes('field() {'),
  )
  expect(defining.length).toBeGreaterThanOrEqual(3)
  expect(defining.map(shellFunctions)).toEqual(defining.map(() => start))
  for (const text of defining) expect(text).toMatch(/export TONEARM_KEY=/)
})

test('a page whose commands use these functions says so before the first of them', async () => {
  const missing = [...(await readGuides())].filter(([name, text]) => {
    const first = /```bash\n(?:(?!```)[^])*?\b(?:api|field|serve) /.exec(text)
    const at = text.indexOf(HEAD)
    return first && name !== 'start' && (at === -1 || at > first.index)
  })
  expect(missing.map(([name]) => name)).toEqual([])
})

const htmlOf = (markdown: string) => guidePage('page', `# Page\n\n${markdown}\n`).page.content

test('a picture directly below a live element is left out, and others are shown', () => {
  const picture = '![The player](images/player-light.png)'
  expect(htmlOf(`<!-- demo: player -->\n\n${picture}\n\n${picture}`).match(/<img /g)).toHaveLength(1)
  expect(htmlOf(picture)).toContain('<img ')
})

test('commands that call the API get tabs with TypeScript and Python, and other commands stay alone', () => {
  const languages = (code: string) =>
    [...htmlOf(`\`\`\`bash\n${code}\n\`\`\``).matchAll(/<pre tabindex="0" data-language="(\w+)"/g)].map(
      ([, name]) => name,
    )
  const command = 'api "$URL/v1/share" -d "{\\"collection_id\\": \\"$COLLECTION\\"}" | field share_id'
  expect(languages(command)).toEqual(['bash', 'ts', 'python'])
  expect(htmlOf(`\`\`\`bash\n${command}\n\`\`\``)).toContain(
    'collection_id = sys.argv[<span class="hljs-number">1</span>]',
  )
  for (const other of [`for i in 1 2; do ${command}; done`, 'curl -sS "$ADDRESS" -o file', `${command} | tee ids.txt`])
    expect([other, languages(other)]).toEqual([other, ['bash']])
})
