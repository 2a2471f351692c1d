import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { findTools } from '../../container/process/ffmpeg.ts'
import { readSettings } from '../../container/service/settings.ts'
import { databaseFile } from '../../scripts/start/service.ts'
import { call, type Created, prepareStack, send, type Stack } from '../stack.ts'
import { sourceFile } from '../transcode/source.ts'
import { onEnd, withCleanup } from '../worker/cleanup.ts'
import { createLibrary, readRows, type Sample } from './library.ts'

const HELP = `npm run bench -- growth [options]      Linux only

How many bytes of the database a track takes. One four-minute MP3 with tags is uploaded and transcoded on the stack of \`npm start\`; its rows
are copied into a database with the real migrations and triggers, and the pages of each table are counted (\`dbstat\`).

  --tracks 100000     copies, in 1,000 collections of 10 organizations
  --goal 3400         bytes that a track may take permanently; above, the bench fails
  --verbose           all that the stack prints`

const options = {
  tracks: { type: 'string', default: '100000' },
  goal: { type: 'string', default: '3400' },
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const MINUTES = 4
const TAGS = {
  title: 'Blue in Green',
  artist: 'Miles Davis',
  album: 'Kind of Blue',
  album_artist: 'Miles Davis',
  composer: 'Bill Evans',
  genre: 'Jazz',
  date: '1959',
  track: '3/5',
}
/** Maximum size of a D1 database in bytes (Cloudflare's documentation of D1, Limits). */
const MAX_DATABASE_BYTES = 10e9

export const growth = {
  about: 'bytes of the database per track, event, job and session',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({ args, options })
    if (values.help) return console.log(HELP)
    const [tracks, goal] = [Number(values.tracks), Number(values.goal)]
    if (!(tracks > 0 && goal > 0)) throw new Error('--tracks and --goal must be numbers above 0')
    await withCleanup(async () => {
      const directory = mkdtempSync(join(tmpdir(), 'tonearm-growth-'))
      onEnd(() => rmSync(directory, { recursive: true, force: true }))
      const sample = await processed(join(directory, 'state'), values.verbose)
      console.error(`copying ${tracks} tracks …`)
      const bytes = createLibrary(join(directory, 'library.sqlite'), sample, tracks)
      const permanent = bytes.row + bytes.indexes + bytes.search + bytes.counts
      const line = (name: string, value: number) =>
        `${name.padEnd(34)}${Math.round(value).toLocaleString('en').padStart(8)}`
      console.log(
        [
          line('bytes of a track: row', bytes.row),
          line('    of which payload', bytes.payload),
          line('  indexes', bytes.indexes),
          line('  search', bytes.search),
          line('  counts of lists', bytes.counts),
          line('a track permanently', permanent),
          line(`its ${sample.events.length} events, for 30 days`, bytes.events),
          line(`its ${sample.jobs.length} jobs, for 7 days`, bytes.jobs),
          line('a play session', bytes.sessions),
          `10 GB hold ${(MAX_DATABASE_BYTES / permanent / 1e6).toFixed(1)} million tracks; the goal is ${goal} bytes a track`,
        ].join('\n'),
      )
      if (permanent > goal) process.exitCode = 1
    })
  },
}

/** Uploads a file, waits until it is transcoded, and returns its rows. */
async function processed(state_dir: string, verbose: boolean): Promise<Sample> {
  const { ffmpeg } = await findTools(readSettings(process.env))
  const file = new Uint8Array(readFileSync(await taggedFile(ffmpeg)))
  const stack = await prepareStack(state_dir, (text) => verbose && process.stderr.write(text))
  onEnd(() => stack.stop())
  console.error('starting …')
  await stack.start()
  const { collection_id } = await must<{ collection_id: string }>(stack, '/collection', { title: TAGS.album })
  const created = await must<Created>(stack, '/track', { collection_id, file_name: '03 Blue in Green.mp3' })
  if (!(await send(created, file, 300))) throw new Error('the upload was rejected')
  const { track_id } = created
  await must(stack, `/track/${track_id}/upload_complete`, {})
  for (;;) {
    const { track } = await must<{ track: { status: string } }>(stack, `/track/${track_id}`)
    if (track.status === 'ready') break
    if (track.status !== 'processing') throw new Error(`the track is ${track.status}`)
    await sleep(500)
  }
  await must(stack, '/play_session/track', { track_id, expires_in: 3600 })
  await stack.stop()
  return readRows(databaseFile(state_dir)!, track_id)
}

async function must<T>(stack: Stack, path: string, body?: object): Promise<T> {
  const answer = await call<T>(stack, path, body)
  if (answer === null) throw new Error(`${path} was refused`)
  return answer
}

/** Returns the path of an MP3 file with tags. */
async function taggedFile(ffmpeg: string): Promise<string> {
  const source = await sourceFile(MINUTES, 'mp3', ffmpeg)
  const path = join(mkdtempSync(join(tmpdir(), 'tonearm-growth-')), 'tagged.mp3')
  onEnd(() => rmSync(join(path, '..'), { recursive: true, force: true }))
  const tags = Object.entries(TAGS).flatMap(([name, value]) => ['-metadata', `${name}=${value}`])
  execFileSync(ffmpeg, ['-v', 'error', '-i', source, '-c', 'copy', ...tags, path])
  return path
}
