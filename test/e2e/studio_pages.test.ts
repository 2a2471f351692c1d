import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { System } from '../../src/contract/system.ts'
import { closePages, joinBrowser } from '../support/browser.ts'
import { COLOR_RULES, findings } from './axe.ts'
import { joinStack, type Shared } from './shared_stack.ts'
import { fillOrganization, type StudioPage, type StudioPages } from './studio_library.ts'
import { expectNoOverflow, openTab, TIMEOUT, rowOf, signIn, untilStill, visit } from './studio_steps.ts'

/** Every page of the studio in light and dark colors, on a desktop and on a phone. */

let stack: Shared
let browser: Browser
let places: StudioPages
const { SCREENSHOTS } = process.env

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([joinStack(), joinBrowser()])
  places = await fillOrganization(stack)
})
afterAll(async () => {
  await closePages()
  await stack?.dispose()
})

const SCREENS = {
  desktop: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 375, height: 760 }, hasTouch: true, isMobile: true },
} as const

test('static files have their security headers', async () => {
  const headersOf = async (path: string) => (await fetch(stack.base_url + path)).headers
  const studio = await headersOf('/')
  const script = /src="(\/assets\/[^"]+)"/.exec(await (await fetch(stack.base_url)).text())?.[1] ?? ''
  for (const path of ['/', '/docs/', '/elements/player.js', '/cover/icon.jpg', script])
    expect(Object.fromEntries(await headersOf(path)), path).toMatchObject({
      'x-content-type-options': 'nosniff',
      'strict-transport-security': 'max-age=31536000',
    })
  for (const headers of [studio, await headersOf('/docs/')]) {
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('permissions-policy')).toBe('camera=(), geolocation=(), microphone=()')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  }
  const frame = await headersOf('/embed/unknown')
  // Pages may open a share in a window and control it. Its frame may play by itself if the embedding page allows that.
  expect(frame.get('cross-origin-opener-policy')).toBeNull()
  expect(frame.get('permissions-policy')).toBe('camera=(), geolocation=(), microphone=()')
})

