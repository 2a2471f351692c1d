import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import type { Manifest } from '../../scripts/backup/manifest.ts'
import type { State } from '../../scripts/backup/state.ts'
import { readSettings } from '../../scripts/shared/settings.ts'
import { databaseFile } from '../../scripts/start/service.ts'
import { type Client, createClient, verifyWebhook } from '../../src/client/index.ts'
import { makeAudio, makeImage } from '../support/audio.ts'
import { differences, readEverything, receiveWebhooks, runCommand, type Seen, wrongCounts } from '../support/drill.ts'
import type { Stack } from '../support/stack.ts'
import { startOther } from './shared_stack.ts'
import { bytes, must, send, settle, TIMEOUT, upload } from './steps.ts'

/**
 * The restore drill (docs/backup.md). Each test continues in the state that the previous one left, because the two stacks and the backup take fifteen seconds of
 * CPU time.
 */

let [source, target]: [Stack | undefined, Stack | undefined] = [undefined, undefined]
let receiver: Awaited<ReturnType<typeof receiveWebhooks>>
let place: string
let client: Client
let webhook_secret: string
const sessions: { play_session_id: string; track_id: string }[] = []
/** The tracks that existed before the backup was started. */
const before = new Set<string>()
let seen: Seen
/** A track that moves to a new collection during the backup, and one whose collection is deleted. */
let [moved, deleted] = [
  { track_id: '', collection_id: '' },
  { track_id: '', collection_id: '' },
]

const manifest = async () => JSON.parse(await readFile(join(place, 'manifest.json'), 'utf8')) as Manifest

/** Runs a command and kills it when its output matches. */
async function runUntil(killAt: RegExp, command: 'backup' | 'restore', stack: Stack, option: string): Promise<void> {
  const { code, output } = await runCommand(command, stack, [option, place], { killAt })
  expect(code, output).toBe(null)
}

/**
 * Moves one track to a new collection and deletes the previous collections of both, as if a backup had been killed right after it had read the tracks.
 */
async function changeAfterTracks(): Promise<void> {
  const path = join(place, '.work/state.json')
  const state = JSON.parse(await readFile(path, 'utf8')) as State
  const walks = Object.keys(state.walks)
  for (const walk of walks.slice(walks.indexOf('tracks') + 1)) {
    delete state.walks[walk]
    state.sizes[walk] = 0
  }
  await writeFile(path, JSON.stringify(state))
  const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Moved to' } }))
  const changes = [{ action: 'move' as const, track_id: moved.track_id, collection_id }]
  await must(client.post('/v1/track/batch', { body: { changes } }))
  for (const gone of [moved, deleted]) {
    const params = { collection_id: gone.collection_id }
    await must(client.delete('/v1/collection/{collection_id}', { params }))
  }
}

beforeAll(async () => {
  ;[source, target, receiver, place] = await Promise.all([
    startOther(),
    startOther({ isEmpty: true }),
    receiveWebhooks(),
    mkdtemp(join(tmpdir(), 'tonearm-backup-')),
  ])
  client = createClient({ base_url: source.base_url, api_key: source.api_key })
  const audio = await makeAudio('mp3', { seconds: 1 })
  const collection = await must(client.post('/v1/collection', { body: { title: 'It’s; \n kept' } }))
  const { collection_id } = collection
  const cover = { body: bytes(await makeImage('png')), headers: { 'content-type': 'image/png' } }
  await fetch(collection.collection_cover_upload.upload_url, { method: 'POST', ...cover })
  const endpoint = await must(client.post('/v1/webhook_endpoint', { body: { url: receiver.url } }))
  webhook_secret = endpoint.secret
  const created = await Promise.all(
    ['one.mp3', 'two.mp3', 'three.mp3', 'trashed.mp3'].map((name) => upload(client, collection_id, name, audio)),
  )
  for (const { track_id } of created) {
    expect(await settle(client, track_id)).toMatchObject({ status: 'ready' })
    const body = { track_id }
    const session = await must(client.post('/v1/play_session/track', { body }))
    sessions.push({ play_session_id: session.play_session_id, track_id })
    const listens = [{ track: track_id, ranges: [[0, 0.9]] }]
    const report = { visit: track_id.replaceAll('-', '').slice(16), sequence: 1, age: 1, first: 0, listens }
    await must(client.post('/v1/heard/{token}', { params: { token: session.heard_token }, body: report }))
    before.add(track_id)
  }
  const inOther = async (title: string) => {
    const other = await must(client.post('/v1/collection', { body: { title } }))
    const { track_id } = await upload(client, other.collection_id, `${title}.mp3`, audio)
    expect(await settle(client, track_id)).toMatchObject({ status: 'ready' })
    return { track_id, collection_id: other.collection_id }
  }
  ;[moved, deleted] = await Promise.all([inOther('moved'), inOther('deleted')])
  before.add(moved.track_id)
  const ids = created.map(({ track_id }) => track_id)
  const { playlist_id } = await must(client.post('/v1/playlist', { body: { title: 'Both' } }))
  await must(client.put('/v1/playlist/{playlist_id}/track', { params: { playlist_id }, body: { track_ids: ids } }))
  await must(client.post('/v1/share', { body: { scope: 'playlist', id: playlist_id, password: 'open sesame' } }))
  const params = { track_id: ids[3]! }
  await must(client.delete('/v1/track/{track_id}', { params, query: { trash: 'true' } }))
}, 300_000)

