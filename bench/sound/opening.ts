import type { Browser, CDPSession } from 'playwright-core'

/** Figures of a page from the start of its navigation to its first sound. */
export interface Opening {
  /** Milliseconds from the start of the navigation to the first `playing` of an audio element. */
  sound_at: number
  /** The longest chain of requests that each waited for the one before. The last one is the first request for audio. */
  in_sequence: number
  /** Number of requests that started before the sound. */
  requests: number
  /** Bytes that were received for these requests before the sound, headers included. */
  bytes: number
  /** Sum of the tasks of more than 50 ms before the sound, in milliseconds. */
  long_tasks: number
}

interface Request {
  url: string
  isMedia: boolean
  startedAt: number
  respondedAt: number
}

declare global {
  interface Window {
    /** When an audio element played first, in milliseconds since the navigation started. */
    soundAt?: number
  }
}

/** Runs in the page, before its scripts. Presses play as soon as a player is ready. */
function listen(): void {
  const heard = () => (window.soundAt ??= performance.now())
  addEventListener('playing', heard, true)
  // Events of an element that is in no document do not reach the window.
  window.Audio = class extends Audio {
    constructor(src?: string) {
      super(src)
      this.addEventListener('playing', heard)
    }
  }
  addEventListener('tonearm-ready', ({ target }) => void (target as HTMLMediaElement).play(), { once: true })
}

/** Records the requests of a page, and the bytes that arrive. Times are seconds of Chromium's monotonic clock. */
async function record(cdp: CDPSession) {
  const requests = new Map<string, Request>()
  const received: { at: number; bytes: number }[] = []
  cdp.on('Network.requestWillBeSent', ({ requestId, request, timestamp, type }) => {
    requests.set(requestId, {
      url: request.url,
      isMedia: type === 'Media',
      startedAt: timestamp,
      respondedAt: Infinity,
    })
  })
  cdp.on('Network.responseReceived', ({ requestId, timestamp }) => {
    const request = requests.get(requestId)
    if (request) request.respondedAt = timestamp
  })
  cdp.on('Network.dataReceived', ({ timestamp, encodedDataLength }) => {
    received.push({ at: timestamp, bytes: encodedDataLength })
  })
  await cdp.send('Network.enable')
  return { requests: () => [...requests.values()].filter(({ url }) => url.startsWith('http')), received }
}

/** Returns the length of the longest chain of requests that ends with this one. */
function depthOf(request: Request, all: Request[]): number {
  const before = all.filter(({ respondedAt }) => respondedAt <= request.startedAt)
  return 1 + Math.max(0, ...before.map((earlier) => depthOf(earlier, all)))
}

/** Opens a page with an empty cache, and waits for its first sound. Each request takes `latency` milliseconds in addition. */
export async function openPage(browser: Browser, url: string, latency: number): Promise<Opening> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const cdp = await context.newCDPSession(page)
    const { requests, received } = await record(cdp)
    const unlimited = { offline: false, downloadThroughput: -1, uploadThroughput: -1 }
    await cdp.send('Network.emulateNetworkConditions', { ...unlimited, latency })
    await page.addInitScript(listen)
    await page.goto(url, { waitUntil: 'commit' })
    await page.waitForFunction(() => window.soundAt !== undefined, null, { timeout: 30_000 })
    const { sound_at, long_tasks } = await page.evaluate(async () => {
      const entries = await new Promise<PerformanceEntryList>((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries())).observe({ type: 'longtask', buffered: true })
        setTimeout(resolve, 100, [])
      })
      const early = entries.filter(({ startTime }) => startTime < window.soundAt!)
      return { sound_at: window.soundAt!, long_tasks: early.reduce((sum, { duration }) => sum + duration, 0) }
    })
    const all = requests()
    const first = Math.min(...all.map(({ startedAt }) => startedAt))
    const early = all.filter(({ startedAt }) => startedAt < first + sound_at / 1000)
    const audio = early.find(({ isMedia }) => isMedia)
    if (!audio) throw new Error(`${url} played without a request for audio: ${early.map(({ url: u }) => u).join(' ')}`)
    return {
      sound_at,
      in_sequence: depthOf(audio, early),
      requests: early.length,
      bytes: received.filter(({ at }) => at < first + sound_at / 1000).reduce((sum, { bytes }) => sum + bytes, 0),
      long_tasks,
    }
  } finally {
    await context.close()
  }
}