describe.each(Object.keys(SCREENS) as (keyof typeof SCREENS)[])('on a %s', (screen) => {
  /** Checks in light and dark colors that the current page is complete and has neither axe violations nor horizontal overflow. */
  async function judge(page: Page, name: string) {
    await untilStill(page)
    await expectNoOverflow(page, name)
    for (const [colorScheme, rules] of [['light'], ['dark', COLOR_RULES]] as const) {
      await page.emulateMedia({ colorScheme })
      if (SCREENSHOTS) {
        await mkdir(SCREENSHOTS, { recursive: true })
        await page.screenshot({
          path: join(SCREENSHOTS, `studio-${name}-${screen}-${colorScheme}.png`),
          fullPage: true,
        })
      }
      expect([name, colorScheme, await findings(page, rules)]).toEqual([name, colorScheme, []])
    }
  }
  const open = () => openTab(browser, { ...SCREENS[screen], reducedMotion: 'reduce' })

  test('every page is complete, passes axe, and has tappable controls on a phone', async () => {
    const { page, problems } = await open()
    await page.goto(stack.base_url)
    await page.getByLabel('Server key').waitFor()
    await judge(page, 'sign in')
    await signIn(page, stack)
    const frames = new Set<string>()
    for (const [name, place] of Object.entries<StudioPage>(places)) {
      await visit(page, ...place)
      await judge(page, name)
      frames.add(await frameOf(page))
      if (screen === 'phone') expect([name, await unreachableControls(page)]).toEqual([name, []])
    }
    // No page is wider than the others, or starts elsewhere.
    expect([...frames]).toHaveLength(1)
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('dialogs, menus, codes and the player pass the same checks', async () => {
    const { page, problems } = await open()
    await signIn(page, stack)
    await visit(page, ...places.collection)
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    for (const name of ['Password', 'Ends', 'Embed only on these sites'])
      await page.getByRole('switch', { name, exact: true }).check(TIMEOUT)
    await page.getByText('Address and title').click()
    await judge(page, 'share settings')
    for (const name of ['Password', 'Ends', 'Embed only on these sites'])
      await page.getByRole('switch', { name, exact: true }).uncheck()
    await page.getByText('Temporary link').click()
    await page.getByRole('button', { name: 'Create play session' }).click()
    await page.getByRole('heading', { name: 'Embed code' }).waitFor(TIMEOUT)
    await judge(page, 'codes')
    await page.getByRole('tab', { name: 'Embed' }).click()
    await page
      .getByRole('button', { name: 'Create link' })
      .or(page.getByText('HTML for your page'))
      .first()
      .waitFor(TIMEOUT)
    await page.getByText('Permanent player with its own key').click()
    await judge(page, 'embed')
    await page.keyboard.press('Escape')
    for (const place of [places.keys, places.variants, places.webhooks] as StudioPage[]) {
      await visit(page, ...place)
      await page.getByRole('button', { name: /^New (key|variant|webhook)$/ }).click()
      await judge(page, `new ${place[1]}`)
      await page.keyboard.press('Escape')
    }
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('combobox').fill('a song')
    await page.getByRole('option', { name: /^A song/ }).waitFor(TIMEOUT)
    await judge(page, 'search')
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor(TIMEOUT)
    await judge(page, 'shortcuts')
    await page.keyboard.press('Escape')
    await visit(page, ...places.collection)
    const row = rowOf(page, 'A song')
    await row.getByRole('button', { name: /^Play A song/ }).click(TIMEOUT)
    await page.locator('.dock').getByRole('button', { name: 'Pause' }).waitFor(TIMEOUT)
    await judge(page, 'playing')
    const painted = paintedPlace(page.locator('#menu'))
    await row.getByRole('button', { name: /^More for A song/ }).click()
    await page.getByRole('menuitem', { name: 'Details' }).waitFor()
    // The menu must be painted at its final place at once, and not first in a corner of the window.
    const first = await painted
    const { x, y } = (await page.getByRole('menu').boundingBox())!
    expect([first, x >= 8, y >= 8]).toEqual([{ x, y }, true, true])
    await judge(page, 'menu')
    await page.getByRole('menuitem', { name: 'Add to a playlist …' }).click()
    await page.getByRole('button', { name: /^Mix/ }).waitFor(TIMEOUT)
    await judge(page, 'add to a playlist')
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('the system page opens with the root key, passes the same checks, and retries failed jobs', async () => {
    const { page, problems } = await open()
    await page.goto(stack.base_url)
    await page.getByLabel('Server key').fill(stack.root_key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Everything works.').waitFor(TIMEOUT)
    expect(await page.getByRole('navigation').getByRole('link').first().textContent()).toBe('System')
    expect(await page.getByRole('link', { name: 'Library' }).count()).toBe(0)
    await judge(page, 'system')
    // Simulates states that no test can cause on a shared stack.
    await page.route('**/v1/system', async (route) => {
      const answer = (await (await route.fetch()).json()) as { system: System }
      const failures = [
        { code: 'disk_full', count: 1204, retryable: 1203 },
        { code: 'no_audio', count: 2, retryable: 0 },
      ]
      const jobs = [...answer.system.jobs, { kind: 'transcode', state: 'open' as const, count: 3, oldest_age: 4230 }]
      const system = { ...answer.system, failing: ['sweep' as const], failures, jobs }
      await route.fulfill({ json: { ...answer, system } })
    })
    await page.reload()
    await page.getByText('The sweep does not run').waitFor(TIMEOUT)
    await judge(page, 'system failing')
    await page.getByRole('button', { name: 'Try 1,203 tracks again' }).click()
    await page.locator('#announcer').getByText('0 tracks started again').waitFor(TIMEOUT)
    expect(problems).toEqual([])
    // Routes are removed first, because the page continues to poll.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.context().close()
  })
})

/** Returns the left edge and the width of the content of a page. */
const frameOf = (page: Page) =>
  page.evaluate(() => {
    const main = document.querySelector('main')!
    const { paddingLeft, paddingRight } = getComputedStyle(main)
    const left = main.getBoundingClientRect().left + Number.parseFloat(paddingLeft)
    return `${left} ${main.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)}`
  })

/** Returns the position of an element when it is first painted. A ResizeObserver runs after the animation frames and before painting. */
const paintedPlace = (element: Locator) =>
  element.evaluate(
    (target) =>
      new Promise<{ x: number; y: number }>((resolve) => {
        new ResizeObserver(() => {
          const { x, y, width } = target.getBoundingClientRect()
          if (width > 0) resolve({ x, y })
        }).observe(target)
      }),
  )

/** Returns controls that cannot be tapped at their center after scrolling to them, or are smaller than WCAG 2.2 §2.5.8 requires. */
const unreachableControls = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const controls = [...document.querySelectorAll<HTMLElement>('a[href]:not(.skip), button, input, select, textarea')]
    const seen = controls.filter((control) => control.checkVisibility({ visibilityProperty: true }))
    return seen.flatMap((control) => {
      control.scrollIntoView({ block: 'center', behavior: 'instant' })
      const { left, top, width, height } = control.getBoundingClientRect()
      const hit = document.elementFromPoint(left + width / 2, top + height / 2)
      const reached = hit && (control.contains(hit) || hit.contains(control))
      // An inline link, and a checkbox with a tappable label, may be as small as their line of text.
      const small = !control.closest('p, label, .soft') && (width < 24 || height < 24)
      return !reached || small ? [`${control.outerHTML.slice(0, 120)} ${width} × ${height}`] : []
    })
  })

test('on a phone, the search field is as wide as the page, and an empty result leads to the search of everything', async () => {
  const { page } = await openTab(browser, SCREENS.phone)
  await signIn(page, stack)
  await visit(page, ...places.library)
  const search = page.getByRole('searchbox')
  const { x, width } = (await search.boundingBox())!
  expect([x, width]).toEqual([16, 343])
  await search.fill('nothing of that name')
  await page.getByText('No collections found.').waitFor(TIMEOUT)
  await page.getByRole('link', { name: 'Search everything' }).click()
  await page.getByText('Nothing matches “nothing of that name”.').waitFor(TIMEOUT)
  expect(await findings(page)).toEqual([])
  await page.context().close()
})

test('on a phone, the bar at the bottom leads to every page, and is below the player', async () => {
  const { page } = await openTab(browser, SCREENS.phone)
  await signIn(page, stack)
  const bar = page.getByRole('navigation', { name: 'Studio' })
  const { y, height } = (await bar.boundingBox())!
  expect(y + height).toBe(SCREENS.phone.viewport.height)
  for (const [name, heading] of [
    ['Playlists', 'Playlists'],
    ['Library', 'Library'],
  ] as const) {
    await bar.getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 1, name: heading }).waitFor(TIMEOUT)
  }
  for (const name of ['Keys', 'Variants', 'Webhooks', 'Usage', 'Activity', 'Trash', 'Settings']) {
    await bar.getByRole('button', { name: 'More pages' }).click()
    await page.getByRole('menuitem', { name }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor(TIMEOUT)
  }
  await visit(page, ...places.collection)
  await rowOf(page, 'A song')
    .getByRole('button', { name: /^Play A song/ })
    .click(TIMEOUT)
  const dock = page.locator('.dock')
  await dock.getByRole('button', { name: 'Pause' }).waitFor(TIMEOUT)
  const overlap = async () => {
    const box = (await dock.boundingBox())!
    return box.y + box.height - (await bar.boundingBox())!.y
  }
  await expect.poll(overlap, TIMEOUT).toBeLessThanOrEqual(0)
  await page.context().close()
})

test('the back button returns to the previous page, and a reload keeps the page', async () => {
  const { page } = await openTab(browser)
  await signIn(page, stack)
  await visit(page, ...places.library)
  await page.getByRole('link', { name: /A collection whose/ }).click()
  await rowOf(page, 'diary').waitFor()
  await page.reload()
  await rowOf(page, 'diary').waitFor(TIMEOUT)
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Library' }).waitFor()
  await page.waitForFunction(() => document.title === 'Library · Tonearm')
  await page.context().close()
})