afterAll(async () => {
  receiver?.close()
  await Promise.all([source?.dispose(), target?.dispose()])
  await rm(place, { recursive: true, force: true })
})

test(
  'a backup that is killed and started again while uploads run has every earlier track',
  { timeout: 300_000 },
  async () => {
    const audio = await makeAudio('wav', { seconds: 1 })
    const { collection_id } = await must(client.post('/v1/collection', { body: { title: 'Later' } }))
    const uploadTwo = async () => {
      for (const name of ['a.wav', 'b.wav']) {
        const { track_id } = await upload(client, collection_id, name, audio)
        await settle(client, track_id)
      }
    }
    for (const killAt of [/^objects/m, /^rows {6}tracks/m]) {
      await Promise.all([runUntil(killAt, 'backup', source!, '--to'), uploadTwo()])
      expect(existsSync(join(place, 'manifest.json'))).toBe(false)
    }
    await changeAfterTracks()
    const [{ code, output }] = await Promise.all([runCommand('backup', source!, ['--to', place]), uploadTwo()])
    expect(output).toContain('continues the backup')
    expect(output).toContain('tracks changed meanwhile; they are read again')
    expect(code, output).toBe(0)
    expect((await manifest()).sources.map(({ name }) => name)).toEqual(['MEDIA', 'DB'])
    expect(await readFile(join(place, 'manifest.json'), 'utf8')).not.toContain(source!.root_key)
    const { backup_id } = await manifest()
    const rows = await readFile(join(place, `backups/${backup_id}/tracks.ndjson`), 'utf8')
    expect([rows.includes(moved.track_id), rows.includes(deleted.track_id)]).toEqual([true, false])

    const ended = async () => {
      const { webhook_deliveries } = await must(client.get('/v1/webhook_delivery', { query: { state: 'pending' } }))
      const { tracks } = await must(client.get('/v1/collection/{collection_id}/track', { params: { collection_id } }))
      expect([webhook_deliveries.length, tracks.filter(({ status }) => status !== 'ready').length]).toEqual([0, 0])
    }
    await vi.waitFor(ended, { ...TIMEOUT, interval: 300 })
    seen = await readEverything(source!.base_url, source!.api_key, sessions, (id) => before.has(id))
    expect(Object.keys(seen.files).length).toBeGreaterThan(8)
  },
)

