import { afterAll, describe, expect, it } from 'vitest'

import { makeAudio, tone as toneExpression } from '../support/audio.ts'
import { amplitude, sample, silence, sine, steps, type Wave } from '../support/signal.ts'
import { wavFile } from '../support/wav.ts'
import { startMeasuring } from './measuring.ts'
import { sharedService } from './shared.ts'

/**
 * The signals, values and tolerances published for loudness meters in EBU Tech 3341 (table 1) and Tech 3342 (table 1): 24 bit, 48 kHz.
 * The cases 3341-7, 3341-8, 3342-5 and 3342-6 are excluded because they are recordings, and 3341-10, -11, -13 and -14
 * because they test momentary and short-term loudness, which we do not report. 3341-9 and -12 test those as well, but
 * their integrated loudness is also known.
 */

const measuring = await startMeasuring(await sharedService())
afterAll(() => measuring.stop())

const RATE = 48000

/** The reported analysis of a file with one wave per channel. */
async function analyze(waves: Wave[], seconds: number, { rate = RATE, mask }: { rate?: number; mask?: number } = {}) {
  const { json } = await measuring.make(wavFile(sample(waves, { rate, seconds }), mask), ['analysis'])
  return json('analysis')
}

/** The loudness in LUFS of case 3341-6 after the ITU-R BS.775 downmix: a 1 kHz sine in both channels. */
const DOWN_MIX = 20 * Math.log10(amplitude(-28) + Math.SQRT1_2 * (amplitude(-24) + amplitude(-30)))

const stereo = (wave: Wave) => [wave, wave]
const tone = (dbfs: number) => sine(1000, amplitude(dbfs))
const repeat = <T>(count: number, ...parts: T[]) => Array.from({ length: count }, () => parts).flat()

describe('integrated loudness', () => {
  it.each<[string, number, [number, number][]]>([
    ['3341-1', -23, [[-23, 20]]],
    ['3341-2', -33, [[-33, 20]]],
    [
      '3341-3',
      -23,
      [
        [-36, 10],
        [-23, 60],
        [-36, 10],
      ],
    ],
    [
      '3341-4',
      -23,
      [
        [-72, 10],
        [-36, 10],
        [-23, 60],
        [-36, 10],
        [-72, 10],
      ],
    ],
    [
      '3341-5',
      -23,
      [
        [-26, 20],
        [-20, 20.1],
        [-26, 20],
      ],
    ],
    ['3341-9', -23, repeat<[number, number]>(5, [-20, 1.34], [-30, 1.66])],
    ['3341-12', -23, repeat<[number, number]>(25, [-20, 0.18], [-30, 0.22])],
  ])('of EBU Tech %s is %d LUFS ±0.1', async (_, expected, levels) => {
    const { wave, seconds } = steps(...levels)
    const found = await analyze(stereo(wave), seconds)
    expect(Math.abs(found.integrated_lufs - expected)).toBeLessThanOrEqual(0.1001)
  })

  // EBU Tech 3341-6 has -23 LUFS over its five channels. They are in phase, so their sum in the delivered stereo is louder.
  it.each([
    ['5.0 with side speakers', 0x607],
    ['5.0 with back speakers', 0x37],
  ])('of EBU Tech 3341-6 in %s is within ±0.1 LU of its downmix', async (_, mask) => {
    const [front, center, surround] = [tone(-28), tone(-24), tone(-30)]
    const found = await analyze([front, front, center, surround, surround], 20, { mask })
    expect(Math.abs(found.integrated_lufs - DOWN_MIX)).toBeLessThanOrEqual(0.1001)
    expect(found.channels).toBe(5)
  })

  it('excludes the low-frequency channel of 5.1 (ITU-R BS.1770)', async () => {
    const [front, center, surround] = [tone(-28), tone(-24), tone(-30)]
    const found = await analyze([front, front, center, tone(-6), surround, surround], 20)
    expect(Math.abs(found.integrated_lufs - DOWN_MIX)).toBeLessThanOrEqual(0.1001)
  })

  it.each<[string, Wave[]]>([
    ['mono', [tone(-23)]],
    ['the left channel only', [tone(-23), silence]],
  ])('of %s is 3 dB below that of the same signal in both channels', async (_, waves) => {
    const found = await analyze(waves, 5)
    expect(Math.abs(found.integrated_lufs + 26)).toBeLessThanOrEqual(0.1001)
  })

  it.each([8000, 22050, 44100, 96000, 192000])('does not depend on the sample rate: %d Hz', async (rate) => {
    const found = await analyze(stereo(tone(-23)), 5, { rate })
    expect(Math.abs(found.integrated_lufs + 23)).toBeLessThanOrEqual(0.1001)
    expect(found.sample_rate).toBe(rate)
  })
})

describe('loudness range', () => {
  it.each<[string, number, number[]]>([
    ['3342-1', 10, [-20, -30]],
    ['3342-2', 5, [-20, -15]],
    ['3342-3', 20, [-40, -20]],
    ['3342-4', 15, [-50, -35, -20, -35, -50]],
  ])('of EBU Tech %s is %d LU ±1', async (_, expected, levels) => {
    const { wave, seconds } = steps(...levels.map((dbfs): [number, number] => [dbfs, 20]))
    const found = await analyze(stereo(wave), seconds)
    expect(Math.abs(found.loudness_range - expected)).toBeLessThanOrEqual(1)
  })
})

