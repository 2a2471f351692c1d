import { gzipSync } from 'node:zlib'

import type { Browser, CDPSession, Page } from 'playwright-core'

/** Visits the studio in Chromium and measures what its users wait for. */

declare global {
  interface Window {
    /** The longest script task in milliseconds since the last reset. */
    longestScript: number
  }
}

/** Runs in the page, before its scripts. */
function watchScripts(): void {
  window.longestScript = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { scripts?: { duration: number }[] })[]) {
      for (const { duration } of entry.scripts ?? []) window.longestScript = Math.max(window.longestScript, duration)
    }
  }).observe({ type: 'long-animation-frame' })
}

export interface Visit {
  page: Page
  cdp: CDPSession
  /** Number of API requests since the last call of `reset`. */
  requests: () => number
  /** Number of all requests: the page, its styles, scripts and images, and the API. */
  allRequests: () => number
  reset: () => void
  /** Bytes of the scripts so far, compressed with gzip. */
  scriptBytes: () => Promise<number>
  close: () => Promise<void>
}

export async function openStudio(browser: Browser, base_url: string, api_key: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  await page.addInitScript(watchScripts)
  await page.addInitScript((key) => sessionStorage.setItem('tonearm.key', key), api_key)
  let [requests, allRequests] = [0, 0]
  const scripts: Promise<number>[] = []
  page.on('request', (request) => {
    allRequests++
    if (request.url().startsWith(`${base_url}/v1/`)) requests++
  })
  page.on('response', (response) => {
    if (response.request().resourceType() !== 'script') return
    scripts.push(
      response.body().then(
        (body) => gzipSync(body).length,
        () => 0,
      ),
    )
  })
  return {
    page,
    cdp,
    requests: () => requests,
    allRequests: () => allRequests,
    reset: () => (requests = allRequests = 0),
    scriptBytes: async () => (await Promise.all(scripts)).reduce((sum, bytes) => sum + bytes, 0),
    close: () => context.close(),
  }
}

/**
 * Resolves to the milliseconds until everything in view is filled: no placeholder is left, every picture is decoded, and at least `rows` rows of a list have a
 * text. They are counted from now, or from the start of the navigation.
 */
export const untilFilled = (
  page: Page,
  { from, rows }: { from: 'now' | 'navigation'; rows: number },
): Promise<number> =>
  page.evaluate(
    async ([isNow, expected]) => {
      const start = isNow ? performance.now() : 0
      const inView = (element: Element) => {
        const { top, bottom, width, height } = element.getBoundingClientRect()
        return width > 0 && height > 0 && bottom > 0 && top < innerHeight
      }
      const isFilled = () => {
        const main = document.querySelector('main')
        if (!main?.querySelector('h1')) return false
        const waiting = [...main.querySelectorAll('.loading, .shape, [aria-busy=true]')].some(inView)
        const pictures = [...main.querySelectorAll('img')].filter(inView)
        const shown = [...main.querySelectorAll('[role=row], [data-row]')].filter(
          (row) => inView(row) && row.textContent,
        )
        return (
          !waiting && shown.length >= expected && pictures.every((image) => image.complete && image.naturalWidth > 0)
        )
      }
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
      // It must stay filled: a row that is rendered in the next frame adds a picture.
      for (let filled = 0; filled < 3;) {
        await frame()
        filled = isFilled() ? filled + 1 : 0
        if (performance.now() - start > 30_000) return Infinity
      }
      return performance.now() - start
    },
    [from === 'now', rows] as const,
  )

/** Returns the number of elements in the page, those in shadow roots included. */
export const countElements = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const count = (root: ParentNode): number =>
      [...root.querySelectorAll('*')].reduce((sum, { shadowRoot }) => sum + 1 + (shadowRoot ? count(shadowRoot) : 0), 0)
    return count(document)
  })

/** Scrolls with the mouse wheel for some milliseconds, and back up at the end of the page. */
export async function scrollFast(page: Page, milliseconds: number): Promise<void> {
  await page.mouse.move(640, 500)
  const end = Date.now() + milliseconds
  let direction = 1
  for (let steps = 0; Date.now() < end; steps++) {
    await page.mouse.wheel(0, direction * 3000)
    if (steps % 100 === 99) direction *= -1
    await page.waitForTimeout(30)
  }
}

/** Returns the bytes of the JavaScript heap after a garbage collection. */
export async function heapBytes({ cdp }: Visit): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage')
  return (await cdp.send('Runtime.getHeapUsage')).usedSize
}
