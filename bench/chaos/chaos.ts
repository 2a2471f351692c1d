import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { watchParents } from '../../scripts/parent.ts'
import { makeWav } from '../../scripts/sample.ts'
import { call, type Created, type Part, prepareStack, send, type Stack } from '../stack.ts'
import { judge } from './judge.ts'

/**
 * `npm run chaos`: uploads short files to a stack of its own while one of its processes after the other is killed, and looks at the end
 * whether all were done, rightly and once. Its last line says so; it fails when that is not true. Loopback only.
 */

const USAGE = `npm run chaos [-- OPTIONS]      Linux only
  --uploads 200      how many files
  --pace 3           seconds from one upload to the next
  --every 15         seconds from one kill to the next
  --kills 1000       at most so many
  --parts runtime,proxy,transcoder,ffmpeg,all
  --seed 1           the same kills again
  --patience 300     seconds without any progress after which it gives up
  --limit 90         the p99 of a file's wait, in seconds, that it still accepts
  --verbose          all that the stack prints`

const { values } = readArguments()
const number = (name: 'uploads' | 'pace' | 'every' | 'kills' | 'seed' | 'patience' | 'limit') => Number(values[name])
const parts = values.parts.split(',') as (Part | 'all')[]

function readArguments() {
  const text = (standard: string) => ({ type: 'string', default: standard }) as const
  const options = {
    uploads: text('200'),
    pace: text('3'),
    every: text('15'),
    kills: text('1000'),
    parts: text('runtime,proxy,transcoder,ffmpeg,all'),
    seed: text('1'),
    patience: text('300'),
    limit: text('90'),
    verbose: { type: 'boolean', default: false },
  } as const
  try {
    return parseArgs({ options })
  } catch {
    console.error(USAGE)
    process.exit(2)
  }
}

/** The same numbers for the same seed (mulberry32). */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Song {
  seconds: number
  track_id: string
  /** When the bucket had taken it, and when it was seen ready; milliseconds. */
  sent_at: number
  ready_at: number
  status: string
  duration: number
}

