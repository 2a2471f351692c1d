import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { watchParents } from '../../scripts/start/parent_watch.ts'
import { call, type Part, prepareStack, type Stack } from '../stack.ts'
import { runAction, ACTIONS, retryUntilDone, type ExpectedFile } from './clients.ts'
import { findFaults } from './judge.ts'

/**
 * `npm run chaos`: uploads, fetches, renews and replaces short files in a separate stack while its processes are killed. At the end, every track
 * must have exactly one complete file: the last one that a client sent to it. The Worker must not respond with a status above 499, except 503 with
 * `Retry-After`. The last line of the output is the result, and the exit code
 * is 1 if a check failed. All traffic stays on the loopback interface.
 */

const USAGE = `npm run chaos [-- OPTIONS]      Linux only
  --uploads 200      number of tracks
  --pace 3           seconds between uploads
  --every 15         seconds between kills
  --kills 1000       maximum number of kills
  --parts runtime,proxy,transcoder,ffmpeg,all
  --d1-faults 0      percentage of database calls that fail, half of them after their execution
  --seed 1           repeats the same kills
  --patience 300     seconds without progress before it gives up
  --limit 90         maximum p99 of a file's wait, in seconds
  --verbose          prints the output of the stack`

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
    'd1-faults': text('0'),
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

/** A pseudorandom generator (mulberry32): the same seed gives the same numbers. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Song {
  track_id: string
  action: string
  /** The file that the track should have at the end of the run. */
  winner: ExpectedFile
  /** Times in milliseconds: when the bucket accepted the file, and when a poll first found the track ready. 0 until then. */
  sent_at: number
  ready_at: number
  status: string
  duration: number
}

const say = (line: string) => console.log(`${((Date.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}`)
const startedAt = Date.now()

const actionNames = Object.keys(ACTIONS)

/** Tracks with an even number get one plain upload. The others cycle through the remaining actions. */
const actionOf = (at: number) => actionNames[at % 2 === 0 ? 0 : 1 + (((at - 1) / 2) % (actionNames.length - 1))]!

async function uploadOne(stack: Stack, collection_id: string, at: number, random: () => number): Promise<Song> {
  const action = actionOf(at)
  const { track_id, winner } = await runAction(stack, collection_id, action, at, random)
  return { track_id, winner, action, sent_at: Date.now(), ready_at: 0, status: '', duration: 0 }
}

/** Polls the songs that are not finished yet. Returns whether the status or duration of any of them changed. */
async function pollSongs(stack: Stack, songs: Song[]): Promise<boolean> {
  let hasChanged = false
  for (const song of songs.filter(({ ready_at }) => ready_at === 0)) {
    const answer = await call<{ track: { status: string; duration: number | null } }>(stack, `/track/${song.track_id}`)
    if (!answer) return hasChanged
    const { status, duration } = answer.track
    hasChanged ||= status !== song.status || duration !== song.duration
    Object.assign(song, { status, duration: duration ?? 0 })
    // A ready track may still have an older file, because the service has not noticed the last upload yet.
    if (status === 'failed' || (status === 'ready' && isSettled(song))) song.ready_at = Date.now()
  }
  return hasChanged
}

/** The number of responses of the Worker with each status. */
const statuses = new Map<string, number>()

/** Counts a response. A response without an id is from wrangler, while the Worker is down. */
function countStatus({ status, headers }: Response, body: string): void {
  const isFromWorker = body.includes('"api_request_id"')
  const name = isFromWorker
    ? `${status}${status > 499 && !headers.has('retry-after') ? ' without Retry-After' : ''}`
    : 'none'
  statuses.set(name, (statuses.get(name) ?? 0) + 1)
}

const isAllowed = (status: string) => status === '503' || status === 'none' || Number(status) < 500

const isSettled = ({ winner, duration }: Song) => Math.abs(winner.seconds - duration) < 0.06

async function killRepeatedly(
  stack: Stack,
  random: () => number,
  kills: Record<string, number>,
  isOver: () => boolean,
): Promise<void> {
  for (let done = 0; done < number('kills'); done++) {
    await sleep(number('every') * 1000)
    if (isOver()) return
    const part = parts[Math.floor(random() * parts.length)] ?? 'all'
    if (part === 'all') {
      await stack.killAll()
      say('killed all processes')
      // On a busy machine, the start of the stack may time out.
      for (let tries = 1; ; tries++) {
        const startError = await stack.start().catch((error: Error) => error)
        if (!startError) break
        if (tries === 3) throw startError
        say(`the start failed, retrying: ${startError.message.split('\n').find((line) => line.includes('✘')) ?? ''}`)
      }
      say('started again')
    } else if (stack.kill(part)) say(`killed the ${part}`)
    else continue
    kills[part] = (kills[part] ?? 0) + 1
  }
}

