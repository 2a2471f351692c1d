import { afterAll, beforeAll, expect, test } from 'vitest'

import { ANSWERS, type PlayerPage, SESSION, setUp, TIMEOUT } from './player_fake_service.ts'

/** The requests of a player to the service (docs/decisions/0086). */

let service: PlayerPage
beforeAll(async () => {
  service = await setUp()
})
afterAll(() => service?.dispose())

test(
  'an album of ten tracks is heard through with two requests',
  async () => {
    const titles = Array.from({ length: 10 }, (_, at) => `Track ${at + 1}`)
    Object.assign(service.answers, { ...ANSWERS, titles, seconds: 0.25 })
    const page = await service.open({ 'play-session-id': '' })
    const requests: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname.startsWith('/v1/')) requests.push(pathname + search)
    })
    const heard = await page.evaluate((id) => {
      const player = document.querySelector('tonearm-player')!
      const ended: { index: number; last: boolean }[] = []
      return new Promise<number[]>((resolve) => {
        player.addEventListener('tonearm-ended', ({ detail }) => {
          ended.push(detail)
          if (detail.last) resolve(ended.map(({ index }) => index))
        })
        player.addEventListener('tonearm-ready', () => void player.play())
        player.setAttribute('play-session-id', id)
      })
    }, SESSION)
    expect(heard).toEqual(titles.map((_, at) => at))
    expect(requests).toEqual([`/v1/play/${SESSION}?views=5`, `/v1/play/${SESSION}?views=5&from=t5`])
    await page.context().close()
  },
  TIMEOUT.timeout,
)

test(
  'reports are sent and their module is loaded only after the first sound',
  async () => {
    Object.assign(service.answers, { ...ANSWERS, heard_token: 'token', seconds: 2 })
    const page = await service.open()
    const requests: string[] = []
    page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
    const isReport = (request: string) => /heard|report/.test(request)
    await page.evaluate(() => document.querySelector('tonearm-player')!.seek(1))
    await page.waitForLoadState('networkidle')
    expect(requests.filter(isReport)).toEqual([])
    const [playing, loaded] = await page.evaluate(async () => {
      const player = document.querySelector('tonearm-player')!
      const audio = player.shadowRoot!.querySelector('audio')!
      const first = new Promise<number>((resolve) =>
        audio.addEventListener('playing', () => resolve(performance.now()), { once: true }),
      )
      const ended = new Promise((resolve) => player.addEventListener('tonearm-ended', resolve, { once: true }))
      await player.play()
      await ended
      const modules = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/report-'))
      return [await first, modules[0]!.startTime]
    })
    // The event that starts the request precedes `playing` by less than a frame.
    expect(loaded).toBeGreaterThan(playing! - 16)
    await page.evaluate(() => document.querySelector('tonearm-player')!.remove())
    await expect.poll(() => requests.filter(isReport).length, TIMEOUT).toBe(2)
    expect(requests.filter(isReport)[1]).toBe('POST /v1/heard/token')
    await page.context().close()
  },
  TIMEOUT.timeout,
)
