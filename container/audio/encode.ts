import type { MadeVariant } from '../../src/contract/job.ts'
import { JobError } from '../job_error.ts'
import type { Tools } from '../process/ffmpeg.ts'
import { type Exit, run } from '../process/run.ts'
import { blamedEncode, type Command, ffmpegArguments, type Measure, MEASURES, type Pass } from './command.ts'
import { deliveredChannels } from './downmix.ts'
import type { EarlyProcess } from './early.ts'
import { createPcmMeter, type PcmSummary } from './measure/levels.ts'
import type { Encode } from './plan.ts'
import type { SlotLimit } from './slot_limit.ts'

export type EncodeRequest = Omit<Command, 'measures'> & {
  directory: string
  tools: Tools
  signal: AbortSignal
  nice: number
  slotLimit: SlotLimit
  /** The process that produces one of the files in parallel. */
  early: EarlyProcess | null
  /** Receives the completed fraction of the pass, 0–1. */
  onProgress: (fraction: number) => void
  onFallback: (reason: string) => void
}

export type EncodeResult = {
  pass: Pass
  /** The reason why the strict pass failed; null if it did not fail. */
  fallback: string | null
  pcm: PcmSummary
  /** ffmpeg's stderr, which contains the loudness summary. */
  stderr: string
  made: Encode[]
  /** The file that is already uploaded. */
  uploaded: MadeVariant | null
  failed: { index: string; message: string }[]
}

/** Minimum duration in seconds from which every encoder produces a valid file. */
const MIN_SECONDS = 0.05

type Attempt = { exit: Exit; pcm: PcmSummary }

/**
 * Produces all files while decoding the source only once. The first attempt is strict and the second is tolerant. The last attempt runs
 * each encoder separately, so that one failing encoder does not affect the others.
 */
export async function encode(request: EncodeRequest): Promise<EncodeResult> {
  const failed: EncodeResult['failed'] = []
  const { early } = request
  let encodes = request.encodes.filter((candidate) => candidate !== early?.encode)
  let pass = request.pass
  let fallback: string | null = null
  for (;;) {
    const { exit, pcm } = await attempt({ ...request, pass, encodes, measures: MEASURES })
    if (exit.code === 0 && pcm.frames > 0) {
      refuseShort(pcm, request)
      const encoded = { pass, fallback, pcm, stderr: exit.stderr, made: encodes, uploaded: null, failed }
      return early?.encode && pass === 'strict' ? joinEarly({ ...request, pass }, encoded, early) : encoded
    }
    const blamed = exit.timedOut ? undefined : blamedEncode(exit.stderr, encodes)
    if (blamed) {
      failed.push({ index: blamed.index, message: `The ${blamed.codec} encoder failed.` })
      encodes = encodes.filter((candidate) => candidate !== blamed)
    } else if (pass === 'strict') {
      pass = 'tolerant'
      // The early file is discarded, because its source turned out to be damaged.
      early?.abandon()
      await early?.finished
      encodes = request.encodes.filter((candidate) => !failed.some(({ index }) => index === candidate.index))
      fallback = fallbackReason(exit)
      request.onFallback(fallback)
    } else {
      if (exit.timedOut) throw new JobError('timed_out', 'Decoding took longer than it may.', true)
      if (pcm.frames > 0) refuseShort(pcm, request)
      const separate = await encodeSeparately({ ...request, pass, encodes }, exit)
      return { ...separate, fallback, failed: [...failed, ...separate.failed] }
    }
  }
}

/** Adds the file of the early process to the result, or encodes it now if that process failed. */
async function joinEarly(
  request: EncodeRequest,
  encoded: EncodeResult,
  { encode: earlyEncode, finished }: EarlyProcess,
): Promise<EncodeResult> {
  if (!earlyEncode) return encoded
  const uploaded = await finished
  if (uploaded) return { ...encoded, made: [...encoded.made, earlyEncode], uploaded }
  return encodeAlone(request, encoded, earlyEncode)
}

/**
 * Encodes previews again if their position changes because of the real length, which is known only now: a header can state a wrong length
 * or none.
 */
export async function recut(request: EncodeRequest, encoded: EncodeResult, encodes: Encode[]): Promise<EncodeResult> {
  let { made, ...others } = encoded
  for (const planned of encodes.filter(({ cut }) => cut !== null)) {
    const previousCut = made.find(({ index }) => index === planned.index)?.cut
    if (!previousCut || !planned.cut) continue
    if (Math.abs(previousCut.start - planned.cut.start) + Math.abs(previousCut.length - planned.cut.length) < 0.01)
      continue
    made = made.filter(({ index }) => index !== planned.index)
    ;({ made, ...others } = await encodeAlone(request, { ...others, made }, planned))
  }
  return { ...others, made }
}

