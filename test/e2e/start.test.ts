import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { freePorts, run } from '../support/stack.ts'
import { TIMEOUT } from './steps.ts'

/** Starts of a local stack that are refused. */

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tonearm-start-'))
})
afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

async function begin(STATE_DIR: string) {
  const [PORT, TRANSCODER_PORT] = await freePorts()
  return run({ PORT, TRANSCODER_PORT, STATE_DIR })
}

test.each([
  [
    'where nothing can be written',
    () => '/sys/tonearm',
    /STATE_DIR cannot be used: \/sys\/tonearm \(.*\)\.\nMake it writable, or choose another/,
  ],
  [
    'where no directory can be made',
    () => '/proc/tonearm/state',
    /STATE_DIR cannot be used: \/proc\/tonearm\/state \(.*\)\.\nMake it writable, or choose another/,
  ],
  [
    'that is a file',
    () => join(directory, 'file'),
    /STATE_DIR cannot be used: .*\/file \(EEXIST.*\)\.\nMake it writable/,
  ],
])('npm start reports a STATE_DIR %s', async (_, place, says) => {
  await writeFile(join(directory, 'file'), '')
  const start = await begin(place())
  expect(await start.exited).toBe(1)
  expect(start.output()).toMatch(says)
})

test('npm start reports a short ROOT_KEY', async () => {
  const [PORT, TRANSCODER_PORT] = await freePorts()
  const start = run({ PORT, TRANSCODER_PORT, STATE_DIR: join(directory, 'short'), ROOT_KEY: 'admin' })
  expect(await start.exited).toBe(1)
  expect(start.output()).toContain('ROOT_KEY has fewer than 24 characters')
})

test('only one of three simultaneous starts on one STATE_DIR succeeds', async () => {
  const STATE_DIR = join(directory, 'race')
  const starts = await Promise.all([1, 2, 3].map(() => begin(STATE_DIR)))
  const refused = () => starts.filter(({ process }) => process.exitCode === 1)
  await vi.waitUntil(() => refused().length === 2, TIMEOUT)
  const [winner] = starts.filter(({ process }) => process.exitCode === null)
  for (const loser of starts.filter((start) => start !== winner))
    expect(loser.output()).toContain(`already runs on ${STATE_DIR}`)
  // Before the process prints this message, it does not handle SIGINT, so the signal may kill it.
  await vi.waitFor(() => expect(winner?.output()).toContain('Starting'), TIMEOUT)
  winner?.process.kill('SIGINT')
  expect(await winner?.exited).toBe(0)
})
