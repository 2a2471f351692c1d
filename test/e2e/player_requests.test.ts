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
    const page = await service.open({ 'play-session-id': '' })
    const requests: string[] = []
    page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
    const reports = () => requests.filter((request) => /heard|report/.test(request))
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/file/**', async (route) => {
      await released
      await route.continue()
    })
    const ended = page.evaluate(
      (id) =>
        new Promise<void>((resolve) => {
          const player = document.querySelector('tonearm-player')!
          player.addEventListener('tonearm-ended', () => resolve(), { once: true })
          player.setAttribute('play-session-id', id)
          void player.play()
        }),
      SESSION,
    )
    await expect.poll(() => requests.some((request) => request.startsWith('GET /file/')), TIMEOUT).toBe(true)
    // The player has everything for the sound except for the sound itself.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
    expect(reports()).toEqual([])
    release()
    await ended
    await page.evaluate(() => document.querySelector('tonearm-player')!.remove())
    await expect.poll(() => reports().length, TIMEOUT).toBe(2)
    expect(reports()).toEqual([expect.stringContaining('GET /assets/report-'), 'POST /v1/heard/token'])
    await page.context().close()
  },
  TIMEOUT.timeout,
)
