import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { deadLinks } from '../../scripts/check/links.ts'
import { clientOperations as operations } from '../../src/contract/client_operations.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { COLOR_RULES, findings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { expectNoOverflow, openTab, TIMEOUT } from './studio_steps.ts'

/** Tests the pages below `/docs`: the API reference and the guides. */

const root = join(import.meta.dirname, '../..')
const PUBLIC = join(root, 'dist/public')
const PHONE = { viewport: { width: 375, height: 760 }, hasTouch: true, isMobile: true }
const MAX_REQUESTS = 15

let stack: Shared
let browser: Browser

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

test('every link leads to a page and a section, also in the search and in Markdown, and every operation and event has a section', async () => {
  const names = (await readdir(join(PUBLIC, 'docs'), { recursive: true })).filter((name) => name.endsWith('.html'))
  const pages = new Map<string, Set<string>>()
  for (const name of names) {
    const text = await readFile(join(PUBLIC, 'docs', name), 'utf8')
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)
    expect([name, ids.length]).toEqual([name, new Set(ids).size])
    pages.set(name === 'index.html' ? '/docs' : `/docs/${name.slice(0, -5)}`, new Set(ids))
  }
  const { dead } = deadLinks(PUBLIC)
  const search = JSON.parse(await readFile(join(PUBLIC, 'docs/search.json'), 'utf8')) as { url: string }[]
  for (const { url } of search) {
    const [path, hash] = url.split('#')
    if (!pages.has(path!) || (hash && !pages.get(path!)!.has(hash))) dead.push(`search: ${url}`)
  }
  expect(dead).toEqual([])
  const document = JSON.parse(await readFile(join(PUBLIC, 'openapi.json'), 'utf8')) as { webhooks: object }
  const all = new Set([...pages.values()].flatMap((ids) => [...ids]))
  for (const name of [...Object.keys(operations), ...Object.keys(document.webhooks)])
    expect([name, all.has(name)]).toEqual([name, true])
})

test('pages of folders, and files that a page links to, can be read, but are not in the search', async () => {
  const read = async (path: string) => {
    const response = await fetch(stack.base_url + path)
    return [response.status, response.headers.get('content-type'), await response.text()] as const
  }
  const source = await read('/docs/files/src/listening/sums/counts.ts.txt')
  expect(source.slice(0, 2)).toEqual([200, 'text/plain; charset=utf-8'])
  expect(source[2]).toBe(await readFile(join(root, 'src/listening/sums/counts.ts'), 'utf8'))
  const example = await read('/docs/files/examples/player.html.txt')
  expect(example.slice(0, 2)).toEqual([200, 'text/plain; charset=utf-8'])
  const [status, , page] = await read('/docs/decisions/0044-packages')
  expect([status, page.includes('<a href="/docs/packages#vue-3">Packages</a>')]).toEqual([200, true])
  expect((await read('/docs/search.json'))[2]).not.toContain('/docs/decisions/')
})

