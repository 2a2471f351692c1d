import { noise, type Pcm, triangle } from './signal.ts'

/**
 * Integer signals, which are the same bytes on every machine, and the output of BBC audiowaveform for them. The numbers were computed by
 * version 1.10.3 (github.com/bbc/audiowaveform, commit 9edb233cd84c5e3c0669a9ecb55dad56dac5f93f, built on Debian 12) from `wavFile(pcm())`:
 *
 *     audiowaveform -i case.wav -o case.json -z <samples_per_pixel> -b 8
 *
 * `length`, `samples_per_pixel` and the first numbers of `data` come from that file; `sha256` covers all of `data`, joined by commas.
 */
export type WaveformCase = { name: string; pcm: () => Pcm; expected: Expected }

type Expected = { samples_per_pixel: number; length: number; head: number[]; sha256: string }

const mono = (rate: number, samples: Int32Array): Pcm => ({ rate, bits: 16, channels: [samples] })

/** Every sample is the minimum or the maximum value, in short runs. */
function extremes(frames: number): Int32Array {
  return noise(frames, 2).map((sample) => (sample < 0 ? -32768 : 32767))
}

function sixChannels(frames: number): Int32Array[] {
  return [1, 2, 3, 4, 5, 6].map((seed) => noise(frames, 5000 * seed, seed))
}

// The mix stays around zero, where truncation and rounding differ.
function opposite(frames: number): Int32Array[] {
  const [left, mix] = [triangle(frames, 20000, 333), triangle(frames, 1100, 7001)]
  return [left, left.map((sample, i) => mix[i]! - sample)]
}

// The signal is alternately loud and quiet, so that a bin at the wrong position is visible.
function pulses(frames: number, period: number): Int32Array {
  const loud = noise(frames, 30000, 7)
  return loud.map((sample, i) => (i % period < period / 2 ? sample : Math.trunc(sample / 64)))
}

export const waveformCases: WaveformCase[] = [
  {
    name: 'mono, 16 bit',
    pcm: () => mono(44100, noise(132300, 20000)),
    expected: {
      samples_per_pixel: 16,
      length: 8269,
      head: [-77, 65, -73, 59, -70, 76, -63, 63, -51, 76, -72, 67],
      sha256: 'e2b3adb3775882addb71e36638f126371f9bc98a5df91b6119305289f234f598',
    },
  },
  {
    name: 'stereo, 16 bit',
    pcm: () => ({ rate: 44100, bits: 16, channels: [noise(132300, 32767, 3), triangle(132300, 12345, 701)] }),
    expected: {
      samples_per_pixel: 16,
      length: 8269,
      head: [-81, 26, -73, 42, -65, 43, -76, 37, -73, 47, -65, 47],
      sha256: 'b45f62451a81f778cb4b7669c7d07b99e351db0fe74a560cfe6c1dbdc8a4f7e4',
    },
  },
  {
    name: 'stereo in opposite phase, with little left of it',
    pcm: () => ({ rate: 44100, bits: 16, channels: opposite(30000) }),
    expected: {
      samples_per_pixel: 16,
      length: 1875,
      head: [-2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2],
      sha256: '5b81e17f534beb9692ff69e4cffbd7ef14a9e3e92c6ed22b3e513f70edfdd06f',
    },
  },
  {
    name: '5.1, 16 bit',
    pcm: () => ({ rate: 48000, bits: 16, channels: sixChannels(96000) }),
    expected: {
      samples_per_pixel: 16,
      length: 6000,
      head: [-44, 32, -21, 51, -14, 33, -15, 36, -13, 24, -37, 30],
      sha256: '6060a9246c5df867f521a52d835a32409ec40b5b6bf3fcb81a8b1ead61aaa6a0',
    },
  },
  {
    name: 'stereo, 24 bit',
    pcm: () => ({ rate: 48000, bits: 24, channels: [noise(96000, 8388607, 5), triangle(96000, 8388607, 4801)] }),
    expected: {
      samples_per_pixel: 16,
      length: 6000,
      head: [-108, 0, -126, -1, -121, -1, -116, -2, -116, 2, -114, -17],
      sha256: '243981731195efe08819b203e2066222060ac4b59242b0ec1b724d7f95bfb723',
    },
  },
  {
    name: 'mono at 8 kHz',
    pcm: () => mono(8000, triangle(24000, 32767, 97)),
    expected: {
      samples_per_pixel: 16,
      length: 1500,
      head: [-127, -48, -43, 35, 40, 120, 51, 125, -32, 46, -117, -38],
      sha256: 'ed9965d029d14588f4f6b80a93a648b2c7c1985e35d26973bfd6c6989bee6f9e',
    },
  },
  {
    name: 'stereo, 24 bit, at 96 kHz',
    pcm: () => ({ rate: 96000, bits: 24, channels: [noise(192000, 4194304, 8), noise(192000, 8388607, 9)] }),
    expected: {
      samples_per_pixel: 16,
      length: 12000,
      head: [-21, 89, -78, 85, -71, 70, -56, 64, -62, 71, -74, 60],
      sha256: '7a9e6479c89d3baba464474ba03f1b0d1419a2e2b8adc663e84fb16041e8f6d5',
    },
  },
  {
    name: '50 ms and one sample, alone in the last bin',
    pcm: () => mono(48000, noise(2401, 30000, 4)),
    expected: {
      samples_per_pixel: 16,
      length: 151,
      head: [-112, 111, -109, 112, -100, 116, -99, 113, -110, 112, -106, 90],
      sha256: '9a749e69b7d7c92cdb8050dc5425b8e61d35f754e87fbbc2f24e6d4ed94ccf0f',
    },
  },
  {
    name: 'silence',
    pcm: () => mono(44100, new Int32Array(44100)),
    expected: {
      samples_per_pixel: 16,
      length: 2757,
      head: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
      sha256: '63c933b580e86d887d749b996eb245fe22fb0adcd350d1ac5467c6bc6a8eed39',
    },
  },
  {
    name: 'both ends of the scale',
    pcm: () => mono(44100, extremes(44100)),
    expected: {
      samples_per_pixel: 16,
      length: 2757,
      head: [-128, 127, -128, 127, -128, 127, -128, 127, -128, 127, -128, 127],
      sha256: '48eca590ccb6e19cccd310fb7498144d8df5143d472e97182a17d8e923e49055',
    },
  },
  {
    name: 'long enough for bins to merge once',
    pcm: () => mono(8000, pulses(600_000, 4099)),
    expected: {
      samples_per_pixel: 32,
      length: 18750,
      head: [-109, 112, -114, 115, -116, 112, -111, 109, -115, 115, -112, 108],
      sha256: 'afe5506c79e3cf36d7445a84030ea245e755b6588dc5450a8b40c2f0549f2e38',
    },
  },
  {
    name: 'long enough for bins to merge three times',
    pcm: () => mono(44100, pulses(2_205_001, 30011)),
    expected: {
      samples_per_pixel: 128,
      length: 17227,
      head: [-116, 115, -115, 115, -114, 114, -116, 114, -113, 113, -116, 116],
      sha256: '2ad79f3084e77d169a0c098d2c85019e437643e7415540894c3c7cb5e7bad7f3',
    },
  },
]