test('a backup in a bucket is complete, and the next one copies only new files', TIMEOUT, async () => {
  const { R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY } = readSettings().secrets
  const env = {
    BACKUP_S3_ENDPOINT: `${source!.base_url}/cdn-cgi/local/r2/s3`,
    BACKUP_ACCESS_KEY_ID: R2_ACCESS_KEY_ID,
    BACKUP_SECRET_ACCESS_KEY: R2_SECRET_ACCESS_KEY,
  }
  const bucket = 's3://tonearm-media/copies/one'
  const first = await runCommand('backup', source!, ['--to', bucket], { env })
  expect(first.code, first.output).toBe(0)
  const second = await runCommand('backup', source!, ['--to', bucket], { env })
  expect(second.code, second.output).toBe(0)
  expect(second.output).toContain(', 0 copied')
  // All rows are read and their checksums compared before the service is asked.
  const restored = await runCommand('restore', source!, ['--from', bucket], { env })
  expect(restored.output).toContain('restore_refused This service is not empty: ')
  const without = await runCommand('backup', source!, ['--to', bucket], { env: { BACKUP_S3_ENDPOINT: '' } })
  expect(without).toMatchObject({ code: 1 })
  expect(without.output).toContain('BACKUP_S3_ENDPOINT')
})

test('a restore refuses a service that is not empty, and a backup with a damaged file', TIMEOUT, async () => {
  const occupied = await runCommand('restore', source!, ['--from', place])
  expect(occupied).toMatchObject({ code: 1 })
  expect(occupied.output).toContain('restore_refused This service is not empty: ')
  const { sources } = await manifest()
  const [{ index }] = sources as [Extract<(typeof sources)[0], { kind: 'bucket' }>]
  const file = join(place, index.path)
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('"size":', '"size": '))
  const damaged = await runCommand('restore', target!, ['--from', place])
  await writeFile(file, text)
  expect(damaged).toMatchObject({ code: 1 })
  expect(damaged.output).toContain('the backup is damaged')
})

test(
  'a restore that is killed and started again has every file, row and count, and sends no webhook',
  { timeout: 300_000 },
  async () => {
    const sent = receiver.bodies.length
    for (const killAt of [/^objects/m, /^rows {6}tracks/m]) await runUntil(killAt, 'restore', target!, '--from')
    const { code, output } = await runCommand('restore', target!, ['--from', place])
    expect(output).toContain('continues the restore')
    expect(code, output).toBe(0)
    const again = await runCommand('restore', target!, ['--from', place])
    expect(again.output).toContain('restore_refused')

    const { base_url } = target!
    const restored = createClient({ base_url, api_key: source!.api_key })
    const ended = async () => {
      const { collections } = await must(restored.get('/v1/collection'))
      const lists = collections.map(({ id }) =>
        must(restored.get('/v1/collection/{collection_id}/track', { params: { collection_id: id } })),
      )
      const tracks = (await Promise.all(lists)).flatMap((list) => list.tracks)
      expect(tracks.filter(({ status }) => status === 'processing')).toEqual([])
    }
    await vi.waitFor(ended, { ...TIMEOUT, interval: 300 })
    const found = await readEverything(base_url, source!.api_key, sessions, (id) => before.has(id))
    expect(differences(seen, found)).toEqual([])
    const listened = await must(
      restored.get('/v1/stats/{scope}/{resource_id}', {
        params: { scope: 'track', resource_id: sessions[0]!.track_id },
      }),
    )
    expect(listened.totals).toMatchObject({ visits: 1, plays: 1, seconds: 0.9 })
    expect(wrongCounts(databaseFile(target!.state_dir)!)).toEqual([])
    expect(receiver.bodies.length).toBe(sent)

    const { webhook_endpoints } = await must(restored.get('/v1/webhook_endpoint'))
    expect(webhook_endpoints).toMatchObject([{ state: 'paused', reason: 'restored' }])
    expect(await runCommand('restore', target!, ['--resume-webhooks'])).toMatchObject({ code: 0 })
    const { collection_id } = await must(restored.post('/v1/collection', { body: { title: 'After' } }))
    const arrived = () => {
      const event = receiver.bodies.slice(sent).find(({ body }) => body.includes(collection_id))
      expect(event).toBeDefined()
      return event!
    }
    const event = await vi.waitFor(arrived, { ...TIMEOUT, interval: 100 })
    expect(await verifyWebhook({ ...event, secret: webhook_secret })).toMatchObject({
      event: { type: 'collection.created' },
    })
    const created = await must(restored.post('/v1/track', { body: { collection_id, file_name: 'new.mp3' } }))
    await send(created.track_upload, bytes(await makeAudio('mp3', { seconds: 1 })))
    expect(await settle(restored, created.track_id)).toMatchObject({ status: 'ready' })
  },
)
