import { JobError } from '../job_error.ts'
import type { Tools } from '../process/ffmpeg.ts'
import { run } from '../process/run.ts'
import { FLAC_FRAME } from './command.ts'
import type { Encode } from './plan.ts'
import { MAX_ALLOC, trustedInput } from './source/input.ts'

const DEMUXERS = { aac: 'mov', mp3: 'mp3', opus: 'matroska', flac: 'flac' }
const CHECK_SECONDS = 60
/** Tolerance in seconds for the start and the length of a file. MP3 also adds up to `MP3_PADDING` frames before and after the sound. */
const TOLERANCE = 0.05
const MP3_PADDING = 2500

/**
 * Minimum length of the end of a file that is decoded, in seconds, and in frames of FLAC: ffmpeg 7.1 cannot seek to the last three frames, and no version
 * can seek in a file of one frame.
 */
const DECODED_SECONDS = 1
const DECODED_FRAMES = 8
/** Maximum number of files that one process checks. ffmpeg 7 has several threads per file, and its address space is limited. */
const FILES_AT_ONCE = 8

export type CheckContext = { directory: string; tools: Tools; signal: AbortSignal }

/** A file that ffmpeg has written, and its expected length in seconds. */
export type WrittenFile = { encode: Encode; length: number }

/**
 * Returns what is wrong with each of the files, or null for a file that can be opened, starts at 0, has the expected length, and whose end can be decoded.
 * One process checks several files. If it fails, which happens with any damaged file, each file is checked alone. Throws when ffmpeg times out,
 * because then the state of the files is unknown.
 */
export async function findFaults(files: WrittenFile[], checking: CheckContext): Promise<(string | null)[]> {
  const faults: (string | null)[] = []
  for (let at = 0; at < files.length; at += FILES_AT_ONCE) {
    const group = files.slice(at, at + FILES_AT_ONCE)
    const found = await readEnds(group, checking)
    for (const [i, file] of group.entries()) {
      // This also repeats the check of a single file: a damaged file fails again, but a process that could not start on a busy machine usually succeeds.
      const [end] = found ? [found[i]] : ((await readEnds([file], checking)) ?? [])
      faults.push(faultOf(file, end))
    }
  }
  return faults
}

/** ffmpeg's report on a file: its start and duration in seconds, and the number of frames that it decoded at the end. */
type FileEnd = { start: number; duration: number; frames: number }

function faultOf({ encode, length }: WrittenFile, end: FileEnd | undefined): string | null {
  if (!end?.duration || !end.frames) return 'The file has no audio that can be played.'
  const slack = TOLERANCE + (encode.codec === 'mp3' ? MP3_PADDING / encode.rate : 0)
  if (Math.abs(end.start) > slack) return `The file starts at ${end.start} s.`
  if (Math.abs(end.duration - length) > slack) return `The file lasts ${end.duration} s, and the audio ${length} s.`
  return null
}

/** Decodes the ends of files in one process. Returns null if that fails for at least one of them. */
async function readEnds(files: WrittenFile[], { directory, tools, signal }: CheckContext): Promise<FileEnd[] | null> {
  const inputs = files.flatMap((file) => [
    ...startOfEnd(file),
    ...trustedInput(DEMUXERS[file.encode.codec], file.encode.file),
  ])
  const streams = files.flatMap((_, i) => ['-map', `${i}:a`])
  const output = [...streams, '-map_metadata', '-1', '-c:a', 'pcm_s16le', '-f', 'framecrc', 'pipe:1']
  const flags = ['-hide_banner', '-nostdin', '-nostats', ...MAX_ALLOC]
  const limits = { cwd: directory, timeoutSeconds: CHECK_SECONDS, stdoutLimit: 1024 * 1024, signal }
  const exit = await run(tools.ffmpeg, [...flags, ...inputs, ...output], limits)
  signal.throwIfAborted()
  if (exit.timedOut) throw new JobError('timed_out', 'The check of a finished file took too long.', true)
  // ffmpeg only warns about a file in which it cannot seek, and decodes it from the start.
  if (exit.code !== 0 || exit.stderr.includes('could not seek to position')) return null
  // Each line of the output that is not a comment describes a frame, and starts with the number of its stream.
  const frames = exit.stdout
    .toString()
    .split('\n')
    .map((line) => Number.parseInt(line, 10))
  const descriptions = exit.stderr.split(/^Input #\d+, /m).slice(1)
  if (descriptions.length !== files.length) return null
  return descriptions.map((text, i) => ({ ...readTimes(text), frames: frames.filter((stream) => stream === i).length }))
}

/** Returns the flags for the position from which on the file is decoded; none for a short file, which is decoded from its start. */
function startOfEnd({ encode, length }: WrittenFile): string[] {
  const start = length - Math.max(DECODED_SECONDS, (DECODED_FRAMES * FLAC_FRAME) / encode.rate)
  return start > 0 ? ['-ss', start.toFixed(3)] : []
}

// Tags cannot look like this line, because they are indented further.
const TIMES = /^ {2}Duration: (\d+):(\d+):([\d.]+)(?:, start: (-?[\d.]+))?/m

function readTimes(description: string): Pick<FileEnd, 'start' | 'duration'> {
  const [hours = 0, minutes = 0, seconds = 0, start = 0] =
    TIMES.exec(description)
      ?.slice(1)
      .map((text) => Number(text ?? 0)) ?? []
  return { start, duration: hours * 3600 + minutes * 60 + seconds }
}
