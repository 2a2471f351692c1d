import { join } from 'node:path'

import type { JobEvent, JobResult, TranscodeJob } from '../../src/contract/job.ts'
import type { Sniffed } from '../../src/contract/sniff.ts'
import { reserveSpace, requiredSpace } from '../disk.ts'
import { failpoint } from '../failpoint.ts'
import { JobError } from '../job_error.ts'
import type { Tools } from '../process/ffmpeg.ts'
import { download, type DownloadLimits } from '../transfer/download.ts'
import { SOURCE_FILE } from './command.ts'
import { uploadCover } from './cover.ts'
import type { DecodeCover } from './cover_decoder.ts'
import { type EarlyRequest, startEarly } from './early.ts'
import { embeddedCover, withWarning } from './embedded_cover.ts'
import { type EncodeResult, encode, recut } from './encode.ts'
import { analysis, sourceInfo } from './info.ts'
import { durationOf, isCutShort } from './measure/duration.ts'
import { levels } from './measure/levels.ts'
import { loudness } from './measure/loudness.ts'
import { waveform } from './measure/waveform.ts'
import { audioFiles, dataFiles, type OutputFile, uploadAll } from './outputs.ts'
import { writePicture } from './picture.ts'
import { type Plan, plan } from './plan.ts'
import { createProgress } from './progress.ts'
import { createSlotLimit, type SlotLimit } from './slot_limit.ts'
import { probe, type Source } from './source/probe.ts'
import { sniffFile } from './source/sniff.ts'
import { tagsToWrite } from './source/tags.ts'
import { decodeWarnings } from './warnings.ts'

export type TranscodeContext = {
  tools: Tools
  decodeCover: DecodeCover
  directory: string
  signal: AbortSignal
  emit: (event: JobEvent) => void
  /** Niceness of the ffmpeg processes of the job, 0 to 19. */
  nice: number
  /** Maximum seconds of audio in the job's slot (`HandBack`). */
  maxSeconds: number
  limits: DownloadLimits
}

/** Runs one job from download to upload, in an empty directory. */
export async function transcode(job: TranscodeJob, context: TranscodeContext): Promise<JobResult> {
  const { tools, decodeCover, directory, signal, emit, nice } = context
  if (job.source.size === 0) throw new JobError('empty_file', 'The file is empty.')
  await reserveSpace(directory, requiredSpace(job))
  const progress = createProgress(emit)
  const path = join(directory, SOURCE_FILE)
  await download(job.source, path, {
    signal,
    limits: context.limits,
    onProgress: (fraction) => progress.downloaded(fraction),
  })

  failpoint('downloaded')
  const sniffed = await sniffFile(path)
  const source = await probe(path, sniffed, tools, signal)
  rejectTooLong(source, job.max_duration)
  const slotLimit = createSlotLimit(source, context.maxSeconds)
  slotLimit.check(source.duration ?? 0)
  const planned = plan(job.variants, source)
  const usesEmbeddedPicture = job.tags?.from_source && !job.picture?.wins
  const coverRequest = { source, sniffed, path, tools, decodeCover, signal }
  const embedding =
    job.cover || usesEmbeddedPicture ? embeddedCover(coverRequest) : Promise.resolve({ cover: null, warnings: [] })
  const labels = embedding.then(async ({ cover }) => {
    if (!job.tags) return null
    const embedded = usesEmbeddedPicture ? cover?.squares.regular : undefined
    const picture = await writePicture(directory, job.picture, embedded, signal)
    return { tags: tagsToWrite(job.tags, source.tags), picture }
  })
  const request = { job, source, sniffed, labels, encodes: planned.encodes, directory, tools, signal, emit, nice }
  const encoded = await encodeAll(request, slotLimit, progress)
  failpoint('encoded')
  return finish(job, { source, sniffed, embedded: await embedding, planned, encoded }, context, progress)
}

