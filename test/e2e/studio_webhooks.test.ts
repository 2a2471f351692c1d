import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { type Client, createClient, verifyWebhook } from '../../src/client/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { showLog } from '../support/logs.ts'
import { freePorts } from '../support/stack.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { must } from './steps.ts'
import { chooseOption, choose, openTab, TIMEOUT, signIn, visit } from './studio_steps.ts'

/** Tests webhooks in the studio with a real receiver, the activity page, and the receiver of `npm run webhooks`. */

let stack: Shared
let browser: Browser
let client: Client
let server: Server
let url: string
/** The requests that the receiver got. It rejects only the first request, because the second attempt follows soon but later attempts do not. */
const received: { headers: IncomingHttpHeaders; body: string }[] = []
async function answer(request: IncomingMessage, response: ServerResponse) {
  received.push({ headers: request.headers, body: await text(request) })
  response.writeHead(received.length === 1 ? 500 : 204).end('what it says')
}

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
  server = createServer((request, response) => {
    void answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
})
afterAll(async () => {
  server.close()
  await closePages()
  await stack?.dispose()
})

test('a webhook is created, tested, resent, rotated, paused and deleted', async () => {
  const { page, problems } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, '#/webhooks', 'Webhooks')
  await page.getByRole('button', { name: 'New webhook' }).click()
  // An error is shown at the field that caused it.
  await page.getByLabel('URL').fill('https://10.0.0.1/')
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await page.locator('.field .error').waitFor(TIMEOUT)
  await page.getByLabel('URL').fill(url)
  await page.getByLabel('Title').fill('Shop')
  await chooseOption(page.getByRole('combobox', { name: 'Events' }), 'Only chosen events')
  await page.getByLabel('Playlist changed').check()
  await page.getByLabel('All playlist events').check()
  // Selecting the group hides the checkboxes of the single events that it includes.
  expect(await page.getByLabel('Playlist changed').count()).toBe(0)
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const dialog = page.getByRole('dialog')
  const secretOf = () => dialog.getByLabel('Secret', { exact: true }).textContent(TIMEOUT)
  const first = await secretOf()
  await dialog.getByRole('button', { name: 'Done' }).click()
  const { webhook_endpoints } = await must(client.get('/v1/webhook_endpoint'))
  expect(webhook_endpoints).toMatchObject([{ url, title: 'Shop', events: ['playlist.*'] }])

  await page.getByRole('link', { name: 'Shop' }).click()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('link', { name: 'Webhook tested' }).click(TIMEOUT)
  const timeline = page.locator('.timeline')
  await timeline.getByText('500, not accepted').first().waitFor(TIMEOUT)
  await timeline.getByText('what it says').first().waitFor()
  await timeline.getByText('Headers').first().click()
  await timeline.getByText('webhook-signature: v1,').first().waitFor()
  // The failed delivery is retried automatically. A request after that comes from the button.
  await timeline.getByText('Delivered').waitFor(TIMEOUT)
  const tried = received.length
  await page.getByRole('button', { name: 'Send again' }).click()
  await expect.poll(() => timeline.getByText('204, arrived').count(), TIMEOUT).toBe(2)
  await timeline.getByText('Delivered').waitFor(TIMEOUT)
  const ids = new Set(received.map(({ headers }) => headers['webhook-id']))
  expect([ids.size, received.length]).toEqual([1, tried + 1])
  for (const request of received)
    expect(await verifyWebhook({ ...request, secret: first! })).toMatchObject({ ok: true })

  await page.getByRole('link', { name: 'Webhook', exact: true }).click()
  await page.getByRole('link', { name: 'Given up' }).click()
  await page.getByRole('heading', { name: 'Nothing here' }).waitFor(TIMEOUT)
  await page.getByRole('link', { name: 'Delivered' }).click()
  await page.getByRole('link', { name: 'Webhook tested' }).waitFor(TIMEOUT)

  await choose(page, 'More for Shop', 'New secret …')
  await chooseOption(dialog.getByLabel('The old secret ends'), 'at once')
  await dialog.getByRole('button', { name: 'Make new secret' }).click()
  const second = await secretOf()
  await dialog.getByRole('button', { name: 'Done' }).click()
  const before = received.length
  await page.getByRole('button', { name: 'Send a test' }).click()
  await expect.poll(() => received.length, TIMEOUT).toBeGreaterThan(before)
  // The page switches to the list of all deliveries, because the test has not been delivered yet.
  await expect.poll(() => page.url(), TIMEOUT).not.toContain('/delivered')
  const last = received.at(-1)!
  expect([
    (await verifyWebhook({ ...last, secret: second! })).ok,
    await verifyWebhook({ ...last, secret: first! }),
  ]).toEqual([true, { ok: false, code: 'signature_mismatch' }])

  await choose(page, 'More for Shop', 'Pause')
  await page.getByText('paused by hand').waitFor(TIMEOUT)
  const body = { title: 'Missed' }
  await must(client.post('/v1/playlist', { body }))
  await page.getByRole('button', { name: 'Resume and send missed events' }).click()
  await dialog.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Resumed, 1 missed event on the way').waitFor(TIMEOUT)
  await page.getByRole('link', { name: 'Playlist created' }).waitFor(TIMEOUT)
  await expect.poll(() => received.at(-1)!.body, TIMEOUT).toContain('playlist.created')
  await choose(page, 'More for Shop', 'Pause')
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await page.getByRole('button', { name: 'Send a test' }).waitFor(TIMEOUT)
  await choose(page, 'More for Shop', 'Edit …')
  await page.getByLabel('Title').fill('Shop of ours')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Shop of ours' }).waitFor(TIMEOUT)
  // If the title is empty, the form sends the name of the host as the title. It does not send unchanged fields.
  await choose(page, 'More for Shop of ours', 'Edit …')
  await page.getByLabel('Title').fill('')
  const put = page.waitForRequest((request) => request.method() === 'PUT')
  await page.getByRole('button', { name: 'Save' }).click()
  expect((await put).postDataJSON()).toEqual({ title: '127.0.0.1' })
  await page.getByRole('heading', { name: '127.0.0.1' }).waitFor(TIMEOUT)
  await choose(page, 'More for 127.0.0.1', 'Delete webhook …')
  await dialog.getByRole('button', { name: 'Delete webhook' }).click()
  await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor(TIMEOUT)
  // Only the rejected URL caused an error.
  expect(problems.filter((problem) => !problem.includes('400'))).toEqual([])
  await page.context().close()
})