async function run(state_dir: string): Promise<boolean> {
  const stack = await prepareStack(state_dir, (text) => values.verbose && process.stdout.write(text))
  stack.onResponse = countStatus
  if (values['d1-faults'] !== '0') process.env.D1_FAULT_RATE = String(Number(values['d1-faults']) / 100)
  const stop = () => void stack.stop().finally(() => process.exit(130))
  process.once('SIGINT', stop)
  watchParents(stop)
  await stack.start()
  try {
    const collection = await retryUntilDone(() =>
      call<{ collection_id: string }>(stack, '/collection', { title: 'Chaos' }),
    )
    const random = createRandom(number('seed'))
    const songs: Song[] = []
    const kills: Record<string, number> = {}
    let isOver = false
    const killer = killRepeatedly(stack, createRandom(number('seed') + 1), kills, () => isOver)
    // At most four uploads run at a time, so that they do not pile up while the stack is down.
    let next = 0
    const client = async () => {
      for (let at = next++; at < number('uploads'); at = next++) {
        await sleep(Math.max(0, from + at * number('pace') * 1000 - Date.now()))
        songs.push(await uploadOne(stack, collection.collection_id, at, random))
      }
    }
    const from = Date.now()
    const uploading = Promise.all([client(), client(), client(), client()])
    let moved_at = Date.now()
    while (songs.length < number('uploads') || songs.some(({ ready_at }) => ready_at === 0)) {
      const before = songs.length
      if ((await pollSongs(stack, songs).catch(() => false)) || songs.length > before) moved_at = Date.now()
      if (Date.now() - moved_at > number('patience') * 1000) break
      await sleep(500)
    }
    isOver = true
    await Promise.race([uploading, sleep(10_000)])
    await killer
    await stack.stop()
    return report(state_dir, songs, kills)
  } finally {
    await stack.stop()
    process.off('SIGINT', stop)
  }
}

function report(state_dir: string, songs: Song[], kills: Record<string, number>): boolean {
  const ready = songs.filter(({ status }) => status === 'ready')
  const settled = ready.filter(isSettled)
  const waits = settled.map(({ sent_at, ready_at }) => (ready_at - sent_at) / 1000).toSorted((a, b) => a - b)
  const percentile = (part: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * part))] ?? Infinity
  const { stuck, orphans, missing, unknownTracks, wrong } = findFaults(
    state_dir,
    new Map(songs.map(({ track_id, winner }) => [track_id, winner])),
  )
  const lost = number('uploads') - ready.length
  for (const song of songs.filter((candidate) => candidate.status !== 'ready' || !isSettled(candidate)))
    console.log(`${song.track_id} (${song.action}): ${song.status}, ${song.duration} of ${song.winner.seconds} s`)
  const summarize = (values: string[]) =>
    [...new Set(values)]
      .map((value) => `${value} ${values.filter((candidate) => candidate === value).length}`)
      .join(', ')
  const killCounts = Object.entries(kills).map(([part, times]) => `${part} ${times}`)
  console.log(`\nactions: ${summarize(songs.map(({ action }) => action))}`)
  console.log(
    `kills: ${killCounts.join(', ') || 'none'}; waits of a track: p50 ${percentile(0.5).toFixed(1)} s, p90 ${percentile(0.9).toFixed(1)} s, longest ${percentile(1).toFixed(1)} s`,
  )
  const counts = [...statuses].toSorted(([a], [b]) => a.localeCompare(b))
  const forbidden = counts.filter(([status]) => !isAllowed(status))
  console.log(`responses: ${counts.map(([status, times]) => `${status} ${times}`).join(', ')}`)
  console.log(
    `${forbidden.length === 0 ? 'no' : 'SOME'} response above 499 other than 503 with Retry-After, at ${values['d1-faults']} % D1 faults`,
  )
  console.log(
    `${ready.length} of ${values.uploads} ready, ${lost} lost, ${stuck} stuck, ${orphans} orphans, ${missing} missing, ${unknownTracks} twice, ${wrong} under the wrong name, p99 ${percentile(0.99).toFixed(1)} s`,
  )
  const isComplete = lost + stuck + orphans + missing + unknownTracks + wrong === 0
  return isComplete && forbidden.length === 0 && percentile(0.99) <= number('limit')
}

const state_dir = mkdtempSync(join(tmpdir(), 'tonearm-chaos-'))
try {
  process.exitCode = (await run(state_dir)) ? 0 : 1
} finally {
  if (process.exitCode === 0) rmSync(state_dir, { recursive: true, force: true })
  else console.error(`The data is kept in ${state_dir}`)
}
process.exit()