async function encodeAll(
  request: EarlyRequest,
  slotLimit: SlotLimit,
  progress: ReturnType<typeof createProgress>,
): Promise<EncodeResult> {
  const { job, source, sniffed } = request
  // The early process starts first, because listeners wait for its file, and a copy does not need the labels.
  const early = startEarly(request)
  try {
    const fullRequest = {
      ...request,
      labels: await request.labels,
      pass: firstPass(job, sniffed),
      early,
      maxDuration: job.max_duration,
      slotLimit,
      onProgress: (fraction: number) => progress.encoded(fraction),
      onFallback: (reason: string) => progress.fallback(reason),
    }
    let encoded = await encode(fullRequest)
    if (isCutShort(encoded.pcm)) {
      fullRequest.source = { ...source, end: null }
      encoded = await encode(fullRequest)
    }
    const duration = encoded.pcm.frames / source.sampleRate
    return await recut(
      { ...fullRequest, pass: encoded.pass },
      encoded,
      plan(job.variants, { ...source, duration }).encodes,
    )
  } finally {
    // The early process is not needed after this point, whether the encode succeeded or failed.
    early?.abandon()
    await early?.finished
  }
}

type Decoded = {
  source: Source
  sniffed: Sniffed
  embedded: Awaited<ReturnType<typeof embeddedCover>>
  planned: Plan
  encoded: EncodeResult
}

async function finish(
  job: TranscodeJob,
  { source, sniffed, embedded, planned, encoded }: Decoded,
  { tools, directory, signal }: TranscodeContext,
  progress: ReturnType<typeof createProgress>,
): Promise<JobResult> {
  const duration = durationOf(source, encoded.pcm)
  const measuredLoudness = loudness(encoded.stderr, encoded.pcm)
  const measured = {
    source,
    size: job.source.size,
    pcm: encoded.pcm,
    loudness: measuredLoudness,
    pass: encoded.pass,
    tools,
    duration,
  }
  const { files, failed } = await audioFiles(job.variants, encoded, duration, { directory, tools, signal })
  rejectUnplayable(job, planned, files)
  files.push(
    ...(await dataFiles(job.variants, directory, duration, {
      waveform: () => waveform(encoded.pcm, source.sampleRate),
      analysis: () => analysis(measured),
    })),
  )
  const variants = await uploadAll(files, signal, (fraction) => progress.uploaded(fraction))
  failpoint('uploaded')
  const { cover, warnings } = await uploadEmbedded(job, embedded, signal)
  return {
    duration,
    levels: levels(encoded.pcm),
    info: sourceInfo(measured),
    warnings: [...decodeWarnings(source, sniffed, encoded), ...warnings],
    variants,
    skipped: planned.skipped,
    failed: [...encoded.failed, ...failed],
    cover,
    tags: source.tags,
  }
}

/** Uploads the picture inside the file as the cover of a track that has no cover. */
async function uploadEmbedded(job: TranscodeJob, { cover, warnings }: Decoded['embedded'], signal: AbortSignal) {
  if (!job.cover || !cover) return { cover: null, warnings: job.cover ? warnings : [] }
  return withWarning(signal, () => uploadCover(cover, job.cover!, signal))
}

// Returns the pass to start with. A WAV of unknown length always fails the strict pass, although it is not damaged, and a file with unknown
// magic bytes usually fails it.
function firstPass(job: TranscodeJob, sniffed: Sniffed) {
  return sniffed.streamed || sniffed.demuxer === null ? 'tolerant' : job.pass
}

// Allows some tolerance, because a header can state twice the real length. Four times the real length is an attack or a mistake.
function rejectTooLong(source: Source, maxDuration: number): void {
  if ((source.duration ?? 0) > maxDuration * 4) {
    throw new JobError('too_long', `The audio is longer than ${maxDuration} seconds.`)
  }
}

function rejectUnplayable(job: TranscodeJob, planned: Plan, files: OutputFile[]): void {
  const audio = new Set(job.variants.filter((variant) => variant.kind === 'audio').map((variant) => variant.index))
  if (!planned.encodes.some((encode) => audio.has(encode.index))) return
  if (files.some((file) => audio.has(file.variant.index))) return
  throw new JobError('decode_failed', 'No playable file could be made of this audio.')
}
