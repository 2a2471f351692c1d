import { describe, expect, it } from 'vitest'

import type { JobVariant } from '../../src/contract/job.ts'
import { makeAudio } from '../support/audio.ts'
import { movieTimes, webmTimes } from '../support/containers.ts'
import { newJob, succeed } from './service.ts'
import { shareService } from './shared.ts'

/** Headers that say to the frame where audio starts and ends. What browsers make of them: test/e2e/seek.test.ts. */

const { storage, service } = await shareService()

/** Neither whole milliseconds nor whole frames of any codec. */
const SECONDS = 2.1234
let sources = 0

async function make(source: Buffer, variants: (Partial<JobVariant> & { index: string })[]) {
  const job = newJob(storage, storage.serve(`exact-${sources++}`, source))
  const of = (index: string) => job.variants.find((variant) => variant.index === index)!
  job.variants = variants.map((variant) => {
    const based = of(variant.index)
    return { ...based, ...variant } as JobVariant
  })
  const { result } = await succeed(service, job)
  expect(result.failed).toEqual([])
  return Object.fromEntries(variants.map(({ index }) => [index, storage.files.get(`${job.job_id}/${index}`)!]))
}

describe.each([
  [44100, 2],
  [48000, 2],
  [22050, 1],
  [96000, 6],
] as const)('a source of %d Hz and %d channels', (rate, channels) => {
  it('has its length in AAC and Opus to the frame, the preview too', async () => {
    const source = await makeAudio('wav', { seconds: SECONDS, rate, channels: channels === 1 ? 1 : channels })
    const webm = { kind: 'preview', codec: 'opus', bitrate: 64, start: 0.5, length: 1 } as const
    const files = await make(source, [{ index: 'aac-160' }, { index: 'opus-96' }, { index: 'preview', ...webm }])

    const times = movieTimes(files['aac-160']!)
    const own = Math.min(rate, 48000)
    const frames = Math.round(SECONDS * own)
    expect(times.media.clock).toBe(own)
    expect(times).toMatchObject({ clock: own, length: frames, track: frames, edits: [{ length: frames, from: 1024 }] })

    for (const [index, seconds] of [
      ['opus-96', Math.round(SECONDS * rate) / rate],
      ['preview', 1],
    ] as const) {
      const { codecDelay, preSkip, blocks, padding, duration } = webmTimes(files[index]!)
      expect([codecDelay, preSkip], index).toEqual([7_000_000, 336])
      expect(blocks, index).toEqual(blocks.map((_, i) => 20 * i))
      expect(Math.abs(duration - seconds * 1000), `${index} lasts ${duration} ms`).toBeLessThan(1)
      const kept = blocks.length * 960 - preSkip - Math.round(padding * 48e-6)
      expect(Math.abs(kept - seconds * 48_000), `${index} keeps ${kept} frames`).toBeLessThan(1)
    }
  })
})