describe('true peak', () => {
  const expectPeak = (found: number, expected: number) => {
    expect(found).toBeLessThanOrEqual(expected + 0.2001)
    expect(found).toBeGreaterThanOrEqual(expected - 0.4001)
  }

  it.each([
    ['3341-15', -6, 0.5, 4, 0],
    ['3341-16', -6, 0.5, 4, 45],
    ['3341-17', -6, 0.5, 6, 60],
    ['3341-18', -6, 0.5, 8, 67.5],
    ['3341-19', 3, 1.41, 4, 45],
  ])('of EBU Tech %s is %d dBTP +0.2 -0.4', async (_, expected, peak, divisor, degrees) => {
    const found = await analyze(stereo(fadeIn(sine(RATE / divisor, peak, degrees))), 2)
    expectPeak(found.true_peak_dbtp, expected)
  })

  it.each([0, 1, 2, 3])(
    'of a full-scale burst that is %d quarters of a sample late is 0 dBTP (as in EBU Tech 3341-20…23)',
    async (late) => {
      const found = await analyze(stereo(fadeIn(burst(late / 4))), 2)
      expectPeak(found.true_peak_dbtp, 0)
    },
  )

  it('of a file whose format changes is the peak of its loudest part', async () => {
    const loud = await makeAudio('mp3', { seconds: 2, rate: 44100, expression: toneExpression(1000, -6) })
    const quiet = await makeAudio('mp3', {
      seconds: 2,
      rate: 48000,
      channels: 1,
      expression: toneExpression(1000, -30),
    })
    const { json, result } = await measuring.make(Buffer.concat([loud, quiet]), ['analysis'])
    expectPeak(json('analysis').true_peak_dbtp, -6)
    expect(result.warnings.map((warning) => warning.code)).toContain('format_changed')
  })

  it('exceeds the sample peak if the crest of the wave is between two samples', async () => {
    const found = await analyze(stereo(fadeIn(sine(RATE / 4, 0.5, 45))), 2)
    expect(found.sample_peak_dbfs).toBeCloseTo(-9.03, 2)
  })
})

/** Fades a wave in, because a sudden start would overshoot when the bandwidth is limited. */
function fadeIn(wave: Wave): Wave {
  return (seconds) => wave(seconds) * Math.min(1, seconds / 0.1)
}

/**
 * A tone at half of full scale and a quarter of the sample rate, with one full-scale peak in the middle, `late` samples after a sample
 * point. The Gaussian envelope is so wide that the signal contains nothing above half the sample rate. The height of the peak is therefore known: 1.
 */
function burst(late: number): Wave {
  return (seconds) => {
    const frames = (seconds - 1) * RATE - late
    return (0.5 + 0.5 * Math.exp(-(frames ** 2) / (2 * 6 ** 2))) * Math.cos((Math.PI / 2) * frames)
  }
}

describe('derived gains', () => {
  it('follow ReplayGain 2.0 (-18 LUFS) and RFC 7845 (-23 LUFS, Q7.8)', async () => {
    const found = await analyze(stereo(tone(-30)), 5)
    expect(found).toMatchObject({ integrated_lufs: -30, replaygain_track_gain: 12, r128_track_gain: 7 * 256 })
    expect(Math.abs(found.replaygain_track_peak - amplitude(-30))).toBeLessThan(0.0005)
  })

  it('are negative for loud audio, whose peak may exceed full scale', async () => {
    const found = await analyze(stereo(fadeIn(sine(RATE / 4, 1.41, 45))), 5)
    const gain = -18 - found.integrated_lufs
    expect(found.integrated_lufs).toBeGreaterThan(0)
    expect(found.replaygain_track_gain).toBeCloseTo(gain, 5)
    expect(found.r128_track_gain).toBe(Math.round((gain - 5) * 256))
    expect(Math.abs(found.replaygain_track_peak - 1.41)).toBeLessThan(0.03)
  })
})

describe('undefined loudness', () => {
  const NONE = { integrated_lufs: null, loudness_range: null, replaygain_track_gain: null, r128_track_gain: null }

  it('is null for silence', async () => {
    const found = await analyze(stereo(silence), 2)
    const peaks = { true_peak_dbtp: null, sample_peak_dbfs: null, replaygain_track_peak: null }
    expect(found).toMatchObject({ ...NONE, ...peaks, is_silent: true })
  })

  it('is null below the absolute gate of -70 LUFS, where the peak is still reported', async () => {
    const found = await analyze(stereo(tone(-80)), 2)
    expect(found).toMatchObject({ ...NONE, is_silent: true })
    // The tolerance is large because samples are measured in 16-bit steps, and this signal spans only three of them.
    expect(Math.abs(found.sample_peak_dbfs + 80)).toBeLessThanOrEqual(2)
  })

  it('is null for audio shorter than one gating block of 400 ms', async () => {
    const short = await analyze(stereo(tone(-23)), 0.39)
    expect(short).toMatchObject({ ...NONE, is_silent: false })
    expect(Math.abs(short.true_peak_dbtp + 23)).toBeLessThanOrEqual(0.2001)
  })

  it('becomes defined with the first complete block', async () => {
    const found = await analyze(stereo(tone(-23)), 0.41)
    expect(Math.abs(found.integrated_lufs + 23)).toBeLessThanOrEqual(0.1001)
  })
})