test('the activity page lists changes and their authors, and so does the page of a track', async () => {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'An album' } }))
  const body = { collection_id, file_name: 'song.wav' }
  const { track_id } = await must(client.post('/v1/track', { body }))
  await must(client.post('/v1/track', { body: { collection_id, file_name: 'another.wav' } }))
  const changes = { player_title: 'A song' }
  await must(client.put('/v1/track/{track_id}', { params: { track_id }, body: changes }))
  const { api_keys } = await must(client.get('/v1/api_key'))

  const { page, problems } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, '#/activity', 'Activity')
  const lines = page.getByRole('group', { name: 'Activity' }).locator('.event')
  const changed = lines.filter({ hasText: 'A song' }).filter({ hasText: 'Track changed · title' })
  await changed.getByText(`by ${api_keys.at(-1)!.title}`).waitFor(TIMEOUT)
  expect(await page.getByRole('heading', { level: 2 }).first().textContent()).toBe('Today')
  // The tracks of a collection are one line, which opens.
  const group = lines.filter({ hasText: 'An album' }).filter({ hasText: '2 tracks created' })
  await group.getByRole('button', { name: '2 tracks created' }).click(TIMEOUT)
  await lines.filter({ hasText: 'another' }).filter({ hasText: 'Track created' }).waitFor(TIMEOUT)

  const chosen = () => page.locator('.chip[aria-pressed=true]').allTextContents()
  await page.getByRole('button', { name: 'Collections', exact: true }).click()
  await page.getByRole('button', { name: 'Collection created' }).click()
  await expect
    .poll(() => lines.allTextContents(), TIMEOUT)
    .toEqual([expect.stringContaining('An albumCollection created')])
  // Returning to the page keeps the filter, but the link to the page resets it.
  await lines.getByRole('link').click()
  await page.getByRole('heading', { name: 'An album' }).waitFor(TIMEOUT)
  await page.goBack()
  await expect.poll(chosen, TIMEOUT).toEqual(['Collections', 'Collection created'])
  await page.getByRole('link', { name: 'Activity' }).click()
  await changed.waitFor(TIMEOUT)
  expect(await chosen()).toEqual(['All'])
  for (const unknown of ['%', 'track.sung', 'toString']) {
    await visit(page, `#/activity?type=${unknown}`, 'Activity')
    await changed.waitFor(TIMEOUT)
    expect(await chosen()).toEqual(['All'])
  }

  await visit(page, `#/track/${track_id}`, 'A song')
  const shownEvents = () => page.locator('.event-text').allTextContents()
  await expect.poll(shownEvents, TIMEOUT).toEqual(['Track changed · title', 'Track created'])
  expect(problems).toEqual([])
  await page.context().close()
})

test('npm run webhooks prints events, and deletes its endpoint and those of killed runs', async () => {
  const [port] = await freePorts()
  const [title, abandoned] = ['npm run webhooks', `http://127.0.0.1:${port}/`]
  await must(client.post('/v1/webhook_endpoint', { body: { title, url: abandoned } }))
  const env = { ...process.env, PORT: new URL(stack.base_url).port, TRANSCODER_PORT: '1', TONEARM_KEY: stack.api_key }
  const script = join(import.meta.dirname, '../../scripts/webhooks.ts')
  const receiver = spawn(process.execPath, [script], { env })
  const closed = once(receiver, 'close')
  let output = ''
  for (const stream of [receiver.stdout, receiver.stderr]) stream.on('data', (data) => (output += String(data)))
  showLog('npm run webhooks', () => output)
  const hears = (words: string) => vi.waitFor(() => expect(output).toContain(words), { ...TIMEOUT, interval: 100 })
  const receiverUrls = async () => {
    const { webhook_endpoints } = await must(client.get('/v1/webhook_endpoint'))
    return webhook_endpoints.filter(({ title }) => title === 'npm run webhooks').map(({ url }) => url)
  }
  try {
    await hears('webhook.test')
    const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Heard of' } }))
    await hears(`collection:${collection_id}`)
    expect(await receiverUrls()).toEqual([expect.not.stringContaining(abandoned)])
    receiver.kill('SIGINT')
    expect(await closed).toEqual([0, null])
  } finally {
    receiver.kill('SIGKILL')
    await closed
  }
  expect(await receiverUrls()).toEqual([])
})
