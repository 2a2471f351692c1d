import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { databaseFile } from '../../scripts/start/service.ts'
import { createClient } from '../../src/client/index.ts'
import { freePorts, processesOf, run, startStack, type Stack } from '../support/stack.ts'
import { startOther } from './shared_stack.ts'
import { must, TIMEOUT } from './steps.ts'

/**
 * Tests that a local stack recovers from hangs and reports problems that it cannot fix. Each test continues in the
 * state that the previous one left.
 */

let stack: Stack
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tonearm-heal-'))
})
afterAll(async () => {
  await stack?.dispose()
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

/** The two workerd processes of wrangler: the proxy, and the one that runs the Worker. */
async function workerdPids(): Promise<number[]> {
  const all = (await processesOf(stack.state_dir)).filter((line) => line.includes('workerd serve'))
  return all.map((line) => Number(line.split(' ')[0]))
}

test.runIf(process.platform === 'linux')(
  "the service restarts within seconds after wrangler's proxy and runtime died together",
  async () => {
    stack = await startOther()
    const client = createClient({ base_url: stack.base_url, api_key: stack.api_key })
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
    expect(await stack.stop()).toBe(0)
  },
)

test('npm start reports a locked, damaged or missing database, with instructions', async () => {
  const { state_dir } = stack
  const file = databaseFile(state_dir)!
  const other = new DatabaseSync(file)
  other.exec('begin exclusive')
  const locked = await begin(state_dir)
  expect(await locked.exited).toBe(1)
  other.close()
  expect(locked.output()).toMatch(
    /The database of STATE_DIR is locked by another program: .*v3\/d1\.\nEnd what has it open/,
  )

  await writeFile(file, 'x'.repeat(100_000))
  const damaged = await begin(state_dir)
  expect(await damaged.exited).toBe(1)
  expect(damaged.output()).toMatch(
    /The database of STATE_DIR is damaged: .*v3\/d1\.\nPut back a copy of the whole directory/,
  )

  await rm(dirname(file), { recursive: true })
  stack = await startStack({ state_dir })
  expect(stack.output()).toContain('The database does not know the organization of earlier starts')
})