const say = (line: string) => console.log(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`)
const began = Date.now()

/** Repeats what fails while a part of the stack is away. */
async function persist<T>(attempt: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const result = await attempt().catch(() => null)
    if (result !== null) return result
    await sleep(500)
  }
}

async function uploadOne(stack: Stack, collection_id: string, at: number, roll: () => number): Promise<Song> {
  const seconds = 3 + Math.floor(roll() * 8)
  // A second of tone at so many times the rate; its header then tells the rate of the others, so that it lasts longer.
  const file = makeWav(16_000 * seconds)
  new DataView(file.buffer).setUint32(24, 16_000, true)
  new DataView(file.buffer).setUint32(28, 32_000, true)
  const body = { collection_id, file_name: `${at}.wav` }
  const create = () => call<Created>(stack, '/track', body, `chaos-${at}`)
  const created = await persist(create)
  await persist(async () => (await send(created, file)) || null)
  const { track_id } = created
  const song = { seconds, track_id, sent_at: Date.now(), ready_at: 0, status: '', duration: 0 }
  // Not repeated: the service notices by itself.
  await call(stack, `/track/${track_id}/upload_complete`, {}).catch(() => null)
  return song
}

/** Looks at the songs that are not settled; answers whether any moved. */
async function look(stack: Stack, songs: Song[]): Promise<boolean> {
  let moved = false
  for (const song of songs.filter(({ ready_at }) => ready_at === 0)) {
    const answer = await call<{ track: { status: string; duration: number | null } }>(stack, `/track/${song.track_id}`)
    if (!answer) return moved
    const { status, duration } = answer.track
    moved ||= status !== song.status
    Object.assign(song, { status, duration: duration ?? 0 })
    if (status === 'ready' || status === 'failed') song.ready_at = Date.now()
  }
  return moved
}

async function killForever(
  stack: Stack,
  roll: () => number,
  kills: Record<string, number>,
  isOver: () => boolean,
): Promise<void> {
  for (let done = 0; done < number('kills'); done++) {
    await sleep(number('every') * 1000)
    if (isOver()) return
    const part = parts[Math.floor(roll() * parts.length)] ?? 'all'
    if (part === 'all') {
      await stack.killAll()
      say('killed all')
      // A machine that is busy with other things may need longer than a start waits.
      for (let tries = 1; ; tries++) {
        const fault = await stack.start().catch((error: Error) => error)
        if (!fault) break
        if (tries === 3) throw fault
        say(`the start failed, once more: ${fault.message.split('\n').find((line) => line.includes('✘')) ?? ''}`)
      }
      say('started again')
    } else if (stack.kill(part)) say(`killed the ${part}`)
    else continue
    kills[part] = (kills[part] ?? 0) + 1
  }
}

async function run(state_dir: string): Promise<boolean> {
  const stack = await prepareStack(state_dir, (text) => values.verbose && process.stdout.write(text))
  const stop = () => void stack.stop().finally(() => process.exit(130))
  process.once('SIGINT', stop)
  watchParents(stop)
  await stack.start()
  try {
    const made = await persist(() => call<{ collection_id: string }>(stack, '/collection', { title: 'Chaos' }))
    const roll = dice(number('seed'))
    const songs: Song[] = []
    const kills: Record<string, number> = {}
    let isOver = false
    const killing = killForever(stack, dice(number('seed') + 1), kills, () => isOver)
    // Four clients: while the stack is away, work does not pile up.
    let next = 0
    const client = async () => {
      for (let at = next++; at < number('uploads'); at = next++) {
        await sleep(Math.max(0, from + at * number('pace') * 1000 - Date.now()))
        songs.push(await uploadOne(stack, made.collection_id, at, roll))
      }
    }
    const from = Date.now()
    const uploading = Promise.all([client(), client(), client(), client()])
    let moved_at = Date.now()
    while (songs.length < number('uploads') || songs.some(({ ready_at }) => ready_at === 0)) {
      const before = songs.length
      if ((await look(stack, songs).catch(() => false)) || songs.length > before) moved_at = Date.now()
      if (Date.now() - moved_at > number('patience') * 1000) break
      await sleep(500)
    }
    isOver = true
    await Promise.race([uploading, sleep(10_000)])
    await killing
    await stack.stop()
    return tell(state_dir, songs, kills)
  } finally {
    await stack.stop()
    process.off('SIGINT', stop)
  }
}

function tell(state_dir: string, songs: Song[], kills: Record<string, number>): boolean {
  const ready = songs.filter(({ status }) => status === 'ready')
  const wrong = ready.filter(({ seconds, duration }) => Math.abs(seconds - duration) > 0.06).length
  const waits = ready.map(({ sent_at, ready_at }) => (ready_at - sent_at) / 1000).toSorted((a, b) => a - b)
  const p = (part: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * part))] ?? Infinity
  const { stuck, orphans, missing, strangers } = judge(state_dir, new Set(songs.map(({ track_id }) => track_id)))
  const failed = songs.filter(({ status }) => status === 'failed').length
  const told = Object.entries(kills).map(([part, times]) => `${part} ${times}`)
  console.log(
    `\nkills: ${told.join(', ') || 'none'}; waits of a file: p50 ${p(0.5).toFixed(1)} s, p90 ${p(0.9).toFixed(1)} s, longest ${p(1).toFixed(1)} s`,
  )
  console.log(
    `${ready.length} of ${values.uploads} ready, ${failed} failed, ${stuck} stuck, ${orphans} orphans, ${missing} missing, ${strangers} twice, ${wrong} wrong durations, p99 ${p(0.99).toFixed(1)} s`,
  )
  return (
    ready.length === number('uploads') &&
    stuck + orphans + missing + strangers + wrong === 0 &&
    p(0.99) <= number('limit')
  )
}

const state_dir = mkdtempSync(join(tmpdir(), 'tonearm-chaos-'))
try {
  process.exitCode = (await run(state_dir)) ? 0 : 1
} finally {
  if (process.exitCode === 0) rmSync(state_dir, { recursive: true, force: true })
  else console.error(`The data are kept in ${state_dir}`)
}
process.exit()
