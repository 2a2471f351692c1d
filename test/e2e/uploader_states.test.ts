import { afterAll, beforeAll, expect, test } from 'vitest'

import { findings } from './axe.ts'
import { drawCovers } from './covers.ts'
import { TIMEOUT, type Uploader } from './uploader_page.ts'
import { type UploaderWorkspace, choose, setUp } from './uploader_setup.ts'

/** Tests the uploader in each of its states, with real files. */

let bench: UploaderWorkspace
beforeAll(async () => {
  bench = await setUp()
})
afterAll(async () => {
  await bench?.tidy()
  await bench?.dispose()
})

/** Expects no axe violations in a state. */
async function checkState({ page }: Uploader, name: string): Promise<void> {
  expect([name, await findings(page)]).toEqual([name, []])
}

test('every state is accessible: empty, drag, uploading, paused, failed and done', async () => {
  const uploader = await bench.open(
    { concurrency: '2', theme: 'light', 'max-size': '100 MB' },
    { viewport: { width: 640, height: 900 }, deviceScaleFactor: 2, reducedMotion: 'reduce' },
  )
  const { page, element, row, until } = uploader
  await checkState(uploader, 'empty')

  const zone = element.locator('[part~=dropzone]')
  const drag = await page.evaluateHandle(() => {
    const held = new DataTransfer()
    held.items.add(new File(['sound'], 'One.wav', { type: 'audio/wav' }))
    return held
  })
  await zone.dispatchEvent('dragover', { dataTransfer: drag })
  await checkState(uploader, 'drag')
  await zone.dispatchEvent('dragleave', {})

  bench.network.hold()
  const names = ['Harbour at Dusk.wav', 'Night Trains.wav', 'Paper Gardens.wav']
  await choose(
    uploader,
    await bench.aHeavySong(names[0]!),
    await bench.aHeavySong(names[1]!),
    await bench.aSong(names[2]!),
  )
  await page.waitForFunction(() =>
    document
      .querySelector('tonearm-uploader')!
      .files.slice(0, 2)
      .every(({ fraction }) => fraction > 0.01),
  )
  const [cover] = await drawCovers()
  await page.evaluate(
    (png) => {
      const picture = new File([Uint8Array.from(png)], 'cover.png', { type: 'image/png' })
      document.querySelector('tonearm-uploader')!.addCover('file-1', picture)
    },
    [...cover!.png],
  )
  await checkState(uploader, 'uploading')

  await row(names[1]!).getByRole('button', { name: 'Pause' }).click()
  await row(names[1]!).getByText('Paused.').waitFor()
  await checkState(uploader, 'paused')

  bench.network.flow()
  await row(names[1]!).getByRole('button', { name: 'Resume' }).click()
  await choose(uploader, await bench.aFile('Voice memo.mp3', Buffer.from('%PDF-1.7\n\0'.repeat(20_000))))
  for (const name of names) await until(name, 'ready')
  await until('Voice memo.mp3', 'failed')
  await element.getByText('3 files ready').first().waitFor(TIMEOUT)
  await checkState(uploader, 'failed')

  await row('Voice memo.mp3').getByRole('button', { name: 'Remove' }).click()
  await checkState(uploader, 'done')
  expect(uploader.problems).toEqual([])
})