async function encodeAlone(request: EncodeRequest, encoded: EncodeResult, planned: Encode): Promise<EncodeResult> {
  const seconds = encoded.pcm.frames / request.source.sampleRate
  const attempted = await attempt({ ...request, encodes: [planned], measures: [], seconds })
  if (attempted.exit.code === 0) return { ...encoded, made: [...encoded.made, planned] }
  const failure = { index: planned.index, message: `The ${planned.codec} encoder failed.` }
  return { ...encoded, failed: [...encoded.failed, failure] }
}

async function encodeSeparately(request: EncodeRequest, previousExit: Exit): Promise<EncodeResult> {
  const { exit, pcm } = await attempt({ ...request, encodes: [], measures: MEASURES })
  if (exit.code === 0 && pcm.frames === 0)
    throw new JobError('no_samples', 'The file holds no audio: it ends after its header.')
  if (exit.code !== 0 || pcm.frames === 0) {
    if (exit.signal && previousExit.signal) throw new JobError('internal', 'The decoder crashed.', true)
    throw new JobError('decode_failed', 'The audio is damaged or not decodable.')
  }
  refuseShort(pcm, request)
  let encoded: EncodeResult = {
    pass: request.pass,
    fallback: null,
    pcm,
    stderr: exit.stderr,
    made: [],
    uploaded: null,
    failed: [],
  }
  for (const planned of request.encodes) encoded = await encodeAlone(request, encoded, planned)
  return encoded
}

/** Runs ffmpeg once. `seconds` is the length of the audio, which the timeout needs when nothing is measured. */
async function attempt(request: EncodeRequest & { measures: Measure[]; seconds?: number }): Promise<Attempt> {
  const { source, maxDuration, slotLimit, signal, tools } = request
  const meter = createPcmMeter(deliveredChannels(source), source.end ?? undefined)
  const expected = Math.min(source.estimatedDuration ?? 0, maxDuration)
  const onStdout = (chunk: Buffer) => {
    meter.add(chunk)
    const seconds = meter.frames() / source.sampleRate
    request.onProgress(expected > 0 ? Math.min(0.99, seconds / expected) : seconds / (seconds + 300))
    return seconds <= maxDuration && !slotLimit.isExceeded(seconds)
  }
  const exit = await run(tools.ffmpeg, ffmpegArguments(request), {
    cwd: request.directory,
    signal,
    nice: request.nice,
    onStdout,
    // The timeout increases with the length of the decoded audio. So a header that states too short a length causes no timeout, but a
    // decoder that makes no progress is stopped.
    timeoutSeconds: () => tools.timeoutSeconds ?? 120 + 2 * (request.seconds ?? meter.frames() / source.sampleRate),
  })
  signal.throwIfAborted()
  const pcm = meter.summary()
  const decoded = meter.frames() / source.sampleRate
  if (decoded > maxDuration) throw new JobError('too_long', `The audio is longer than ${maxDuration} seconds.`)
  slotLimit.check(decoded)
  if (exit.code !== 0 && DISK_FULL.test(exit.stderr)) throw new JobError('disk_full', 'The disk is full.', true)
  if (exit.code !== 0 && NO_DECODER.test(exit.stderr)) {
    if (source.codec === 'opus' && source.decoder) return attempt({ ...request, source: { ...source, decoder: null } })
    throw new JobError('unsupported_format', `Audio encoded as ${source.codec} cannot be decoded here.`)
  }
  return { exit, pcm }
}

// Indented lines do not match, because they contain the source's tags.
const DISK_FULL = /^\S.*(?:No space left on device|Disk quota exceeded)\.?$/m
// The wording differs between versions of ffmpeg.
const NO_DECODER = /^(?:\[.*\] )?(?:Unknown decoder '|Decoder \(codec |Decoding requested, but no decoder found for)/m

function refuseShort(pcm: PcmSummary, { source }: EncodeRequest): void {
  if (pcm.frames / source.sampleRate < MIN_SECONDS) throw new JobError('too_short', 'The audio is shorter than 50 ms.')
}

/** Reason for a fallback if the source itself is damaged. */
export const DAMAGED_SOURCE = 'The strict pass met damaged audio.'

function fallbackReason(exit: Exit): string {
  if (exit.timedOut) return 'The strict pass took too long.'
  if (exit.signal) return 'The strict pass crashed.'
  return DAMAGED_SOURCE
}
