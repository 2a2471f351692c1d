import { ffmpeg, lavfi, makeAudio } from '../audio.ts'
import { concatenate, shiftClusters } from '../damage.ts'
import { lossless, lossy, type Expectations, type CorpusFile, SECONDS } from './case.ts'

/** Seconds of video before and after the sound. */
type Around = { before: number; after?: number }

function video({ before, after = 0.5 }: Around, codec: string, ...flags: string[]) {
  const picture = ['-f', 'lavfi', '-i', `color=s=64x64:r=5:d=${before + SECONDS + after}`]
  const sound = ['-itsoffset', String(before), ...lavfi({ seconds: SECONDS })]
  return ffmpeg([...picture, ...sound, '-c:v', codec, ...flags])
}

/** Creates a Matroska file of FLAC with frames of 1024 samples and with time stamps that a filter has changed. */
const stamped = (filter: string, ...flags: string[]) =>
  ffmpeg([
    ...lavfi({ seconds: SECONDS }),
    '-af',
    filter,
    '-c:a',
    'flac',
    '-sample_fmt',
    's16',
    ...flags,
    '-f',
    'matroska',
  ])

const flac = (name: string, make: () => Promise<Buffer>, facts: Expectations) => lossless(name, 'flac', 16, make, facts)

/** Files whose sound starts late or whose time stamps jump. All outputs must start with the sound and have the same length. */
export const TIMED: CorpusFile[] = [
  lossy('MP4, sound from 2 s', 'aac', () => video({ before: 2 }, 'mpeg4', '-c:a', 'aac', '-f', 'mp4')),
  lossy('MP4, sound from 35 s', 'aac', () => video({ before: 35 }, 'mpeg4', '-c:a', 'aac', '-f', 'mp4')),
  lossy('WebM, sound from 0.8 s', 'opus', () => video({ before: 0.8 }, 'libvpx', '-c:a', 'libopus', '-f', 'webm')),
  lossy('Matroska, sound from 2 s', 'mp3', () => video({ before: 2 }, 'mpeg4', '-c:a', 'libmp3lame', '-f', 'matroska')),
  lossy('MPEG-TS, sound from 2 s', 'aac', () =>
    video({ before: 2 }, 'mpeg2video', '-r', '25', '-c:a', 'aac', '-f', 'mpegts'),
  ),
  lossy('FLV, sound from 2 s', 'mp3', () => video({ before: 2 }, 'flv', '-c:a', 'libmp3lame', '-f', 'flv')),
  lossy('AVI, sound from 2 s', 'mp3', () => video({ before: 2 }, 'mpeg4', '-c:a', 'libmp3lame', '-f', 'avi')),
  flac('Matroska of sound alone, from 2 s', () => stamped('asetpts=PTS+2/TB'), {}),
  lossy('Matroska, the sound ends before the picture', 'aac', () =>
    video({ before: 0, after: 4 }, 'mpeg4', '-c:a', 'aac', '-f', 'matroska'),
  ),
  lossy('WebM, the sound ends before the picture', 'opus', () =>
    video({ before: 0, after: 4 }, 'libvpx', '-c:a', 'libopus', '-f', 'webm'),
  ),
  flac('Matroska, 3 s are missing', () => stamped('asetpts=PTS+if(gte(T\\,1)\\,3/TB\\,0)'), {
    duration: SECONDS + 3,
  }),
  flac('Matroska, minutes are missing', () => stamped('asetpts=PTS+if(gte(T\\,1)\\,500/TB\\,0)'), {
    warnings: ['duration_mismatch'],
  }),
  // Of every 37 frames, 9 are missing, which are 0.2 s. All gaps except the last one are filled with silence.
  flac('Matroska, packets are missing', () => stamped('aselect=gte(mod(n\\,37)\\,9)'), {
    tolerance: 0.23,
    tone: null,
  }),
  flac(
    'Matroska, time jumps back by 1 s',
    async () => shiftClusters(await stamped('anull', '-cluster_time_limit', '500', '-write_crc32', '0'), 1000, -1000),
    {
      warnings: [],
    },
  ),
  lossy(
    'two MPEG transport streams, one after the other',
    'aac',
    async () => {
      const one = await ffmpeg([...lavfi({ seconds: SECONDS / 2 }), '-c:a', 'aac', '-f', 'mpegts'])
      return concatenate(one, one)
    },
    { warnings: ['duration_mismatch'] },
  ),
  lossy(
    'Ogg in a chain, of two formats',
    'vorbis',
    async () =>
      concatenate(
        await makeAudio('ogg', { seconds: 1 }),
        await makeAudio('ogg', { seconds: 1, rate: 48000, channels: 1 }),
      ),
    { tolerance: 0.35, warnings: ['damaged', 'format_changed'], fallback: true },
  ),
  lossy('M4A, cut out by its edit list', 'aac', async () =>
    ffmpeg(['-ss', '0.7', '-i', 'in', '-c', 'copy', '-f', 'ipod'], {
      in: await makeAudio('m4a', { seconds: SECONDS + 0.7 }),
    }),
  ),
]
