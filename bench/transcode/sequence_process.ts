import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { ffmpegArguments, type Measure, SOURCE_FILE } from '../../container/audio/command.ts'
import { createPcmMeter, levels } from '../../container/audio/measure/levels.ts'
import { loudness } from '../../container/audio/measure/loudness.ts'
import { waveform } from '../../container/audio/measure/waveform.ts'
import { plan } from '../../container/audio/plan.ts'
import { inputFlags } from '../../container/audio/source/input.ts'
import { probe } from '../../container/audio/source/probe.ts'
import { sniffFile } from '../../container/audio/source/sniff.ts'
import { findTools } from '../../container/process/ffmpeg.ts'
import { killAll, run } from '../../container/process/run.ts'
import { readSettings } from '../../container/service/settings.ts'
import { download } from '../../container/transfer/download.ts'
import { uploadFile } from '../../container/transfer/upload.ts'
import type { TranscodeJob } from '../../src/contract/job.ts'
import { cpuSeconds } from '../process.ts'
import type { Costs } from './sequence.ts'

/**
 * The simplest implementation: it runs one ffmpeg process per variant, in sequence. Flags, download and upload are those of the service, so
 * that only the order of work differs. Writes `ready`, reads one job, runs it, and writes `done` and then the cost of each process.
 */

const TIMEOUT = 24 * 3600
const { signal } = new AbortController()
const settings = readSettings(process.env)
const tools = await findTools(settings)
const directory = settings.workDir

process.on('exit', killAll)
process.on('SIGINT', () => process.exit(130))
const input = createInterface({ input: process.stdin })
// The standard input is closed when the parent process has exited.
input.on('close', () => process.exit(1))
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

say({ ready: true })
input.once('line', (line) => void work(JSON.parse(line)))

async function work(job: TranscodeJob): Promise<void> {
  const path = join(directory, SOURCE_FILE)
  await download(job.source, path, { signal })
  const sniffed = await sniffFile(path)
  const source = await probe(path, sniffed, tools, signal)
  const command = { tools, pass: job.pass, source, sniffed, maxDuration: job.max_duration, labels: null }
  const costs: Costs = { variants: {}, decoding: 0 }

  const files: Record<string, string> = {}
  for (const encode of plan(job.variants, source).encodes) {
    const args = ffmpegArguments({ ...command, encodes: [encode], measures: [] })
    costs.variants[encode.index] = await costOf(() => ffmpeg(args))
    files[encode.index] = encode.file
  }
  // Each of the two measurements runs in a separate ffmpeg process.
  const meter = createPcmMeter(source.channels)
  const measure = (kind: Measure) =>
    ffmpeg(ffmpegArguments({ ...command, encodes: [], measures: [kind] }), (chunk) => meter.add(chunk))
  costs.variants.waveform = await costOf(async () => {
    await measure('pcm')
    const json = JSON.stringify(waveform(meter.summary(), source.sampleRate))
    await writeFile(join(directory, 'waveform'), json)
  })
  costs.variants.analysis = await costOf(async () => {
    const stderr = await measure('loudness')
    const pcm = meter.summary()
    const json = JSON.stringify({ ...loudness(stderr, pcm), levels: levels(pcm) })
    await writeFile(join(directory, 'analysis'), json)
  })
  await Promise.all(
    job.variants.map(async ({ index, url, content_type }) => {
      const file = join(directory, files[index] ?? index)
      // Some variants do not exist, because the source does not allow them (FLAC from a lossy source).
      if (await stat(file).catch(() => null)) await uploadFile(file, url, content_type, signal)
    }),
  )
  say({ done: true })

  const decodeOnly = ['-map', `0:${source.stream}`, '-f', 'null', '-']
  const flags = ['-hide_banner', '-nostdin', '-nostats', ...inputFlags(sniffed), '-i', `file:${SOURCE_FILE}`]
  costs.decoding = await costOf(() => ffmpeg([...flags, ...decodeOnly]))
  say(costs)
}

async function ffmpeg(args: string[], onPcm: (chunk: Buffer) => void = () => undefined): Promise<string> {
  const onStdout = (chunk: Buffer) => {
    onPcm(chunk)
    return true
  }
  const exit = await run(tools.ffmpeg, args, { cwd: directory, signal, timeoutSeconds: TIMEOUT, onStdout })
  if (exit.code !== 0) throw new Error(`ffmpeg ended with ${exit.code}: ${exit.stderr.slice(-1000)}`)
  return exit.stderr
}

async function costOf(work: () => Promise<unknown>): Promise<number> {
  const before = cpuSeconds(process.pid)
  await work()
  return cpuSeconds(process.pid) - before
}
