import * as z from 'zod'

import { JobError } from '../job_error.ts'
import type { Tools } from '../process/ffmpeg.ts'
import { run } from '../process/run.ts'
import type { Encode } from './plan.ts'
import { MAX_ALLOC, trustedInput } from './source/input.ts'

const seconds = z.coerce.number().optional().catch(undefined)
const Probe = z.object({
  format: z.object({ duration: seconds }),
  streams: z.array(z.object({ start_time: seconds, duration: seconds, nb_read_frames: seconds })),
})

const DEMUXERS = { aac: 'mov', mp3: 'mp3', opus: 'matroska', flac: 'flac' }
const CHECK_SECONDS = 30
/** Tolerance in seconds for the start and the length of a file. MP3 also adds up to `MP3_PADDING` frames before and after the sound. */
const TOLERANCE = 0.05
const MP3_PADDING = 2500

/** Number of seconds at the end of the file that are decoded. */
const DECODED_SECONDS = 1

/**
 * Returns what is wrong with a finished file that should last `length` seconds. Returns null if the file can be opened, starts at 0, has
 * that length, and its end can be decoded. Throws when ffprobe times out, because then the state of the file is unknown.
 */
export async function findFileFault(encode: Encode, length: number, checking: CheckContext): Promise<string | null> {
  const entries = 'format=duration:stream=start_time,duration,nb_read_frames'
  // Old versions of ffprobe count no frames if the interval has no end.
  const endFlags = [
    '-count_frames',
    '-read_intervals',
    `${Math.max(0, length - DECODED_SECONDS).toFixed(3)}%+${2 * DECODED_SECONDS}`,
  ]
  const input = trustedInput(DEMUXERS[encode.codec], encode.file)
  const outputFlags = ['-select_streams', 'a', '-show_entries', entries, '-of', 'json']
  const args = ['-v', 'error', ...MAX_ALLOC, ...endFlags, ...outputFlags, ...input]
  const limits = {
    cwd: checking.directory,
    timeoutSeconds: CHECK_SECONDS,
    stdoutLimit: 65_536,
    signal: checking.signal,
  }
  let exit = await run(checking.tools.ffprobe, args, limits)
  // The check is repeated once: a damaged file fails again, but a process that could not start on a busy machine usually succeeds.
  if (exit.code !== 0 && !exit.timedOut) exit = await run(checking.tools.ffprobe, args, limits)
  checking.signal.throwIfAborted()
  if (exit.timedOut) throw new JobError('timed_out', 'The check of a finished file took too long.', true)
  const probed = exit.code === 0 ? Probe.parse(JSON.parse(exit.stdout.toString())) : null
  const stream = probed?.streams[0]
  const duration = stream?.duration ?? probed?.format.duration
  if (!probed || !stream || !duration || !stream.nb_read_frames) return 'The file has no audio that can be played.'
  const slack = TOLERANCE + (encode.codec === 'mp3' ? MP3_PADDING / encode.rate : 0)
  if (Math.abs(stream.start_time ?? 0) > slack) return `The file starts at ${stream.start_time} s.`
  if (Math.abs(duration - length) > slack) return `The file lasts ${duration} s, and the audio ${length} s.`
  return null
}

export type CheckContext = { directory: string; tools: Tools; signal: AbortSignal }
