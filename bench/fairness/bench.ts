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
import { atEnd, withEnding } from '../worker/ending.ts'

const HELP = `npm run bench -- fairness [options]      Linux only

How long a short file of one organization waits behind a backlog of another, beside how long it takes on an idle stack.

  --long 60      minutes of the one long file
  --middle 5     minutes of each of the others; below 2 MB they take the place of short ones
  --middles 20   how many of these
  --short 3      seconds of the short file
  --times 12     how often it is sent behind the backlog …
  --pause 12     … and seconds from one to the next
  --idle 7       how often it is sent before
  --format mp3   of all: ${sourceFormats.join(' or ')}
  --goal 3       times the idle time that it may take; it fails when the slowest takes longer
  --verbose      all that the stack prints`

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
  about: 'what a short file waits behind the long files of another organization',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    const format = sourceFormats.find((known) => known === values.format)
    if (!format) throw new Error(`--format must be ${sourceFormats.join(' or ')}`)
    const number = (name: Figure) => {
      const value = Number(values[name])
      if (value > 0) return value
      throw new Error(`--${name} must be a number above 0`)
    }
    const wanted = Object.fromEntries(figures.map((name) => [name, number(name)])) as Wanted
    await withEnding(() => measure(wanted, format, values.verbose))
  },
}

type Wanted = Record<Figure, number>

async function measure(wanted: Wanted, format: SourceFormat, verbose: boolean): Promise<void> {
  const { ffmpeg } = await findTools(readSettings(process.env))
  const file = async (minutes: number) => new Uint8Array(readFileSync(await sourceFile(minutes, format, ffmpeg)))
  const short = await file(wanted.short / 60)
  const [long, middle] = [await file(wanted.long), await file(wanted.middle)]

  const state_dir = mkdtempSync(join(tmpdir(), 'tonearm-fairness-'))
  atEnd(() => rmSync(state_dir, { recursive: true, force: true }))
  const stack = await prepareStack(state_dir, (said) => verbose && process.stderr.write(said))
  atEnd(() => stack.stop())
  console.error('starting …')
  await stack.start()
  const large = await aShop(stack, 'Large')
  const small = await aShop(stack, 'Small')

  // The first upload loads code and caches for the later ones.
  await timed(small, short)
  const idle: number[] = []
  for (let n = 0; n < wanted.idle; n++) {
    idle.push(await timed(small, short))
    // Waits until the previous job has fully ended, as between the later uploads, and until its caches have cooled down.
    await sleep(1000)
  }
  const usual = median(idle)
  console.log(`idle: ${idle.map(seconds).join(', ')}; median ${seconds(usual)}`)

  console.error(`uploading ${wanted.middles + 1} files …`)
  const backlog = [await upload(large, long)]
  for (let n = 0; n < wanted.middles; n++) backlog.push(await upload(large, middle))
  const othersShare = watchOthers(() => processesOf(state_dir).map(({ pid }) => pid))
  const waits: number[] = []
  for (let n = 0; n < wanted.times; n++) {
    const next = sleep(wanted.pause * 1000)
    const wait = await timed(small, short)
    const left = await unfinished(large, backlog)
    if (left === 0) throw new Error('The backlog has ended: make it larger, or the pause shorter')
    waits.push(wait)
    console.log(
      `behind ${String(left).padStart(2)} files: ${seconds(wait)}, ${(wait / usual).toFixed(1)} times its idle time`,
    )
    if (n < wanted.times - 1) await next
  }
  const share = (100 * othersShare()).toFixed(0)
  console.log(`\nwaits: median ${seconds(median(waits))}, longest ${seconds(Math.max(...waits))}`)
  console.log(`Other programs took ${share} % of the machine.`)
  const [mean, worst] = [median(waits) / usual, Math.max(...waits) / usual]
  console.log(
    `${wanted.short} s file behind ${wanted.long} min and ${wanted.middles} × ${wanted.middle} min: ${mean.toFixed(1)} times its idle time, at worst ${worst.toFixed(1)} (goal ${wanted.goal})`,
  )
  if (worst > wanted.goal) process.exitCode = 1
}

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(2)} s`

type Shop = Caller & { collection_id: string }

async function must<T>(answer: Promise<T | null>, what: string): Promise<T> {
  const found = await answer
  if (found === null) throw new Error(`${what} was refused`)
  return found
}

/** Creates an organization with a collection. */
async function aShop({ base_url, root_key }: Caller & { root_key: string }, name: string): Promise<Shop> {
  const root = { base_url, api_key: root_key }
  const { secret } = await must(call<{ secret: string }>(root, '/organization', { name }), 'the organization')
  const caller = { base_url, api_key: secret }
  const { collection_id } = await must(
    call<{ collection_id: string }>(caller, '/collection', { title: name }),
    'the collection',
  )
  return { ...caller, collection_id }
}

/** Uploads a file and returns its track id. */
async function upload(shop: Shop, file: Uint8Array<ArrayBuffer>): Promise<string> {
  const { collection_id } = shop
  const created = await must(call<Created>(shop, '/track', { collection_id, file_name: 'a song' }), 'the track')
  if (!(await send(created, file, 300))) throw new Error('the file was refused')
  await must(call(shop, `/track/${created.track_id}/upload_complete`, {}), 'the end of the upload')
  return created.track_id
}

const statusOf = async (shop: Shop, track_id: string) =>
  (await must(call<{ track: { status: string } }>(shop, `/track/${track_id}`), 'the status')).track.status

/** Milliseconds from the first byte sent until the track is ready. */
async function timed(shop: Shop, file: Uint8Array<ArrayBuffer>): Promise<number> {
  const began = performance.now()
  const track_id = await upload(shop, file)
  for (;;) {
    const status = await statusOf(shop, track_id)
    if (status === 'ready') return performance.now() - began
    if (status === 'failed') throw new Error('the short file failed')
    await sleep(100)
  }
}

async function unfinished(shop: Shop, track_ids: string[]): Promise<number> {
  const statuses = await Promise.all(track_ids.map((track_id) => statusOf(shop, track_id)))
  if (statuses.includes('failed')) throw new Error('a file of the backlog failed')
  return statuses.filter((status) => status !== 'ready').length
}
