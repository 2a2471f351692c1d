import { makeAudio, noise } from '../audio.ts'
import { concatenate, zeroed } from '../damage.ts'
import { lossy, type Expectations, type CorpusFile, SECONDS } from './case.ts'

const LONG = 6
const long = { seconds: LONG, expression: noise }

const cut = (name: string, make: () => Promise<Buffer>, percent: number, facts: Expectations): CorpusFile => ({
  name: `${name}, cut at ${percent} %`,
  async make() {
    const file = await make()
    return file.subarray(0, Math.floor((file.length * percent) / 100))
  },
  duration: (LONG * percent) / 100,
  tolerance: 0.35,
  ...facts,
})

/** Truncated files. The remaining audio can be played, unless the index of the container was at the end. */
export const CUTS: CorpusFile[] = [10, 50, 90].flatMap((percent): CorpusFile[] => [
  cut('WAV', () => makeAudio('wav', long), percent, { warnings: ['truncated'], fallback: true }),
  cut('FLAC', () => makeAudio('flac', long), percent, { warnings: ['damaged'], fallback: true }),
  cut('MP3', () => makeAudio('mp3', long), percent, { warnings: ['duration_mismatch'] }),
  cut('M4A, index at the front', () => makeAudio('m4a', long, ['-movflags', '+faststart']), percent, {
    warnings: ['damaged'],
    fallback: true,
  }),
  cut('M4A, index at the end', () => makeAudio('m4a', long), percent, { fails: 'decode_failed' }),
  // The pages of an Ogg file are long, so no audio page is complete at 10 %. Only the last page contains the length.
  cut(
    'Ogg Vorbis',
    () => makeAudio('ogg', long),
    percent,
    percent === 10 ? { fails: 'decode_failed' } : { tolerance: 1.1, warnings: [] },
  ),
  cut('WebM', () => makeAudio('webm', long), percent, { tolerance: 0.6, warnings: ['duration_mismatch'] }),
])

/** Files with holes of zeros in the middle. */
export const DAMAGED: CorpusFile[] = (
  [
    ['FLAC', 'flac', 2.5],
    ['MP3', 'mp3', 0.6],
    // The tolerance is large because ffmpeg 4 stops at the first hole.
    ['AAC, ADTS', 'adts', 5.5],
    ['M4A', 'm4a', 0.6],
  ] as const
).map(([name, format, tolerance]) => ({
  name: `${name} with holes`,
  make: async () => zeroed(await makeAudio(format, long), 6, 1500),
  duration: LONG,
  tolerance,
  warnings: ['damaged'],
  fallback: true,
}))

const JUNK = Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i * 31) % 200))

/** Unusual files that consist of several concatenated parts. */
export const ODD: CorpusFile[] = [
  lossy(
    'MP3 with garbage in front',
    'mp3',
    async () => concatenate(JUNK, await makeAudio('mp3', { seconds: SECONDS })),
    { tolerance: 0.1 },
  ),
  {
    name: 'two MP3s of different formats',
    make: async () =>
      concatenate(
        await makeAudio('mp3', { seconds: 2, rate: 48000, channels: 1, expression: noise }),
        await makeAudio('mp3', { seconds: 2, rate: 44100 }),
      ),
    duration: 4,
    tolerance: 0.15,
    warnings: ['damaged', 'format_changed'],
    fallback: true,
  },
]
