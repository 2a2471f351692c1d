import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

import { findTools } from '../../container/process/ffmpeg.ts'
import { readSettings } from '../../container/service/settings.ts'
import { newJob } from './job.ts'
import { table } from './report.ts'
import { type Round, summarize } from './result.ts'
import { runSequence } from './sequence.ts'
import { runService } from './service.ts'
import { sourceFile, type SourceFormat, sourceFormats } from './source.ts'
import { startStorage, type Storage } from './storage.ts'

const HELP = `npm run bench -- transcode [options]

  --minutes 1,10,60   durations of the source
  --source flac       format of the source: ${sourceFormats.join(' or ')}
  --rounds N          rounds per duration; each runs the service and the sequence once. The default is 15 up to 2 minutes, 5
                      up to 20, then 3, because short runs vary more
  --json              all figures as JSON

FFMPEG_PATH and FFPROBE_PATH name the binaries, as for the service. A minute of audio takes about 8 s per round on
two cores, so all durations take half an hour. Other running programs distort the ratios.`

const options = {
  minutes: { type: 'string', default: '1,10,60' },
  source: { type: 'string', default: 'flac' },
  rounds: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** Compares the transcoder with a sequence of one ffmpeg process per variant, and with the theoretical limit of the machine. */
export const transcode = {
  about: 'the transcoder compared with one ffmpeg process per variant, and with the limit of the machine',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    const minutes = values.minutes.split(',').map((text) => positive(text, 'minutes'))
    const fixedRounds = values.rounds === undefined ? null : positive(values.rounds, 'rounds')
    const source = sourceFormats.find((format) => format === values.source)
    if (!source) throw new Error(`--source must be ${sourceFormats.join(' or ')}`)
    const tools = await findTools(readSettings(process.env))
    const signal = abortedByCtrlC()

    const results = []
    for (const duration of minutes) {
      const rounds = fixedRounds ?? defaultRounds(duration)
      const measured = await measure({ minutes: duration, rounds, source }, signal)
      results.push(summarize(duration, measured, availableParallelism()))
    }
    const setting = { ffmpeg: tools.version, node: process.version, cores: availableParallelism(), source }
    console.log(values.json ? JSON.stringify({ ...setting, results }, null, 2) : table(setting, results))
  },
}

type Measurement = { minutes: number; rounds: number; source: SourceFormat }

async function measure({ minutes, rounds, source }: Measurement, signal: AbortSignal): Promise<Round[]> {
  const { FIXTURE_FFMPEG_PATH, FFMPEG_PATH } = process.env
  const maker = await findTools({ ffmpegPath: FIXTURE_FFMPEG_PATH || FFMPEG_PATH || undefined })
  const storage = await startStorage(await sourceFile(minutes, source, maker.ffmpeg))
  try {
    const results: Round[] = []
    for (let round = 0; round < rounds; round++) {
      // The order alternates, so that a machine that becomes slower affects both contestants equally.
      results.push(await runRound(storage, round % 2 === 0, signal))
      console.error(`${minutes} min, round ${round + 1} of ${rounds}: ${describe(results[round]!)}`)
    }
    return results
  } finally {
    storage.close()
  }
}

async function runRound(storage: Storage, serviceFirst: boolean, signal: AbortSignal): Promise<Round> {
  const jobs = { service: newJob(storage), sequence: newJob(storage) }
  const firstRun = serviceFirst ? await runService(jobs.service, signal) : null
  const sequence = await runSequence(jobs.sequence, signal)
  const service = firstRun ?? (await runService(jobs.service, signal))
  const sizes = storage.uploaded(jobs.service.job_id)
  requireSame(sizes, storage.uploaded(jobs.sequence.job_id))
  return { service, sequence: sequence.run, costs: sequence.costs, sizes }
}

// Throws if the outputs of the two contestants differ in size: one of them did less work. Small differences are allowed, because some
// headers contain random or optional bytes.
function requireSame(sizes: Record<string, number>, others: Record<string, number>): void {
  for (const index of new Set([...Object.keys(sizes), ...Object.keys(others)])) {
    const [size = 0, other = 0] = [sizes[index], others[index]]
    const same = index === 'analysis' ? size > 0 && other > 0 : Math.abs(size - other) <= 64 + other / 1000
    if (!same) throw new Error(`${index} has ${size} bytes from the service and ${other} from the sequence`)
  }
}

function describe({ service, sequence }: Round): string {
  return `service ${service.wall.toFixed(2)} s, sequence ${sequence.wall.toFixed(2)} s`
}

function defaultRounds(minutes: number): number {
  if (minutes <= 2) return 15
  return minutes <= 20 ? 5 : 3
}

function positive(text: string, name: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} must be a positive number`)
  return value
}

// On Ctrl-C, the signal lets the children exit first, so that their directories can be removed.
function abortedByCtrlC(): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => controller.abort(new Error('interrupted')))
  return controller.signal
}
