import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect as connectTo } from 'node:net'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest'

import { readSettings } from '../../scripts/shared/settings.ts'
import { databaseFile } from '../../scripts/start/service.ts'
import { type Client, createClient } from '../../src/client/index.ts'
import { childrenOf, ENCODER } from '../container/processes.ts'
import { makeAudio } from '../support/audio.ts'
import { processesOf, run, startStack, type Stack } from '../support/stack.ts'
import { noiseWav } from '../support/wav.ts'
import { aTrack } from './early_sources.ts'
import { startOther } from './shared_stack.ts'
import { must, TIMEOUT, play, settle, upload } from './steps.ts'

/**
 * Recovery after processes have died, which leaves no files or processes behind, and starts that are refused. Each test continues in the state that the
 * previous one left, because the start of a stack takes five seconds of CPU time.
 */

let stack: Stack
let client: Client
let audio: Buffer
let collection_id: string
const done: string[] = []

const ask = <T>(state_dir: string, run: (database: DatabaseSync) => T): T => {
  using database = new DatabaseSync(databaseFile(state_dir)!)
  return run(database)
}
const forgetTriggers = (state_dir: string) =>
  ask(state_dir, (database) =>
    database.exec(`delete from d1_migrations where name like '0001%'; drop trigger trash_count_insert`),
  )
const hasTriggers = (state_dir: string) =>
  ask(state_dir, (database) =>
    [`d1_migrations where name like '0001%'`, `sqlite_master where name = 'trash_count_insert'`].map(
      (rows) => database.prepare(`select count(*) as count from ${rows}`).get()!.count,
    ),
  )

const connect = () => createClient({ base_url: stack.base_url, api_key: stack.api_key })

beforeAll(async () => {
  stack = await startOther({ settings: { DEMO_TRACK: '1' } })
  client = connect()
  collection_id = (await must(client.post('/v1/collection', { body: { title: 'Restart' } }))).collection_id
  audio = await makeAudio('flac', { seconds: 20 })
})
afterAll(() => stack?.dispose())

const statusOf = async (track_id: string) =>
  (await must(client.get('/v1/track/{track_id}', { params: { track_id } }))).track.status

/** Returns the ids of the processes that encode now. */
const encoders = () => childrenOf(stack.transcoder(), ENCODER)
const OFTEN = { ...TIMEOUT, interval: 20 }

/** Uploads a track and waits until it is encoded. */
async function uploadUntilEncoding(file_name: string): Promise<string> {
  const { track_id } = await upload(client, collection_id, file_name, audio)
  await vi.waitFor(async () => expect(await encoders()).not.toEqual([]), OFTEN)
  return track_id
}

const listTitles = async () => (await must(client.get('/v1/collection'))).collections.map(({ title }) => title)

test('the first start makes a demo track, and prints the address of a page that plays it', async () => {
  const address = / {2}Listen {8}(\S+)/.exec(stack.output())![1]!
  expect(await (await fetch(address)).text()).toContain('<h1>Low Tide</h1>')
  const { tracks } = await must(client.get('/v1/track', { query: { q: 'low tide' } }))
  expect(tracks).toMatchObject([{ status: 'ready', duration: 10 }])
  // It does not come back with the next start.
  const params = { collection_id: tracks[0]!.collection_id }
  await must(client.delete('/v1/collection/{collection_id}', { params }))
})

test('a transcoder killed mid-job restarts and finishes the job', async () => {
  const track_id = await uploadUntilEncoding('one.flac')
  const before = stack.transcoder()
  process.kill(before, 'SIGKILL')
  expect(await statusOf(track_id)).toBe('processing')
  expect(await settle(client, track_id)).toMatchObject({ status: 'ready' })
  expect(stack.transcoder()).not.toBe(before)
  done.push(track_id)
})

test('a transcoder killed while it fetches a source_url fetches it again', async () => {
  let requests = 0
  const server = createServer((request, response) => {
    if (request.url === '/inside') return response.writeHead(302, { location: `${stack.base_url}/health` }).end()
    response.writeHead(200, { 'content-length': audio.length })
    // The first request gets half of the file, and its connection stays open.
    return requests++ === 0 ? response.write(audio.subarray(0, audio.length / 2)) : response.end(audio)
  })
  onTestFinished(() => server.closeAllConnections())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const create = (source_url: string) =>
    client.post('/v1/track', { body: { collection_id, file_name: 'one.flac', source_url } })

  const { track_id } = await must(create(`${url}/one.flac`))
  await vi.waitFor(() => expect(requests).toBe(1), OFTEN)
  expect(await statusOf(track_id)).toBe('initializing')
  process.kill(stack.transcoder(), 'SIGKILL')
  const track = await settle(client, track_id)
  expect(track).toMatchObject({ status: 'ready', file_name: 'one.flac', info: { size: audio.length } })
  expect(requests).toBe(2)
  done.push(track_id)

  // Neither directly nor by a redirect, the service is asked for its own addresses.
  for (const port of Object.values(stack.ports))
    expect(await create(`http://127.0.0.1:${port}/`)).toMatchObject({ ok: false, code: 'invalid_request' })
  const inside = await must(create(`${url}/inside`))
  expect(await settle(client, inside.track_id)).toMatchObject({
    status: 'failed',
    info: { error: { code: 'source_refused' } },
  })
  await must(client.delete('/v1/track/{track_id}', { params: { track_id: inside.track_id } }))
})

