import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { findTools } from '../../container/process/ffmpeg.ts'
import { readSettings } from '../../container/service/settings.ts'
import { watchOthers } from '../process.ts'
import { call, type Caller, type Created, prepareStack, processesOf, send } from '../stack.ts'
import { median } from '../statistics.ts'
import { sourceFile, type SourceFormat, sourceFormats } from '../transcode/source.ts'
import { onEnd, withCleanup } from '../worker/cleanup.ts'

const HELP = `npm run bench -- fairness [options]      Linux only

Measures how long a short file of one organization waits behind another's backlog, compared with an idle stack.

  --long 60      minutes of the long file
  --middle 5     minutes of each medium file; below 2 MB they use the slots of short ones
  --middles 20   number of medium files
  --short 3      seconds of the short file
  --times 12     number of short files sent behind the backlog …
  --pause 12     … and seconds between them
  --idle 7       number of short files sent before the backlog
  --format mp3   format of all files: ${sourceFormats.join(' or ')}
  --goal 3       maximum ratio of the slowest wait to the idle time
  --verbose      prints the output of the stack`

const text = (standard: string) => ({ type: 'string', default: standard }) as const
const numbers = {
  long: text('60'),
  middle: text('5'),
  middles: text('20'),
  short: text('3'),
  times: text('12'),
  pause: text('12'),
  idle: text('7'),
  goal: text('3'),
} as const
type Figure = keyof typeof numbers
const figures = Object.keys(numbers) as Figure[]
const options = {
  ...numbers,
  format: text('mp3'),
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** Runs on the stack of `npm start` with a temporary data directory. */
export const fairness = {
  about: 'the wait of a short file behind the long files of another organization',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    const format = sourceFormats.find((candidate) => candidate === values.format)
    if (!format) throw new Error(`--format must be ${sourceFormats.join(' or ')}`)
    const number = (name: Figure) => {
      const value = Number(values[name])
      if (value > 0) return value
      throw new Error(`--${name} must be a number above 0`)
    }
    const settings = Object.fromEntries(figures.map((name) => [name, number(name)])) as Settings
    await withCleanup(() => measure(settings, format, values.verbose))
  },
}

type Settings = Record<Figure, number>

async function measure(settings: Settings, format: SourceFormat, verbose: boolean): Promise<void> {
  const { ffmpeg } = await findTools(readSettings(process.env))
  const file = async (minutes: number) => new Uint8Array(readFileSync(await sourceFile(minutes, format, ffmpeg)))
  const short = await file(settings.short / 60)
  const [long, middle] = [await file(settings.long), await file(settings.middle)]

  const state_dir = mkdtempSync(join(tmpdir(), 'tonearm-fairness-'))
  onEnd(() => rmSync(state_dir, { recursive: true, force: true }))
  const stack = await prepareStack(state_dir, (output) => verbose && process.stderr.write(output))
  onEnd(() => stack.stop())
  console.error('starting …')
  await stack.start()
  const large = await createTenant(stack, 'Large')
  const small = await createTenant(stack, 'Small')

  // The first upload is not measured, because it also loads code and fills caches.
  await timeUpload(small, short)
  const idle: number[] = []
  for (let n = 0; n < settings.idle; n++) {
    idle.push(await timeUpload(small, short))
    // Waits until the job has ended completely and its caches have expired, so that every upload starts from the same state.
    await sleep(1000)
  }
  const idleMedian = median(idle)
  console.log(`idle: ${idle.map(seconds).join(', ')}; median ${seconds(idleMedian)}`)

  console.error(`uploading ${settings.middles + 1} files …`)
  const backlog = [await upload(large, long)]
  for (let n = 0; n < settings.middles; n++) backlog.push(await upload(large, middle))
  const othersShare = watchOthers(() => processesOf(state_dir).map(({ pid }) => pid))
  const waits: number[] = []
  for (let n = 0; n < settings.times; n++) {
    const next = sleep(settings.pause * 1000)
    const wait = await timeUpload(small, short)
    const unfinishedCount = await unfinished(large, backlog)
    if (unfinishedCount === 0) throw new Error('The backlog has ended: increase it, or shorten the pause')
    waits.push(wait)
    console.log(
      `behind ${String(unfinishedCount).padStart(2)} files: ${seconds(wait)}, ${(wait / idleMedian).toFixed(1)} times its idle time`,
    )
    if (n < settings.times - 1) await next
  }
  const share = (100 * othersShare()).toFixed(0)
  console.log(`\nwaits: median ${seconds(median(waits))}, longest ${seconds(Math.max(...waits))}`)
  console.log(`Other programs took ${share} % of the machine.`)
  const [medianRatio, worstRatio] = [median(waits) / idleMedian, Math.max(...waits) / idleMedian]
  console.log(
    `${settings.short} s file behind ${settings.long} min and ${settings.middles} × ${settings.middle} min: ${medianRatio.toFixed(1)} times its idle time, at worst ${worstRatio.toFixed(1)} (goal ${settings.goal})`,
  )
  if (worstRatio > settings.goal) process.exitCode = 1
}

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(2)} s`

type Tenant = Caller & { collection_id: string }

async function requireSuccess<T>(answer: Promise<T | null>, what: string): Promise<T> {
  const result = await answer
  if (result === null) throw new Error(`${what} was refused`)
  return result
}

/** Creates an organization with a collection. */
async function createTenant({ base_url, root_key }: Caller & { root_key: string }, name: string): Promise<Tenant> {
  const root = { base_url, api_key: root_key }
  const { secret } = await requireSuccess(call<{ secret: string }>(root, '/organization', { name }), 'the organization')
  const caller = { base_url, api_key: secret }
  const { collection_id } = await requireSuccess(
    call<{ collection_id: string }>(caller, '/collection', { title: name }),
    'the collection',
  )
  return { ...caller, collection_id }
}

/** Uploads a file and returns its track id. */
async function upload(tenant: Tenant, file: Uint8Array<ArrayBuffer>): Promise<string> {
  const { collection_id } = tenant
  const created = await requireSuccess(
    call<Created>(tenant, '/track', { collection_id, file_name: 'a song' }),
    'the track',
  )
  if (!(await send(created, file, 300))) throw new Error('the file was refused')
  await requireSuccess(call(tenant, `/track/${created.track_id}/upload_complete`, {}), 'the end of the upload')
  return created.track_id
}

const statusOf = async (tenant: Tenant, track_id: string) =>
  (await requireSuccess(call<{ track: { status: string } }>(tenant, `/track/${track_id}`), 'the status')).track.status

/** Uploads a file. Returns the milliseconds from the first byte sent until the track is ready. */
async function timeUpload(tenant: Tenant, file: Uint8Array<ArrayBuffer>): Promise<number> {
  const startedAt = performance.now()
  const track_id = await upload(tenant, file)
  for (;;) {
    const status = await statusOf(tenant, track_id)
    if (status === 'ready') return performance.now() - startedAt
    if (status === 'failed') throw new Error('the short file failed')
    await sleep(100)
  }
}

async function unfinished(tenant: Tenant, track_ids: string[]): Promise<number> {
  const statuses = await Promise.all(track_ids.map((track_id) => statusOf(tenant, track_id)))
  if (statuses.includes('failed')) throw new Error('a file of the backlog failed')
  return statuses.filter((status) => status !== 'ready').length
}
