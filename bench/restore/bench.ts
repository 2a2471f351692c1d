import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { databaseFile } from '../../scripts/start/service.ts'
import { type Client, createClient } from '../../src/client/index.ts'
import { differences, readEverything, receiveWebhooks, runCommand, wrongCounts } from '../../test/support/drill.ts'
import { type Stack, startStack } from '../../test/support/stack.ts'
import { noiseWav } from '../../test/support/wav.ts'

const HELP = `npm run bench -- restore [options]      Linux only

Backs up a stack while uploads run, restores it into an empty one, kills both commands at several points, and compares the two.

  --tracks 1000   number of tracks that exist before the backup
  --kills 10      number of kills of each command
  --every 3       seconds after which a command is killed, on average
  --keep          keeps the directories`

/** Number of tracks that are uploaded at the same time. */
const AT_ONCE = 4

type Result = { ok: boolean; status?: number; message?: string }

/** Repeats a call while the key is above its rate limit, or the busy service does not respond. */
async function must<T extends Result>(call: () => Promise<T>): Promise<Extract<T, { ok: true }>> {
  for (;;) {
    const result = await call()
    if (result.ok) return result as Extract<T, { ok: true }>
    if (![0, 429, 503].includes(result.status ?? 0)) throw new Error(result.message)
    await sleep(1000)
  }
}

async function upload(client: Client, collection_id: string, file_name: string): Promise<string> {
  const { track_id, track_upload } = await must(() => client.post('/v1/track', { body: { collection_id, file_name } }))
  const body = new Uint8Array(noiseWav(44_100, 0.3))
  const response = await fetch(track_upload.upload_url, { method: track_upload.method, body })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  await must(() => client.post('/v1/track/{track_id}/upload_complete', { params: { track_id } }))
  return track_id
}

/** Returns the number of tracks of a collection with each status. */
async function statuses(client: Client, collection_id: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const status of ['initializing', 'processing', 'ready', 'failed', 'incomplete'] as const) {
    const params = { collection_id }
    const { count } = await must(() =>
      client.get('/v1/collection/{collection_id}/track', { params, query: { status: [status], limit: 1 } }),
    )
    if (count > 0) counts[status] = count
  }
  return counts
}

async function untilProcessed(client: Client, collection_id: string): Promise<void> {
  for (;;) {
    const { initializing = 0, processing = 0, ...ended } = await statuses(client, collection_id)
    if (initializing + processing === 0) return console.log(`ended: ${JSON.stringify(ended)}`)
    await sleep(2000)
  }
}

/** Runs a command, kills it a number of times, and lets it finish. Returns the number of kills and the seconds of all runs. */
async function runWithKills(
  command: 'backup' | 'restore',
  stack: Stack,
  args: string[],
  kills: number,
  every: number,
): Promise<string> {
  const startedAt = Date.now()
  for (let kill = 0; ; kill++) {
    // The runs differ in length, so that the kills meet different steps.
    const killAfter = kill < kills ? { killAfter: every * (400 + ((kill * 7919) % 1200)) } : {}
    const { code, output } = await runCommand(command, stack, args, killAfter)
    const last = output.trim().split('\n').at(-1)
    if (code === null) {
      console.log(`${command} killed: ${last}`)
      continue
    }
    if (code !== 0) throw new Error(`${command} failed:\n${output}`)
    console.log(output.trim())
    return `${command}: ${Math.round((Date.now() - startedAt) / 1000)} s, killed ${kill} times`
  }
}

export const restore = {
  about: 'a backup while uploads run, and its restore, both killed at several points',
  async run(args: string[]): Promise<void> {
    const { values } = parseArgs({
      args,
      options: {
        tracks: { type: 'string', default: '1000' },
        kills: { type: 'string', default: '10' },
        every: { type: 'string', default: '3' },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) return console.log(HELP)
    const directory = mkdtempSync(join(tmpdir(), 'tonearm-drill-'))
    const place = join(directory, 'backup')
    const source = await startStack({ state_dir: join(directory, 'source') })
    const receiver = await receiveWebhooks()
    const stacks = [source]
    try {
      const client = createClient({ base_url: source.base_url, api_key: source.api_key })
      await must(() => client.post('/v1/webhook_endpoint', { body: { url: receiver.url } }))
      const { collection_id } = await must(() => client.post('/v1/collection', { body: { title: 'Before' } }))
      const ids: string[] = []
      const pending = Array.from({ length: Number(values.tracks) }, (_, at) => `${at}.wav`).values()
      const fill = async () => {
        for (const name of pending) {
          ids.push(await upload(client, collection_id, name))
          if (ids.length % 100 === 0) console.log(`${ids.length} uploaded`)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, fill))
      await untilProcessed(client, collection_id)
      const sessions = []
      for (const track_id of ids) {
        const body = { track_id }
        const params = { scope: 'track' as const }
        const { play_session_id } = await must(() => client.post('/v1/play_session/{scope}', { params, body }))
        sessions.push({ play_session_id, track_id })
      }

      const later = await must(() => client.post('/v1/collection', { body: { title: 'During' } }))
      const ending = new AbortController()
      let uploaded = 0
      const uploads = (async () => {
        for (; !ending.signal.aborted; uploaded++) await upload(client, later.collection_id, `later ${uploaded}.wav`)
      })()
      const [kills, every] = [Number(values.kills), Number(values.every)]
      const backup = await runWithKills('backup', source, ['--to', place], kills, every)
      ending.abort()
      await uploads
      await untilProcessed(client, later.collection_id)
      const isBefore = new Set(ids)
      const before = await readEverything(source.base_url, source.api_key, sessions, (id) => isBefore.has(id))
      await source.stop()

      const sent = receiver.bodies.length
      const target = await startStack({ state_dir: join(directory, 'target'), isEmpty: true })
      stacks.push(target)
      const restored = await runWithKills('restore', target, ['--from', place], kills, every)
      const after = createClient({ base_url: target.base_url, api_key: source.api_key })
      await untilProcessed(after, later.collection_id)
      const found = await readEverything(target.base_url, source.api_key, sessions, (id) => isBefore.has(id))
      const different = differences(before, found)
      const wrong = wrongCounts(databaseFile(target.state_dir)!)
      console.log(`
${backup}, while ${uploaded} tracks were uploaded
${restored}
${Object.keys(before.answers).length} responses and ${Object.keys(before.files).length} files compared: ${different.length} differ
usage and counts: ${wrong.length} differ from a recount
webhooks sent by the restored service: ${receiver.bodies.length - sent}`)
      for (const line of [...different, ...wrong].slice(0, 20)) console.log(line)
      if (different.length + wrong.length + receiver.bodies.length - sent > 0) process.exitCode = 1
    } finally {
      receiver.close()
      for (const stack of stacks) await stack.stop()
      if (!values.keep) rmSync(directory, { recursive: true, force: true })
    }
  },
}
