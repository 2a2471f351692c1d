import { afterAll, describe, expect, it } from 'vitest'

import { decode, probeAudio } from '../support/audio.ts'
import { sample, sine } from '../support/signal.ts'
import { startMeasuring } from './measuring.ts'
import { sharedService } from './shared.ts'

/** WAV files whose samples have fewer valid bits than their storage (WAVEFORMATEXTENSIBLE, `wValidBitsPerSample`). */

const measuring = await startMeasuring(await sharedService())
afterAll(() => measuring.stop())

const RATE = 44_100
const SECONDS = 1.5
const tone = sine(1000, 0.25)

/** A stereo tone with `valid` bits, left-aligned in `container` bits, after a chunk that players skip. */
function paddedWav(container: 16 | 24 | 32, valid: number): Buffer {
  const mono = sample([tone], { rate: RATE, seconds: SECONDS, bits: valid > 16 ? 24 : 16 })
  const unit = 2 ** (container - mono.bits)
  const lowest = 2 ** (container - valid)
  const width = container / 8
  const data = Buffer.alloc(mono.channels[0]!.length * 2 * width)
  for (const [i, value] of mono.channels[0]!.entries()) {
    const stored = Math.floor((value * unit) / lowest) * lowest
    for (const side of [0, 1]) data.writeIntLE(stored, (2 * i + side) * width, width)
  }
  const format = Buffer.alloc(40)
  format.writeUInt16LE(0xfffe, 0)
  format.writeUInt16LE(2, 2)
  format.writeUInt32LE(RATE, 4)
  format.writeUInt32LE(RATE * 2 * width, 8)
  format.writeUInt16LE(2 * width, 12)
  format.writeUInt16LE(container, 14)
  format.writeUInt16LE(22, 16)
  format.writeUInt16LE(valid, 18)
  format.writeUInt32LE(3, 20)
  Buffer.from('0100000000001000800000aa00389b71', 'hex').copy(format, 24)
  const chunk = (name: string, body: Buffer) => {
    const head = Buffer.alloc(8)
    head.write(name)
    head.writeUInt32LE(body.length, 4)
    return Buffer.concat([head, body])
  }
  const chunks = [chunk('JUNK', Buffer.alloc(36)), chunk('fmt ', format), chunk('data', data)]
  return chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks]))
}

describe.each<[16 | 24 | 32, number]>([
  [32, 24],
  [32, 20],
  [32, 16],
  [24, 16],
  [24, 20],
  [16, 12],
])('samples of %d bits with %d valid bits', (container, valid) => {
  it('keep their level and duration', async () => {
    const { result, file } = await measuring.make(paddedWav(container, valid), ['lossless', 'mp3-128', 'aac-160'])
    expect(result.warnings).toEqual([])
    expect(result.duration).toBe(SECONDS)
    expect(result.info).toMatchObject({
      codec: `pcm_s${container}le`,
      bit_depth: valid,
      lossless: true,
      pass: 'strict',
    })
    expect(result.info.bitrate).toBe(Math.round((RATE * 2 * container) / 1000))
    expect((await probeAudio(file('lossless'))).bits).toBe(valid > 16 ? 24 : 16)
    for (const index of ['lossless', 'mp3-128']) {
      const samples = await decode(file(index))
      expect(samples.length, index).toBe(2 * RATE * SECONDS)
      const peak = Math.max(...samples.subarray(2 * 4096, -2 * 4096)) / 32768
      expect(Math.abs(peak - 0.25), `${index} peaks at ${peak}`).toBeLessThan(0.01)
    }
    const exact = sample([tone], { rate: RATE, seconds: SECONDS, bits: 16 }).channels[0]!
    const left = (await decode(file('lossless'))).filter((_value, i) => i % 2 === 0)
    const furthest = left.reduce((most, value, i) => Math.max(most, Math.abs(value - exact[i]!)), 0)
    expect(furthest).toBeLessThanOrEqual(2 ** Math.max(0, 16 - valid))
  })
})

it('a truncated file causes a warning about the missing part', async () => {
  const complete = paddedWav(32, 24)
  const { result } = await measuring.make(complete.subarray(0, complete.length / 2), ['mp3-128'])
  expect(result.warnings).toEqual([{ code: 'truncated', message: expect.stringContaining('it plays 0.7 of 1.5 s') }])
})
