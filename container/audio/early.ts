import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { CODECS } from '../../src/contract/facts.ts'
import type { JobEvent, MadeVariant, TranscodeJob } from '../../src/contract/job.ts'
import type { Sniffed } from '../../src/contract/sniff.ts'
import { failpoint } from '../failpoint.ts'
import type { Tools } from '../process/ffmpeg.ts'
import { run } from '../process/run.ts'
import { uploadOutput } from '../transfer/upload.ts'
import { copyArguments, ffmpegArguments, type Labels } from './command.ts'
import { setMovieClock } from './movie_clock.ts'
import type { Encode } from './plan.ts'
import type { Source } from './source/probe.ts'

/** A second ffmpeg process that produces one file of a long source quickly while the first process produces all the others. */
export type EarlyProcess = {
  /** The encode that this process performs instead of the first process; null if it only copies the source's stream. */
  encode: Encode | null
  /** Resolves when the file is complete and uploaded, and to null if the process failed. Never rejects. */
  finished: Promise<MadeVariant | null>
  abandon: () => void
}

export type EarlyRequest = {
  job: TranscodeJob
  source: Source
  sniffed: Sniffed
  /** A copied stream contains no labels, so it does not wait for them. */
  labels: Promise<Labels | null>
  encodes: Encode[]
  directory: string
  tools: Tools
  signal: AbortSignal
  emit: (event: JobEvent) => void
  nice: number
}

/** Codecs that every browser can play, with the container format for a copy of the stream. */
const COPIES: Record<string, { format: string; type: string }> = {
  mp3: { format: 'mp3', type: CODECS.mp3.content_type },
  aac: { format: 'ipod', type: CODECS.aac.content_type },
  flac: { format: 'flac', type: CODECS.flac.content_type },
}
const EARLY_FILE = 'early'

/**
 * Starts a process that produces a first playable file from a long source. Returns null if there is no quick way. Streams that browsers can
 * play are copied without decoding, which takes a second for 1 h. Other lossless sources are encoded as FLAC, which is ten times as fast as
 * the other variants; that file is also the final variant.
 */
export function startEarly(request: EarlyRequest): EarlyProcess | null {
  const { job, source, sniffed, encodes } = request
  const duration = source.duration ?? 0
  if (!job.early || job.pass !== 'strict' || !sniffed.demuxer || duration < job.early.from_duration) return null
  const copy = COPIES[source.codec]
  const encode =
    encodes.find(
      (candidate) => CODECS[candidate.codec].lossless && !candidate.cut && candidate.channels === source.channels,
    ) ?? null
  if (!copy && !(source.lossless && encode)) return null
  const abandoned = new AbortController()
  const signal = AbortSignal.any([request.signal, abandoned.signal])
  const uploading = copy ? makeCopy({ ...request, signal }, copy) : encodeFinal({ ...request, signal }, encode!)
  return { encode: copy ? null : encode, finished: uploading.catch(() => null), abandon: () => abandoned.abort() }
}

async function makeCopy(
  request: EarlyRequest,
  { format, type }: { format: string; type: string },
): Promise<MadeVariant | null> {
  const command = { ...request, pass: 'strict' as const, maxDuration: request.job.max_duration }
  const args = copyArguments(command, { format, file: EARLY_FILE })
  try {
    return await publish(request, args, {
      index: 'early',
      file: EARLY_FILE,
      url: request.job.early!.url,
      content_type: type,
    })
  } finally {
    // Deletes the copy, which is as large as the source and is not needed after the upload.
    await rm(join(request.directory, EARLY_FILE), { force: true })
  }
}

async function encodeFinal(request: EarlyRequest, encode: Encode): Promise<MadeVariant | null> {
  const labels = await request.labels
  const command = { ...request, labels, pass: 'strict' as const, maxDuration: request.job.max_duration }
  const { url, content_type, parts } = request.job.variants.find((variant) => variant.index === encode.index)!
  const args = ffmpegArguments({ ...command, encodes: [encode], measures: [] })
  return publish(request, args, { index: encode.index, file: encode.file, url, content_type, parts })
}

type Output = { index: string; file: string } & Parameters<typeof uploadOutput>[1]

async function publish(request: EarlyRequest, args: string[], output: Output): Promise<MadeVariant | null> {
  const { index, file } = output
  const { directory, tools, signal, source, emit } = request
  // This process has a higher priority than the main process, because listeners wait for its file.
  const timeoutSeconds = tools.timeoutSeconds ?? 120 + 2 * source.duration!
  const limits = { cwd: directory, signal, timeoutSeconds, nice: Math.floor(request.nice / 2) }
  const exit = await run(tools.ffmpeg, args, limits)
  if (exit.code !== 0 || (await stat(join(directory, file))).size === 0) return null
  if (output.content_type === CODECS.aac.content_type) {
    await setMovieClock(join(directory, file), source.end === null ? undefined : source.end / source.sampleRate)
  }
  const uploaded = await uploadOutput(join(directory, file), output, signal)
  failpoint('early_uploaded')
  const duration = Math.round(source.duration! * 1000) / 1000
  const made = { index, ...uploaded, bitrate: Math.round((uploaded.size * 8) / 1000 / duration), duration }
  emit({ type: 'early', file: made })
  return made
}
