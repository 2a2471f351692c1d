import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { addressOf, withAddresses } from '../../scripts/build/docs/links.ts'
import { deadLinks } from '../../scripts/check/links.ts'

const PAGES = {
  'index.html': 'The studio',
  'docs.html': '',
  'docs/play.html': '<h2 id="views">Views</h2> <a href="#views"> <a href="/"> <img src="/docs/images/a.png" alt="">',
  'docs/play.md': '[Views](/docs/play.md#views) [site](https://example.com) `x`\n```js\ncalls[name](value)\n```\n',
  'docs/images/a.png': '',
  'docs/files/src/a.ts.txt': '',
  'packages/index.html': '<a href="/packages/tonearm-client-1.0.0.tgz"> <a href="/docs/play#views">',
  'packages/tonearm-client-1.0.0.tgz': '',
}

async function deadIn(files: Record<string, string>): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'tonearm-links-'))
  try {
    for (const [name, text] of Object.entries({ ...PAGES, ...files })) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
    return deadLinks(directory).dead
  } finally {
    await rm(directory, { recursive: true })
  }
}

test('links to pages, sections, pictures, files and the studio are accepted', async () => {
  expect(
    await deadIn({ 'docs/a.html': '<a href="/packages/"> <a href="/docs"> <a href="mailto:a@example.com">' }),
  ).toEqual([])
})

test.each([
  ['docs/a.html', '<a class="x" href="/docs/other">', '/docs/other'],
  ['docs/a.html', '<a href="/docs/play#other">', '/docs/play#other'],
  ['docs/a.html', '<a href="#other">', '#other'],
  ['docs/a.html', '<a href="../src/a.ts">', '../src/a.ts'],
  ['docs/a.html', '<img src="/docs/images/b.png" alt="">', '/docs/images/b.png'],
  ['docs/decisions/a.md', '[a](/docs/files/src/b.ts.txt)', '/docs/files/src/b.ts.txt'],
  ['llms-full.txt', '[a](play.md)', 'play.md'],
  [
    'docs/a.md',
    '```sh\nnpm install https://audio.example.com/packages/tonearm-client-0.9.0.tgz\n```',
    '/packages/tonearm-client-0.9.0.tgz',
  ],
])('a link in %s that leads nowhere is reported: %s', async (page, text, href) => {
  expect(await deadIn({ [page]: text })).toEqual([`${page}: ${href}`])
})

test('the paths of the repository become addresses of the service', () => {
  const page = 'docs/decisions/0044-packages.md'
  expect(addressOf('0025-written-by-hand.md', page)).toBe('/docs/decisions/0025-written-by-hand')
  expect(addressOf('../packages.md#vue-3', page, '.md')).toBe('/docs/packages.md#vue-3')
  expect(addressOf('../README.md', page)).toBe('/docs')
  expect(addressOf('../../src/index.ts', page)).toBe('/docs/files/src/index.ts.txt')
  expect(addressOf('../images/share.png', page)).toBe('/docs/images/share.png')
  expect(addressOf('https://audio.example.com/packages/', page)).toBe('/packages/')
  expect(
    withAddresses('[a](b.md), [c](https://c.example) and `a](b.md`', ['b.md', 'https://c.example'], 'docs/a.md'),
  ).toBe('[a](/docs/b.md), [c](https://c.example) and `a](b.md`')
})
