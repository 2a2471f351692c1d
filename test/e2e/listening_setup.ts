import type { BrowserContext, Page } from 'playwright-core'

import type { HeardReport } from '../../src/contract/heard.ts'

/** Measures in a page which seconds of audio were heard, independently of the player, and collects the player's reports. */

/** A page function: adds up how far the audio elements of a page play by themselves, in steps of 5 ms. */
export function startMeasuring(): void {
  const { prototype } = HTMLMediaElement
  const property = Object.getOwnPropertyDescriptor(prototype, 'currentTime')!
  const positions = new Map<HTMLMediaElement, number>()
  const sums = { heard: 0, muted: 0 }
  const measure = (element: HTMLMediaElement) => {
    const position = property.get!.call(element) as number
    const by = position - (positions.get(element) ?? position)
    if (by > 0 && by < 1) sums[element.muted ? 'muted' : 'heard'] += by
    positions.set(element, position)
  }
  Object.defineProperty(prototype, 'currentTime', {
    ...property,
    set(this: HTMLMediaElement, position: number) {
      measure(this)
      property.set!.call(this, position)
      positions.set(this, position)
    },
  })
  for (const name of ['play', 'load'] as const) {
    const original = Object.getOwnPropertyDescriptor(prototype, name)!.value as () => unknown
    Object.assign(prototype, {
      [name](this: HTMLMediaElement) {
        if (name === 'load') positions.delete(this)
        measure(this)
        return original.call(this)
      },
    })
  }
  setInterval(() => {
    for (const element of positions.keys()) if (!element.seeking) measure(element)
  }, 5)
  const read = () => {
    for (const element of positions.keys()) measure(element)
    return { ...sums }
  }
  Object.assign(window, { read })
}

export const readMeasured = (page: Page) =>
  page.evaluate(() => (window as unknown as { read: () => { heard: number; muted: number } }).read())

/** Makes a page believe that it is hidden or visible. Chromium without a display never hides a page. */
export const setVisibility = (page: Page, state: 'hidden' | 'visible') =>
  page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, value })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)

/** Collects the reports that pages send. */
export function collectReports(context: BrowserContext): HeardReport[] {
  const reports: HeardReport[] = []
  context.on('request', (request) => {
    if (request.url().includes('/v1/heard/')) reports.push(JSON.parse(request.postData()!) as HeardReport)
  })
  return reports
}
