import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { findTools } from '../../container/process/ffmpeg.ts'
import { readSettings } from '../../container/service/settings.ts'
import { otherCheckout } from '../checkout.ts'
import { watchOthers } from '../process.ts'
import { call, type Created, prepareStack, processesOf, send, type Stack } from '../stack.ts'
import { median } from '../statistics.ts'
import { sourceFile, sourceFormats } from '../transcode/source.ts'
import { onEnd, withCleanup } from '../worker/cleanup.ts'

const HELP = `npm run bench -- early [options]      Linux only

Measures how long after the end of its upload a song can be played, and how long until it is ready. Fails if an MP3 cannot be played
within the goal.

  --minutes 4    length of the song
  --rounds 5     uploads of each format
  --goal 1       maximum seconds until an MP3 can be played
  --against DIR  measures another checkout, after its \`npm ci\`, in the same rounds
  --verbose      prints the output of the stacks`

const options = {
  minutes: { type: 'string', default: '4' },
  rounds: { type: 'string', default: '5' },
  goal: { type: 'string', default: '1' },
  against: { type: 'string' },
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** Runs on the stack of `npm start` with a temporary data directory. */
export const early = {
  about: 'the time from the end of an upload until a song can be played, and until it is ready',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    const [minutes, rounds, goal] = [Number(values.minutes), Number(values.rounds), Number(values.goal)]
    if (!(minutes > 0 && rounds > 0 && goal > 0)) throw new Error('The options are numbers above 0')
    const against = otherCheckout(values.against)
    await withCleanup(async () => {
      const stacks = [await startStack('this checkout', values.verbose)]
      if (against !== undefined) stacks.push(await startStack('the other', values.verbose, against))
      await measure(stacks, { minutes, rounds, goal })
    })
  },
}

type Measured = Stack & { name: string; state_dir: string; collection_id: string }

async function startStack(name: string, verbose: boolean, directory?: string): Promise<Measured> {
  const state_dir = mkdtempSync(join(tmpdir(), 'tonearm-early-'))
  onEnd(() => rmSync(state_dir, { recursive: true, force: true }))
  const stack = await prepareStack(state_dir, (output) => verbose && process.stderr.write(output), directory)
  onEnd(() => stack.stop())
  console.error(`starting ${name} …`)
  await stack.start()
  const created = await call<{ collection_id: string }>(stack, '/collection', { title: 'Songs' })
  if (!created) throw new Error('the collection was refused')
  return Object.assign(stack, { name, state_dir, collection_id: created.collection_id })
}

/** Milliseconds from the end of an upload. */
interface Times {
  playable: number
  ready: number
}

async function measure(
  stacks: Measured[],
  { minutes, rounds, goal }: { minutes: number; rounds: number; goal: number },
) {
  const { ffmpeg } = await findTools(readSettings(process.env))
  const othersShare = watchOthers(() => stacks.flatMap(({ state_dir }) => processesOf(state_dir).map(({ pid }) => pid)))
  for (const format of sourceFormats) {
    const file = new Uint8Array(readFileSync(await sourceFile(minutes, format, ffmpeg)))
    const times = new Map<Measured, Times[]>(stacks.map((stack) => [stack, []]))
    // The first upload is not measured, because it also loads code.
    for (const stack of stacks) await timeUpload(stack, file)
    for (let round = 0; round < rounds; round++)
      for (const stack of round % 2 === 0 ? stacks : stacks.toReversed())
        times.get(stack)!.push(await timeUpload(stack, file))
    for (const [stack, measured] of times) {
      const playable = measured.map((time) => time.playable)
      console.log(
        `${format}, ${minutes} min, ${stack.name}: playable after ${summary(playable)}, ready after ${summary(measured.map((time) => time.ready))}`,
      )
      if (stack === stacks[0] && format === 'mp3' && median(playable) > goal * 1000) process.exitCode = 1
    }
  }
  console.log(`Other programs took ${(100 * othersShare()).toFixed(0)} % of the machine.`)
}

const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(2)
const summary = (values: number[]) =>
  `${seconds(median(values))} s (${seconds(Math.min(...values))}–${seconds(Math.max(...values))})`

/** Uploads a song. Both times start when the upload has ended. */
async function timeUpload(stack: Measured, file: Uint8Array<ArrayBuffer>): Promise<Times> {
  const { collection_id } = stack
  const created = await call<Created>(stack, '/track', { collection_id, file_name: 'a song' })
  const track_id = created?.track_id ?? ''
  const session = await call<{ play_session_id: string }>(stack, '/play_session/track', { track_id, expires_in: 3600 })
  if (!created || !session || !(await send(created, file, 300))) throw new Error('the song was refused')
  const startedAt = performance.now()
  await call(stack, `/track/${track_id}/upload_complete`, {})
  const after = () => performance.now() - startedAt
  while (!(await call(stack, `/play/${session.play_session_id}/${track_id}`))) await sleep(20)
  const playable = after()
  for (;;) {
    const answer = await call<{ track: { status: string } }>(stack, `/track/${track_id}`)
    if (answer?.track.status === 'ready') return { playable, ready: after() }
    if (answer?.track.status === 'failed') throw new Error('the song failed')
    await sleep(100)
  }
}
