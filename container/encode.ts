import { blamedEncode, type Command, ffmpegArguments, type Pass } from './command.ts'
import { Fault } from './fault.ts'
import type { Tools } from './ffmpeg.ts'
import { createPcmMeter, type PcmSummary } from './levels.ts'
import type { Encode } from './plan.ts'
import { type Exit, run } from './run.ts'

export type EncodeRequest = Omit<Command, 'measure'> & {
  directory: string
  tools: Tools
  signal: AbortSignal
  /** Told the fraction of the pass that is done, 0–1. */
  onProgress: (fraction: number) => void
  onFallback: (reason: string) => void
}

export type Encoded = {
  pass: Pass
  pcm: PcmSummary
  /** What ffmpeg printed, with the loudness summary in it. */
  stderr: string
  made: Encode[]
  failed: { index: string; message: string }[]
}

/** Shortest audio that every encoder makes a valid file of, in seconds. */
const SHORTEST = 0.05

type Attempt = { exit: Exit; pcm: PcmSummary }

/** Makes all files in one decode: strict first, then tolerant, then one by one, so that one bad encoder spoils nothing. */
export async function encode(request: EncodeRequest): Promise<Encoded> {
  const failed: Encoded['failed'] = []
  let encodes = request.encodes
  let pass = request.pass
  for (;;) {
    const { exit, pcm } = await attempt({ ...request, pass, encodes, measure: true })
    if (exit.code === 0 && pcm.frames > 0) {
      refuseShort(pcm, request)
      return { pass, pcm, stderr: exit.stderr, made: encodes, failed }
    }
    const blamed = exit.timedOut ? undefined : blamedEncode(exit.stderr, encodes)
    if (blamed) {
      failed.push({ index: blamed.index, message: `The ${blamed.codec} encoder failed.` })
      encodes = encodes.filter((candidate) => candidate !== blamed)
    } else if (pass === 'strict') {
      pass = 'tolerant'
      request.onFallback(whyFailed(exit))
    } else {
      if (exit.timedOut) throw new Fault('timed_out', 'Decoding took longer than it may.', true)
      if (pcm.frames > 0) refuseShort(pcm, request)
      const separate = await encodeSeparately({ ...request, pass, encodes }, exit)
      return { ...separate, failed: [...failed, ...separate.failed] }
    }
  }
}

async function encodeSeparately(request: EncodeRequest, before: Exit): Promise<Encoded> {
  const { exit, pcm } = await attempt({ ...request, encodes: [], measure: true })
  if (exit.code !== 0 || pcm.frames === 0) {
    if (exit.signal && before.signal) throw new Fault('internal', 'The decoder was killed.', true)
    throw new Fault('decode_failed', 'The audio is damaged or not decodable.')
  }
  refuseShort(pcm, request)
  const made: Encode[] = []
  const failed: Encoded['failed'] = []
  for (const one of request.encodes) {
    const alone = await attempt({ ...request, encodes: [one], measure: false })
    if (alone.exit.code === 0) made.push(one)
    else failed.push({ index: one.index, message: `The ${one.codec} encoder failed.` })
  }
  return { pass: request.pass, pcm, stderr: exit.stderr, made, failed }
}

async function attempt(request: EncodeRequest & { measure: boolean }): Promise<Attempt> {
  const { source, maxDuration, signal, tools } = request
  const meter = createPcmMeter(source.channels)
  const expected = Math.min(source.estimatedDuration ?? 0, maxDuration)
  const onStdout = (chunk: Buffer) => {
    meter.add(chunk)
    const seconds = meter.frames() / source.sampleRate
    request.onProgress(expected > 0 ? Math.min(0.99, seconds / expected) : seconds / (seconds + 300))
    return seconds <= maxDuration
  }
  const exit = await run(tools.ffmpeg, ffmpegArguments(request), {
    cwd: request.directory,
    signal,
    onStdout,
    timeoutSeconds: tools.timeoutSeconds ?? 120 + (expected || maxDuration),
  })
  signal.throwIfAborted()
  const pcm = meter.summary()
  if (pcm.frames / source.sampleRate > maxDuration) {
    throw new Fault('too_long', `The audio is longer than ${maxDuration} seconds.`)
  }
  if (exit.stderr.includes('No space left on device')) throw new Fault('disk_full', 'The disk is full.', true)
  return { exit, pcm }
}

function refuseShort(pcm: PcmSummary, { source }: EncodeRequest): void {
  if (pcm.frames / source.sampleRate < SHORTEST) throw new Fault('too_short', 'The audio is shorter than 50 ms.')
}

function whyFailed(exit: Exit): string {
  if (exit.timedOut) return 'The strict pass took too long.'
  if (exit.signal) return 'The strict pass crashed.'
  return 'The strict pass met damaged audio.'
}
