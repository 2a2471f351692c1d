import { describe, expect, it } from 'vitest'

import type { JobVariant } from '../../src/contract/job.ts'
import { makeAudio } from '../support/audio.ts'
import { movieTimes, webmTimes } from '../support/containers.ts'
import { newJob, succeed } from './service.ts'
import { shareService } from './shared.ts'
import { createWorkspace } from './workspace.ts'

/** Tests that headers state exactly, to the frame, where the audio starts and ends. test/e2e/seek.test.ts checks how browsers use them. */

const { storage, service } = await shareService()

/** A duration that is neither a whole number of milliseconds nor, in any codec, a whole number of frames. */
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
  it('has a frame-exact length in AAC, Opus and the preview', async () => {
    const source = await makeAudio('wav', { seconds: SECONDS, rate, channels: channels === 1 ? 1 : channels })
    const webm = { kind: 'preview', codec: 'opus', bitrate: 64, start: 0.5, length: 1 } as const
    const files = await make(source, [{ index: 'aac-160' }, { index: 'opus-96' }, { index: 'preview', ...webm }])

    const times = movieTimes(files['aac-160']!)
    const outputRate = Math.min(rate, 48000)
    const frames = Math.round(SECONDS * outputRate)
    expect(times.media.clock).toBe(outputRate)
    expect(times).toMatchObject({
      clock: outputRate,
      length: frames,
      track: frames,
      edits: [{ length: frames, from: 1024 }],
    })

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

it('the service rejects variants that have no audio, are truncated, are too short or start late, and delivers the others', async () => {
  const workspace = await createWorkspace(await makeAudio('wav', { seconds: 2 }))
  // Wraps the real ffmpeg and replaces its outputs: an MP3 with only a header, a truncated M4A, half of the audio, and audio after a
  // pause.
  const exchange = `case "$*" in *-filter_complex*) "$REAL" "$@" && {
      head -c 300 preview.mp3 >short && rm preview.mp3 && cat short >preview.mp3
      head -c $(($(wc -c <aac-160.m4a) * 2 / 5)) aac-160.m4a >cut && rm aac-160.m4a && cat cut >aac-160.m4a
      "$REAL" -v error -y -t 1 -i lossless.flac -c:a flac -f flac half </dev/null && rm lossless.flac && cat half >lossless.flac
      "$REAL" -v error -y -itsoffset 1 -i opus-96.webm -c copy -f webm late </dev/null && rm opus-96.webm && cat late >opus-96.webm
    };; *) exec "$REAL" "$@";; esac`
  try {
    const slow = await workspace.start(await workspace.fakeFfmpeg(exchange))
    const job = newJob(workspace.storage, workspace.newLightJob().source)
    const { result } = await succeed(slow, job)
    expect(result.failed.map(({ index }) => index).toSorted()).toEqual(['aac-160', 'lossless', 'opus-96', 'preview'])
    expect(result.variants.map(({ index }) => index)).toEqual(['mp3-128', 'waveform', 'analysis'])
  } finally {
    await workspace.dispose()
  }
})