test('after all processes were killed mid-job, the next start applies migrations, finishes the job and keeps the other tracks', async () => {
  const track_id = await uploadUntilEncoding('two.flac')
  await stack.killAll()
  await vi.waitFor(async () => expect(await processesOf(stack.state_dir)).toEqual([]), TIMEOUT)

  // Restores the database to the state in which the previous version leaves it.
  forgetTriggers(stack.state_dir)
  const { api_key, organization_id } = stack
  stack = await startStack({ state_dir: stack.state_dir, settings: { DEMO_TRACK: '1' } })
  expect(stack).toMatchObject({ api_key, organization_id })
  expect(hasTriggers(stack.state_dir)).toEqual([1, 1])
  client = connect()
  expect([stack.output().includes('  Listen  '), await listTitles()]).toEqual([false, ['Restart']])
  expect(await settle(client, track_id)).toMatchObject({ status: 'ready' })
  done.push(track_id)

  const { tracks } = await must(client.get('/v1/collection/{collection_id}/track', { params: { collection_id } }))
  expect(tracks.map(({ id }) => id).toSorted()).toEqual(done.toSorted())
  for (const id of done) {
    const { view } = await play(client, client, id)
    expect((await fetch(view.variants[0]?.url ?? '')).status).toBe(200)
  }
})

test('a text file behind long files on every slot is rejected without waiting, and deleting the collection ends their jobs', async () => {
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Long' } }))
  // Each slot gets files in its range of sizes (docs/decisions/0079). There are more files than slots, so some files wait.
  const rates = [44_100, 4000, 4000, 4000, 1000, 1000, 1000]
  // A process that is stopped keeps its slot, however fast the machine is.
  const pauseEncoders = async () => {
    for (const pid of await encoders()) process.kill(pid, 'SIGSTOP')
  }
  const pausing = setInterval(() => void pauseEncoders().catch(() => undefined), 20)
  onTestFinished(() => clearInterval(pausing))
  for (const rate of rates) await upload(client, collection_id, 'long.wav', noiseWav(rate, 9.5 * 60))
  const headers = { authorization: `Bearer ${readSettings().secrets.TRANSCODER_SECRET}` }
  const expectFullSlots = async () => {
    const response = await fetch(`http://127.0.0.1:${stack.ports.TRANSCODER_PORT}/health`, { headers })
    expect(await response.json()).toMatchObject({ slots: [0, 1, 2].map(() => ({ is_free: false })) })
  }
  await vi.waitFor(expectFullSlots, OFTEN)

  const text = await upload(client, collection_id, 'diary.mp3', Buffer.from('Dear diary, '.repeat(200)))
  expect(await settle(client, text.track_id)).toMatchObject({
    status: 'failed',
    info: { error: { code: 'text_file' } },
  })
  const params = { collection_id }
  const { tracks } = await must(client.get('/v1/collection/{collection_id}/track', { params }))
  expect(tracks.map(({ status }) => status)).toEqual([...rates.map(() => 'processing'), 'failed'])

  await must(client.delete('/v1/collection/{collection_id}', { params }))
  expect(await childrenOf(stack.transcoder(), /filter_complex/)).toEqual([])
})

test('an aborted cover upload is not logged as an error', async () => {
  const params = { collection_id }
  const { collection_cover_upload } = await must(client.post('/v1/collection/{collection_id}/cover', { params }))
  const { hostname, port, pathname } = new URL(collection_cover_upload.upload_url)
  const socket = connectTo(Number(port), hostname)
  socket.write(`POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-length: 100000\r\n\r\n`)
  // After this write, the handler has the first bytes and waits for the rest.
  await new Promise((resolve) => socket.write('\x89PNG', resolve))
  await must(client.get('/v1/collection/{collection_id}', { params }))
  const before = stack.output().length
  socket.destroy()
  await vi.waitFor(() => expect(stack.output().slice(before)).toContain('/v1/cover_upload/'), TIMEOUT)
  // Once the log contains the next request, it also contains all entries of the aborted one.
  await must(client.get('/v1/collection/{collection_id}', { params }))
  await vi.waitFor(() => expect(stack.output().slice(before)).toMatch(/cover_upload[^]*GET \/v1\/collection/), TIMEOUT)
  expect(stack.output().slice(before)).not.toContain('"event":"fault"')
})

