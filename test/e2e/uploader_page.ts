import type { Browser, BrowserContextOptions, Dialog, Locator, Page } from 'playwright-core'

import type { FileView } from '../../src/elements/uploader/index.ts'
import { type HostPage, startHostPage } from '../support/host_page.ts'
import type { Shared } from './shared_stack.ts'
import { TIMEOUT } from './steps.ts'

export { TIMEOUT }

/** A third-party page on another origin with a strict Content-Security-Policy that uses `<tonearm-uploader>`. */
export interface UploaderHost extends HostPage {
  service: string
}

export const startUploaderHost = async ({ base_url }: Shared): Promise<UploaderHost> => ({
  ...(await startHostPage()),
  service: base_url,
})

// The policy of a page that allows only what the element needs: its script, and connections to the service and the storage.
const policy = (service: string) =>
  `default-src 'none'; script-src ${service}; connect-src ${service}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`

function pageWith(service: string, { dir = 'ltr', lang = 'en', ...attributes }: Record<string, string>): string {
  const written = Object.entries(attributes).map(([name, value]) => ` ${name}="${value.replaceAll('"', '&quot;')}"`)
  return `<!doctype html>
<html lang="${lang}" dir="${dir}">
  <head>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Shop</title>
    <script type="module" src="${service}/elements/uploader.js"></script>
  </head>
  <body>
    <main><h1>Send us your music</h1><tonearm-uploader${written.join('')}></tonearm-uploader></main>
  </body>
</html>`
}

/** An event of the element, reduced to the fields that tests check. */
export interface SeenEvent {
  type: string
  id?: string
  name?: string
  code?: string
  message?: string
  trackId?: string | null
  fraction?: number
  status?: string
}

export interface Uploader {
  page: Page
  element: Locator
  problems: string[]
  events: () => Promise<SeenEvent[]>
  /** Returns the element's list of files without the File objects. */
  files: () => Promise<Omit<FileView, 'file'>[]>
  /** Finds the row of a file. */
  row: (name: string) => Locator
  /** Waits until a file is in a state. */
  until: (name: string, state: string) => Promise<void>
  /** Waits until the bytes of a file have been uploaded. */
  untilSent: (name: string) => Promise<void>
  /** Replaces the page, without confirmation, with one that has other attributes. */
  visit: (attributes: Record<string, string>) => Promise<void>
  /** Whether the browser would ask before leaving the page. */
  asks: () => Promise<boolean>
  close: () => Promise<void>
}

/** Opens the page in a browser and collects its errors and policy violations. */
export async function openUploader(
  browser: Browser,
  shop: UploaderHost,
  attributes: Record<string, string>,
  options: BrowserContextOptions = {},
): Promise<Uploader> {
  const context = await browser.newContext({ viewport: { width: 900, height: 900 }, ...options })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  // The browser logs an error for each failed response, such as a 401, and for each lost connection.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      problems.push(message.text())
    }
  })
  await page.addInitScript(collectEvents)
  async function visit(attributes: Record<string, string>): Promise<void> {
    shop.show(pageWith(shop.service, attributes), { 'content-security-policy': policy(shop.service) })
    const accept = (dialog: Dialog) => void dialog.accept()
    page.on('dialog', accept)
    await page.goto(shop.origin)
    page.off('dialog', accept)
  }
  await visit(attributes)
  const element = page.locator('tonearm-uploader')
  await element.getByRole('button', { name: /./ }).first().waitFor()
  const row = (name: string) => element.getByRole('listitem').filter({ hasText: name })
  return {
    page,
    element,
    problems,
    row,
    visit,
    events: () => page.evaluate(() => (window as unknown as { seen: SeenEvent[] }).seen),
    files: () =>
      page.evaluate(() => document.querySelector('tonearm-uploader')!.files.map(({ file: _file, ...view }) => view)),
    untilSent: (name) =>
      element.locator('li:is([data-state=processing], [data-state=ready])', { hasText: name }).waitFor(TIMEOUT),
    asks: () =>
      page.evaluate(() => {
        const event = new Event('beforeunload', { cancelable: true })
        window.dispatchEvent(event)
        return event.defaultPrevented
      }),
    until: (name, state) => element.locator(`li[data-state=${state}]`, { hasText: name }).waitFor(TIMEOUT),
    close: () => context.close(),
  }
}

function collectEvents(): void {
  const seen: SeenEvent[] = []
  Object.assign(window, { seen })
  const names =
    'file-added file-rejected file-failed upload-start upload-progress upload-retry upload-pause upload-resume upload-cancel upload-complete upload-error track-processing track-ready track-unfollowed cover-start cover-complete cover-failed queue-complete'
  for (const name of names.split(' ')) {
    document.addEventListener(`tonearm-${name}`, (event) => {
      const { file, ...detail } = (event as CustomEvent<Record<string, unknown> & { file?: File }>).detail
      seen.push({ type: name, ...(file && { name: file.name }), ...detail })
    })
  }
  document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective}`))
}

/** Counts the stored parts of all files in the upload ledger. This function runs in the page. */
export async function countStoredParts(): Promise<number> {
  const opening = indexedDB.open('tonearm')
  await new Promise((resolve) => (opening.onsuccess = resolve))
  const reading = opening.result.transaction('uploads').objectStore('uploads').getAll()
  await new Promise((resolve) => (reading.onsuccess = resolve))
  opening.result.close()
  return reading.result.flatMap(({ parts }) => Object.keys(parts.etags)).length
}
