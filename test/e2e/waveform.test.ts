import { afterAll, beforeAll, expect, test } from 'vitest'

import { makeAudio } from '../support/audio.ts'
import { findings } from './axe.ts'
import { inPage, setUp, type Waveforms } from './waveform_setup.ts'

/** Tests `<tonearm-waveform>` without a player: it is a time slider that shows levels. */

let waveforms: Waveforms
beforeAll(async () => {
  waveforms = await setUp()
})
afterAll(() => waveforms?.dispose())

const LEVELS = JSON.stringify(Array.from({ length: 320 }, (_, i) => (i < 160 ? 0.2 : 1)))
const waveform = (attributes = '') =>
  `<tonearm-waveform levels="${LEVELS}" duration="60" current-time="15" ${attributes}></tonearm-waveform>`

test("the waveform is drawn at the device's resolution, and redrawn when its size changes", async () => {
  const page = await waveforms.open(waveform(), { deviceScaleFactor: 2 })
  const size = () =>
    inPage(page, ({ shadowRoot, clientWidth, clientHeight }) => {
      const { width, height } = shadowRoot!.querySelector('canvas')!
      return [width / clientWidth, height / clientHeight, clientWidth]
    })
  const [across, down, before] = await size()
  expect([across, down]).toEqual([2, 2])
  await page.setViewportSize({ width: 400, height: 300 })
  await expect.poll(size, { timeout: 30_000 }).toEqual([2, 2, before! - 200])
  await page.context().close()
})

test('the waveform shows the played part and the rest in two colors that the page can set', async () => {
  const page = await waveforms.open(waveform())
  const colorsAt = (...fractions: number[]) =>
    page.locator('tonearm-waveform').evaluate((element, positions) => {
      const canvas = element.shadowRoot!.querySelector('canvas')!
      const context = canvas.getContext('2d')!
      const fills = positions.map((place) => {
        const { data } = context.getImageData(Math.round(place * canvas.width), 0, 5, canvas.height)
        // Returns the color of the first fully opaque pixel.
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) return data.slice(i, i + 3).join()
        return ''
      })
      return fills
    }, fractions)
  const [played, unplayed] = await colorsAt(0.1, 0.5)
  expect([played, unplayed]).toEqual(['181,84,26', '142,142,148'])
  await inPage(page, (element) => {
    element.currentTime = 45
  })
  expect(await colorsAt(0.1, 0.5, 0.9)).toEqual([played, played, unplayed])
  await inPage(page, (element) => {
    element.style.setProperty('--tonearm-rest', '#010203')
    element.refresh()
  })
  expect(await colorsAt(0.9)).toEqual(['1,2,3'])
  await page.context().close()
})

test('the waveform is a slider for pointers: it shows the time, follows a drag, and reports the time when the drag ends', async () => {
  const page = await waveforms.open(waveform())
  await page.evaluate(() => {
    const sought: number[] = []
    Object.assign(window, { sought })
    document.addEventListener('tonearm-seek', (event) => sought.push(Math.round((event as CustomEvent).detail.time)))
  })
  const sought = () => page.evaluate(() => (window as unknown as { sought: number[] }).sought)
  const slider = page.getByRole('slider', { name: 'Position' })
  const { x, y, width } = (await slider.boundingBox())!
  await page.mouse.move(x + width / 4, y + 20)
  expect(await page.locator('tonearm-waveform .time').textContent()).toBe('0:15')
  await page.mouse.down()
  await page.mouse.move(x + width / 2, y + 20)
  expect(await slider.getAttribute('aria-valuetext')).toBe('30 seconds of 1 minute')
  expect(await sought()).toEqual([])
  await page.mouse.move(x + width * 0.75, y + 20)
  await page.mouse.up()
  expect(await sought()).toEqual([45])
  await inPage(page, (element) => element.setAttribute('disabled', ''))
  await page.mouse.move(x + 10, y + 20)
  await page.mouse.down()
  expect(await slider.getAttribute('aria-valuenow')).toBe('45')
  await page.mouse.up()
  expect(await sought()).toEqual([45])
  await page.context().close()
})