test('each page is also Markdown, and llms.txt lists all of them', async () => {
  const text = async (path: string) => (await fetch(stack.base_url + path)).text()
  const llms = await text('/llms.txt')
  const pages = [...llms.matchAll(/\((\/docs\/[\w/-]+\.md)\)/g)].map(([, path]) => path!)
  expect(pages.length).toBeGreaterThan(40)
  const upload = await readFile(join(root, 'docs/upload.md'), 'utf8')
  expect(await text('/docs/upload.md')).toBe(upload.replace(/\]\((\w+\.md)/g, '](/docs/$1'))
  // The paths of the repository would lead elsewhere from these addresses.
  expect(await text('/docs/counting.md')).toContain('](/docs/files/src/listening/sums/counts.ts.txt)')
  expect(await text('/llms-full.txt')).not.toMatch(/\]\(\w+\.md/)
  for (const path of ['/docs', '/docs/index']) expect(await text(`${path}.md`)).toMatch(/^# Quick start\n/)
  expect(await text('/docs/keys.md')).not.toContain('audio.example.com')
  expect(await text('/docs/recipes.md')).toMatch(/`https:\/\/audio.example.com` stands for .*\n$/)
  expect(await text('/llms-full.txt')).toContain('POST /v1/play_session/collection')
  const statuses = await Promise.all(pages.map(async (path) => (await fetch(stack.base_url + path)).status))
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('llms.txt describes each page with whole sentences, and its small version has every operation', async () => {
  const text = async (path: string) => (await fetch(stack.base_url + path)).text()
  const llms = await text('/llms.txt')
  const described = [...llms.matchAll(/\]\((\/docs\/[\w/-]+)\.md\): (.*)/g)].map(([, ...parts]) => parts)
  expect(described.length).toBeGreaterThan(55)
  expect(described.filter(([, description]) => !/^[\p{Lu}<`n][^…]{25,}[.?]$/u.test(description!))).toEqual([])
  expect(new Set(described.map(([, description]) => description)).size).toBe(described.length)
  expect(llms).not.toMatch(/<tonearm-\w+(?![\w>-])/)
  const [needed, optional] = llms.split('\n## Optional\n')
  expect([needed, optional].map((part) => part!.includes('(/docs/runbooks.md)'))).toEqual([false, true])
  const small = await text('/llms-small.txt')
  expect(Buffer.byteLength(small)).toBeLessThan(40_000)
  for (const { method, path } of Object.values(operations))
    expect(small).toContain(`- \`${method.toUpperCase()} ${path}\`: `)
  for (const rule of ['upload_complete', 'Never put a server key into a page', 'expire'])
    expect([needed!.includes(rule), small.includes(rule)]).toEqual([true, true])
})

test('the Markdown of the reference has the fields with types, and lists of names are readable', async () => {
  const text = async (path: string) => (await fetch(`${stack.base_url}/docs/api/${path}`)).text()
  const markdown = (name: string) => text(`${name}.md`)
  const collections = await markdown('collections')
  expect(collections).toContain('- `title`: string, required')
  expect(collections).toContain('- `limit`: integer, 1 to 200, default `50`')
  expect(await markdown('objects')).toMatch(/## Track\n\n[\s\S]*- `status`: /)
  const keys = await markdown('api-keys')
  expect(keys).toContain('- `include`: array of `"resource"`')
  const html = await text('api-keys')
  expect([collections, keys, html].filter((page) => page.includes('){0,') || page.includes('1 to 200 items'))).toEqual(
    [],
  )
})

test('the operations of listening name their own limits, describe their fields and lead to the guides', async () => {
  const text = async (path: string) => (await fetch(`${stack.base_url}/docs/api/${path}`)).text()
  const markdown = (name: string) => text(`${name}.md`)
  const page = await text('listening')
  const limits = [...page.matchAll(/href="\/docs\/limits#(\w+)"/g)].map(([, name]) => name)
  expect(limits).toEqual(['heard_size', 'heard_rate', 'heard_organization_rate', 'miss_rate'])
  expect(page).toMatch(/<td>503<\/td>.*#unavailable/)
  expect(page).toContain('<code>token</code> in the path grants access')
  expect(page).toContain('Guide: <a href="/docs/listening">Listening reports</a>')
  expect(page).toMatch(/<code class="name">token<\/code>[^\n]*?<p><code>heard_token<\/code> of a play session/)
  expect(await markdown('listening')).toMatch(
    /- `visit`: string, required, .*\. 16 random lower-case hexadecimal digits/,
  )
  const statistics = await markdown('statistics')
  expect(statistics).toContain('Guide: [Counting](/docs/counting.md).')
  expect(statistics).toMatch(/- `position`: number\. The second from which to resume/)
})

test('the search finds code and whole names, and Escape closes it', async () => {
  const { page, problems } = await openTab(browser)
  await page.goto(`${stack.base_url}/docs`)
  for (const [query, found] of [
    ['pip install', 'Python'],
    ['whsec', 'Verify'],
    ['<tonearm-waveform>', '<tonearm-waveform>'],
  ] as const) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill(query)
    await page.getByRole('option').filter({ hasText: found }).first().waitFor(TIMEOUT)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  }
  expect(problems).toEqual([])
  await page.context().close()
})

describe.each([
  ['desktop', {}],
  ['phone', PHONE],
])('on a %s', (screen, options) => {
  test('the pages pass axe in light and dark, and fit', async () => {
    const { page, problems } = await openTab(browser, { ...options, reducedMotion: 'reduce' })
    for (const path of [
      '/docs',
      '/docs/api/shares',
      '/docs/errors',
      '/docs/uploader',
      '/docs/player',
      '/docs/recipes',
    ]) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto(stack.base_url + path)
      await page.evaluate(() => {
        for (const details of document.querySelectorAll<HTMLDetailsElement>('main details')) details.open = true
      })
      expect([path, await findings(page)]).toEqual([path, []])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect([path, 'dark', await findings(page, COLOR_RULES)]).toEqual([path, 'dark', []])
      await expectNoOverflow(page, path)
    }
    if (screen === 'phone') {
      await page.getByRole('button', { name: 'Navigation' }).click()
      const side = page.getByRole('navigation', { name: 'Documentation' })
      await side.getByText('Let people listen').click()
      await side.getByRole('link', { name: 'Waveform', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Waveform' }).waitFor(TIMEOUT)
    }
    expect(problems).toEqual([])
    await page.context().close()
  })
})

test('the first view needs few requests and no other host, and links lead to operations', async () => {
  const { page, problems } = await openTab(browser)
  const urls: string[] = []
  page.on('request', (request) => urls.push(request.url()))
  await page.goto(`${stack.base_url}/docs`)
  expect(urls.length).toBeLessThanOrEqual(MAX_REQUESTS)
  expect(urls.filter((url) => !url.startsWith(stack.base_url))).toEqual([])
  await page.getByRole('link', { name: 'Create a share' }).or(page.locator('a[href$="#createShare"]')).first().click()
  await page.waitForURL('**/docs/api/shares#createShare')
  const heading = page.locator('#createShare h2')
  await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(300)
  expect((await heading.boundingBox())!.y).toBeGreaterThan(60)
  expect(problems).toEqual([])
  await page.context().close()
})

test('the demos of the elements work without a key, and load nothing before they are in view', async () => {
  const { page, problems } = await openTab(browser, { viewport: { width: 1000, height: 400 } })
  const urls: string[] = []
  page.on('request', (request) => urls.push(request.url()))
  const isLoaded = (name: string) => urls.some((url) => url.endsWith(`/elements/${name}.js`))
  await page.goto(`${stack.base_url}/docs/player#attributes`)
  await page.getByRole('heading', { name: 'Attributes' }).waitFor(TIMEOUT)
  expect(isLoaded('player')).toBe(false)
  await page.locator('.demo').scrollIntoViewIfNeeded()
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  const time = () =>
    page.evaluate(() => document.querySelector<HTMLElement & { currentTime: number }>('tonearm-player')!.currentTime)
  await expect.poll(time, TIMEOUT).toBeGreaterThan(0.5)
  await page.goto(`${stack.base_url}/docs/waveform`)
  await page.locator('.demo').scrollIntoViewIfNeeded()
  await page.getByRole('slider', { name: 'Position in Low Tide' }).press('End')
  await page.goto(`${stack.base_url}/docs/uploader`)
  await page.locator('.demo').scrollIntoViewIfNeeded()
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose files' }).click()
  await (await choosing).setFiles(join(PUBLIC, 'docs/demo.wav'))
  await page.getByRole('textbox', { name: /title/i }).waitFor(TIMEOUT)
  expect(['player', 'waveform', 'uploader'].filter((name) => !isLoaded(name))).toEqual([])
  expect(urls.filter((url) => !url.startsWith(stack.base_url) || url.includes('/v1/'))).toEqual([])
  expect(problems).toEqual([])
  await page.context().close()
})

test('the chosen language applies to all examples and is kept, and the address is the one of the service', async () => {
  const { page } = await openTab(browser)
  await page.goto(`${stack.base_url}/docs/api/shares#getShare`)
  const sample = page.locator('#getShare .sample').first()
  await sample.getByRole('button', { name: 'Python' }).click()
  await page.goto(`${stack.base_url}/docs/api/trash#listTrash`)
  const python = page.locator('#listTrash .sample').first()
  expect(await python.getByRole('button', { name: 'Python' }).getAttribute('aria-pressed')).toBe('true')
  expect(await python.locator('pre:visible').textContent()).toContain(`Tonearm("${stack.base_url}"`)
  await page.context().close()
})

test('the keyboard searches operations and guides', async () => {
  const { page, problems } = await openTab(browser)
  await page.goto(`${stack.base_url}/docs`)
  await page.keyboard.press('/')
  await page.keyboard.type('restore')
  await page.getByRole('option', { name: /^Restore a backup/ }).waitFor(TIMEOUT)
  expect(await findings(page)).toEqual([])
  await page.getByRole('combobox').fill('createTrackPlaySession')
  await page.getByRole('option', { name: /^Create a play session for a track/ }).waitFor(TIMEOUT)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/api/play-sessions#createTrackPlaySession')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('grafana')
  await page.getByRole('option').first().waitFor(TIMEOUT)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/docs\/metrics/)
  expect(problems).toEqual([])
  await page.context().close()
})
