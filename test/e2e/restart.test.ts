import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { type Client, createClient } from '../../src/client/index.ts'
import { makeAudio } from '../support/audio.ts'
import { processesOf, run, startStack, type Stack } from '../support/stack.ts'
import { must, play, settle, untilTranscoding, upload } from './steps.ts'

/** Whatever dies, the work is done in the end, and nothing stays behind. The tests build on each other. */

let stack: Stack
let client: Client
let audio: Buffer
let collection_id: string
const done: string[] = []

const connect = () => createClient({ base_url: stack.base_url, api_key: stack.api_key })

beforeAll(async () => {
  stack = await startStack()
  client = connect()
  collection_id = (await must(client.post('/v1/collection', { body: { title: 'Restart' } }))).collection_id
  // Long enough to be in the middle of it.
  audio = await makeAudio('flac', { seconds: 20 })
})
afterAll(() => stack?.dispose())

test('a transcoder that is killed in the middle of a job is started again and does it', async () => {
  const { track_id } = await upload(client, collection_id, 'one.flac', audio)
  await untilTranscoding(client, track_id)
  const before = stack.transcoder()
  process.kill(before, 'SIGKILL')
  expect(await settle(client, track_id)).toMatchObject({ status: 'ready' })
  expect(stack.transcoder()).not.toBe(before)
  done.push(track_id)
})

test('after everything was killed in the middle of a job, the next start does it and has kept the rest', async () => {
  const { track_id } = await upload(client, collection_id, 'two.flac', audio)
  await untilTranscoding(client, track_id)
  await stack.killAll()
  await vi.waitFor(async () => expect(await processesOf(stack.state_dir)).toEqual([]), { timeout: 20_000 })

  const { api_key, organization_id } = stack
  stack = await startStack({ state_dir: stack.state_dir })
  expect(stack).toMatchObject({ api_key, organization_id })
  client = connect()
  expect(await settle(client, track_id)).toMatchObject({ status: 'ready' })
  done.push(track_id)

  const list = await must(client.get('/v1/collection/{collection_id}/track', { params: { collection_id } }))
  expect(list.tracks.map((track) => track.id).toSorted()).toEqual(done.toSorted())
  for (const id of done) {
    const { view } = await play(client, client, id)
    expect((await fetch(view.variants[0]?.url ?? '')).status).toBe(200)
  }
})

test('a port that is in use is named, with what to do', async () => {
  const { PORT, TRANSCODER_PORT } = stack.ports
  const second = run({ PORT, TRANSCODER_PORT, STATE_DIR: `${stack.state_dir}/second` })
  expect(await second.exited).toBe(1)
  expect(second.output()).toContain(`Port ${PORT} is in use`)
  expect(second.output()).toMatch(
    new RegExp(`TRANSCODER_PORT=${TRANSCODER_PORT} STATE_DIR=\\S+/second PORT=\\d+ npm start`),
  )
})

test('a start on the data of one that runs names that one, not its ports', async () => {
  const { PORT, TRANSCODER_PORT } = stack.ports
  const second = run({ PORT, TRANSCODER_PORT, STATE_DIR: stack.state_dir })
  expect(await second.exited).toBe(1)
  expect(second.output()).toContain(`already runs on ${stack.state_dir}: ${stack.base_url}`)
})

test('Ctrl-C in the middle of a job ends every process with exit code 0', async () => {
  const { track_id } = await upload(client, collection_id, 'three.flac', audio)
  await untilTranscoding(client, track_id)
  expect((await processesOf(stack.state_dir)).length).toBeGreaterThan(2)
  expect(await stack.stop()).toBe(0)
  await vi.waitFor(async () => expect(await processesOf(stack.state_dir)).toEqual([]), { timeout: 20_000 })
})

test('an ffmpeg that does not run ends the start, with what to do', async () => {
  const broken = run({ ...stack.ports, STATE_DIR: `${stack.state_dir}/broken`, FFMPEG_PATH: '/bin/false' })
  expect(await broken.exited).toBe(1)
  expect(broken.output()).toContain('The transcoder cannot run: /bin/false does not run: set FFMPEG_PATH to')
})
