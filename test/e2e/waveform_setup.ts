import { join } from 'node:path'

import type { BrowserContextOptions, Page } from 'playwright-core'

import type { TonearmWaveform } from '../../src/elements/waveform/index.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { startHostPage } from '../support/host_page.ts'

/** A page with a `<tonearm-waveform>` and no service, because the element needs only its module. */

const assets = join(import.meta.dirname, '../../dist/public')
// Allows only the site's own scripts, and nothing inline.
const policy = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'"

export interface Waveforms {
  /** Opens a page with this body. */
  open: (body: string, options?: BrowserContextOptions) => Promise<Page>
  dispose: () => Promise<void>
}

export async function setUp(): Promise<Waveforms> {
  const [browser, host] = await Promise.all([joinBrowser(), startHostPage()])
  return {
    async open(body, options = {}) {
      const context = await browser.newContext({ viewport: { width: 600, height: 300 }, ...options })
      const page = await context.newPage()
      await page.route(/\/(elements|assets)\//, (route) =>
        route.fulfill({ path: join(assets, new URL(route.request().url()).pathname) }),
      )
      host.show(
        `<!doctype html><html lang="en"><head><title>A page</title>
        <script type="module" src="/elements/waveform.js"></script></head><body><main><h1>Sound</h1>${body}</main></body></html>`,
        { 'content-security-policy': `${policy}; media-src data:` },
      )
      await page.goto(host.origin)
      await page.evaluate(() => customElements.whenDefined('tonearm-waveform'))
      return page
    },
    async dispose() {
      await closePages()
      await host.close()
    },
  }
}

/** Evaluates a function in the page, with its `<tonearm-waveform>` as the argument. */
export const inPage = <T>(page: Page, act: (waveform: TonearmWaveform) => T | Promise<T>) =>
  page.locator('tonearm-waveform').evaluate(act as (element: Element) => T | Promise<T>)
