import * as z from 'zod'

import type { Tools } from '../process/ffmpeg.ts'
import { run } from '../process/run.ts'
import { MAX_ALLOC, ownInput } from './input.ts'
import type { Encode } from './plan.ts'

const seconds = z.coerce.number().optional().catch(undefined)
const Probe = z.object({
  format: z.object({ duration: seconds }),
  streams: z.array(z.object({ start_time: seconds, duration: seconds })),
})

const DEMUXERS = { aac: 'mov', mp3: 'mp3', opus: 'matroska', flac: 'flac' }
const CHECK_SECONDS = 30
/** Seconds by which a start or a length may be off, and frames that MP3 adds before the sound and behind it. */
const TOLERANCE = 0.05
const MP3_PADDING = 2500

/** What is wrong with a finished file whose sound should last so many seconds; null when it opens, starts at 0 and has that length. */
export async function faultOf(encode: Encode, length: number, checking: Checking): Promise<string | null> {
  const entries = 'format=duration:stream=start_time,duration'
  const input = ownInput(DEMUXERS[encode.codec], encode.file)
  const args = ['-v', 'error', ...MAX_ALLOC, '-select_streams', 'a', '-show_entries', entries, '-of', 'json', ...input]
  const limits = {
    cwd: checking.directory,
    timeoutSeconds: CHECK_SECONDS,
    stdoutLimit: 65_536,
    signal: checking.signal,
  }
  const exit = await run(checking.tools.ffprobe, args, limits)
  checking.signal.throwIfAborted()
  const found = exit.code === 0 ? Probe.parse(JSON.parse(exit.stdout.toString())) : null
  const stream = found?.streams[0]
  const lasts = stream?.duration ?? found?.format.duration
  if (!found || !stream || !lasts) return 'The file has no audio that can be played.'
  const slack = TOLERANCE + (encode.codec === 'mp3' ? MP3_PADDING / encode.rate : 0)
  if (Math.abs(stream.start_time ?? 0) > slack) return `The file starts at ${stream.start_time} s.`
  if (Math.abs(lasts - length) > slack) return `The file lasts ${lasts} s, and the audio ${length} s.`
  return null
}

export type Checking = { directory: string; tools: Tools; signal: AbortSignal }