test('the waveform is a slider for the keyboard', async () => {
  const page = await waveforms.open(waveform())
  const slider = page.getByRole('slider', { name: 'Position' })
  await slider.focus()
  const after: Record<string, string | null> = {}
  for (const key of ['ArrowRight', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'ArrowLeft', 'End', 'ArrowUp']) {
    await page.keyboard.press(key)
    after[key] = await slider.getAttribute('aria-valuenow')
  }
  expect(after).toEqual({
    ArrowRight: '20',
    ArrowDown: '15',
    PageUp: '21',
    PageDown: '15',
    Home: '0',
    ArrowLeft: '0',
    End: '60',
    ArrowUp: '60',
  })
  expect(await slider.getAttribute('aria-valuemax')).toBe('60')
  expect(await findings(page)).toEqual([])
  await page.context().close()
})

test('the waveform follows an audio element of the page and seeks in that element', async () => {
  const audio = (await makeAudio('mp3', { seconds: 8 })).toString('base64')
  const page = await waveforms.open(
    `<audio id="sound" src="data:audio/mpeg;base64,${audio}"></audio><tonearm-waveform for="sound"></tonearm-waveform>`,
  )
  const slider = page.getByRole('slider', { name: 'Position' })
  await expect.poll(() => slider.getAttribute('aria-valuemax'), { timeout: 30_000 }).toBe('8')
  const { width } = (await slider.boundingBox())!
  await slider.click({ position: { x: width / 2, y: 20 } })
  const time = () => page.evaluate(() => document.querySelector('audio')!.currentTime)
  expect(await time()).toBeCloseTo(4, 0)
  await page.evaluate(() => document.querySelector('audio')!.play())
  // The waveform is updated on each frame, so it shows several positions between two timeupdate events of the audio element.
  const moves = await page.evaluate(async () => {
    const audio = document.querySelector('audio')!
    const shown = new Set<number>()
    audio.addEventListener('timeupdate', () => shown.clear())
    while (!audio.ended && shown.size < 4) {
      await new Promise((resolve) => requestAnimationFrame(resolve))
      shown.add(document.querySelector('tonearm-waveform')!.currentTime)
    }
    return shown.size
  })
  expect(moves).toBe(4)
  await page.context().close()
})

test('the waveform follows another element when `for` changes', async () => {
  const audio = (await makeAudio('mp3', { seconds: 3 })).toString('base64')
  const source = `src="data:audio/mpeg;base64,${audio}"`
  const page = await waveforms.open(
    `<audio id="one" ${source}></audio><audio id="two" ${source}></audio><tonearm-waveform for="one"></tonearm-waveform>`,
  )
  const time = () => inPage(page, (element) => element.currentTime)
  const seek = (id: string, seconds: number) =>
    page.locator(`#${id}`).evaluate(async (found, at) => {
      const media = found as HTMLAudioElement
      const arrived = new Promise((resolve) => media.addEventListener('seeked', resolve, { once: true }))
      media.currentTime = at
      await arrived
    }, seconds)
  await seek('one', 1)
  expect(await time()).toBe(1)
  await seek('two', 2)
  expect(await time()).toBe(1)
  await inPage(page, (element) => element.setAttribute('for', 'two'))
  expect(await time()).toBe(2)
  await seek('one', 0.5)
  expect(await time()).toBe(2)
  await seek('two', 2.5)
  expect(await time()).toBe(2.5)
  await page.context().close()
})

test('properties that are set before the element is defined take effect', async () => {
  const page = await waveforms.open('')
  const shown = await page.evaluate(() => {
    // An element that was created in a document without a window is upgraded when a document with a window adopts it.
    const elsewhere = document.implementation.createHTMLDocument()
    const early = elsewhere.createElement('tonearm-waveform')
    document.querySelector('main')!.append(Object.assign(early, { levels: [0.5, 1], duration: 60, currentTime: 15 }))
    const slider = early.shadowRoot!.querySelector('[role=slider]')!
    return [early.levels.length, slider.getAttribute('aria-valuemax'), slider.getAttribute('aria-valuenow')]
  })
  expect(shown).toEqual([2, '60', '15'])
  await page.context().close()
})

test('the waveform ignores levels that are not a list of numbers', async () => {
  const page = await waveforms.open('<tonearm-waveform levels="[1, null" duration="x"></tonearm-waveform>')
  expect(await inPage(page, ({ levels, duration }) => [levels, duration])).toEqual([[], 0])
  await inPage(page, (element) => element.setAttribute('levels', '[0.5, "1", null, 1]'))
  expect(await inPage(page, ({ levels }) => levels)).toEqual([0.5, 1])
  await page.context().close()
})