test('npm start reports a port in use, with instructions', async () => {
  const { PORT, TRANSCODER_PORT } = stack.ports
  const second = run({ EMPTY: '1', PORT, TRANSCODER_PORT, STATE_DIR: `${stack.state_dir}/second` })
  expect(await second.exited).toBe(1)
  expect(second.output()).toContain(`Port ${PORT} is in use`)
  expect(second.output()).toMatch(
    new RegExp(`EMPTY=1 TRANSCODER_PORT=${TRANSCODER_PORT} STATE_DIR=\\S+/second PORT=\\d+ npm start`),
  )
})

test('a start on the data of a running stack reports that stack instead of its ports', async () => {
  const { PORT, TRANSCODER_PORT } = stack.ports
  const second = run({ PORT, TRANSCODER_PORT, STATE_DIR: stack.state_dir })
  expect(await second.exited).toBe(1)
  expect(second.output()).toContain(`already runs on ${stack.state_dir}: ${stack.base_url}`)
})

test('a second source that arrives right after the first one replaces it', TIMEOUT, async () => {
  const track = await aTrack(client)
  await Promise.all([track.start(), track.replace()])
  expect(await track.expectSeparate()).toContainEqual(['b.wav', false])
})

test('a second source that arrives while the first one plays early is never mixed with it', TIMEOUT, async () => {
  const track = await aTrack(client)
  await track.start()
  await track.untilPreliminary()
  await track.replace()
  const views = await track.expectSeparate()
  expect(views[0]).toEqual(['a.wav', true])
  expect(views).toContainEqual(['b.wav', false])
})

test(
  'a second source that arrives when the transcoder is killed during early play is never mixed with the first',
  TIMEOUT,
  async () => {
    const track = await aTrack(client)
    await track.start()
    await track.untilPreliminary()
    const transcoder = stack.transcoder()
    process.kill(transcoder, 'SIGKILL')
    await track.replace()
    expect(await track.expectSeparate()).toContainEqual(['b.wav', false])
    expect(stack.transcoder()).not.toBe(transcoder)
  },
)

/** The two workerd processes of wrangler: the proxy, and the one that runs the Worker. */
async function workerdPids(): Promise<number[]> {
  const all = (await processesOf(stack.state_dir)).filter((line) => line.includes('workerd serve'))
  return all.map((line) => Number(line.split(' ')[0]))
}

test.runIf(process.platform === 'linux')(
  "the service restarts within seconds after wrangler's proxy and runtime died together",
  async () => {
    const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Heal' } }))
    const pids = await workerdPids()
    expect(pids).toHaveLength(2)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    const params = { collection_id }
    await vi.waitFor(
      async () =>
        expect(await client.get('/v1/collection/{collection_id}', { params })).toMatchObject({
          collection: { title: 'Heal' },
        }),
      TIMEOUT,
    )
    // After 30 s without an answer, the Worker would be restarted in any case.
    expect(stack.output()).toContain('The worker ended (no answer after a crash); it starts again')
  },
)

test('Ctrl-C mid-job ends every process with exit code 0', async () => {
  await uploadUntilEncoding('three.flac')
  expect((await processesOf(stack.state_dir)).length).toBeGreaterThan(2)
  expect(await stack.stop()).toBe(0)
  await vi.waitFor(async () => expect(await processesOf(stack.state_dir)).toEqual([]), TIMEOUT)
})

test('a start ends with instructions if ffmpeg does not run', async () => {
  const broken = run({ ...stack.ports, STATE_DIR: `${stack.state_dir}/broken`, FFMPEG_PATH: '/bin/false' })
  expect(await broken.exited).toBe(1)
  expect(broken.output()).toContain('The transcoder cannot run: /bin/false does not run: set FFMPEG_PATH to')
})

test('npm start reports a locked, damaged or replaced database, with instructions', async () => {
  const { state_dir } = stack
  const file = databaseFile(state_dir)!
  const other = new DatabaseSync(file)
  other.exec('begin exclusive')
  const locked = run({ ...stack.ports, STATE_DIR: state_dir })
  expect(await locked.exited).toBe(1)
  other.close()
  expect(locked.output()).toMatch(
    /The database of STATE_DIR is locked by another program: .*v3\/d1\.\nEnd what has it open/,
  )

  await writeFile(file, 'x'.repeat(100_000))
  const damaged = run({ ...stack.ports, STATE_DIR: state_dir })
  expect(await damaged.exited).toBe(1)
  expect(damaged.output()).toMatch(
    /The database of STATE_DIR is damaged: .*v3\/d1\.\nPut back a copy of the whole directory/,
  )

  await rm(dirname(file), { recursive: true })
  await mkdir(dirname(file))
  await copyFile(`${inject('stack').started}.sqlite`, file)
  stack = await startStack({ state_dir })
  expect(stack.output()).toContain('The database does not know the organization of earlier starts')
})
